// Stored calls of the audit in the console, what needs attention on the overview, and the command palette.
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ServeChild } from "../support/serve-child.ts";
import { adminApi } from "./admin-api.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium, type OpenPage } from "./browser.ts";

const TOOLS = fileURLToPath(new URL("task-tools.mjs", import.meta.url));
const CONFIG = `
[server.tokens.ops]
token = "t-ops"
[server.tokens.one]
token = "t-one"
allow = ["release"]
[audit]
file = "audit.jsonl"
arguments = true
[modules]
paths = [${JSON.stringify(TOOLS)}]
[schedules.bad]
cron = "0 3 1 1 *"
tool = "broken"
`;

let hub: ServeChild;
beforeAll(async () => {
  hub = await ServeChild.start({ config: CONFIG, args: ["-y"] });
  await ask("tools/release", { body: { name: "first\u202e<b>" } });
  await ask("tools/release", { body: { name: "own" }, token: "t-one" });
  await ask("tools/broken", { body: {} });
  await vi.waitFor(async () => expect(await stored("event=call")).toHaveLength(3), 20_000);
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const rootOf = (): string => hub.url.replace(/\/mcp$/, "");
const ask = adminApi(rootOf);
async function stored(search: string, token = "t-ops"): Promise<JsonObject[]> {
  const { entries, hasAudit } = await ask(`calls/stored?${search}`, { token });
  expect(hasAudit).toBe(true);
  return entries as JsonObject[];
}
async function attention(): Promise<JsonObject[]> {
  return (await ask("overview"))["attention"] as JsonObject[];
}

describe("the API", () => {
  test.each([
    ["tool=release", ["release", "release"]],
    ["tool=rel*&principal=one", ["release"]],
    ["outcome=failed", ["broken"]],
    ["event=call&since=1h", ["broken", "release", "release"]],
    ["event=call&until=1h", []],
    ["event=call&limit=1", ["broken"]],
    ["tool=none", []],
  ])("with the filter %j, finds the calls %j, newest first", async (search, targets) => {
    expect((await stored(search)).map(({ target }) => target)).toEqual(targets);
  });

  test("returns arguments, because the audit of this hub records them", async () => {
    expect((await stored("tool=release&principal=one"))[0]).toMatchObject({ arguments: { name: "own" } });
  });

  test("shows a caller with narrowed rights its own calls only, with any filter", async () => {
    for (const search of ["", "principal=ops", "principal=*", "tool=*", "event=configuration"]) {
      const entries = await stored(search, "t-one");
      expect(entries.every(({ principal, event }) => principal === "one" && event === "call")).toBe(true);
    }
    expect(await stored("", "t-one")).toHaveLength(1);
  });

  test.each(["since=soon", "until=2026-99-99", "limit=-1", "limit=1001"])("refuses %j with 400", async (search) => {
    expect(await ask(`calls/stored?${search}`)).toMatchObject({ http: 400 });
  });

  test("reports that a hub without an audit file stores nothing", async () => {
    await using other = await ServeChild.start({ config: "", args: ["-y"] });
    const answer = await fetch(other.url.replace(/\/mcp$/, "/api/admin/calls/stored"));
    expect(await answer.json()).toEqual({ hasAudit: false, entries: [], isPart: false });
  });

  test("the overview names failed schedules and tasks, and tasks that wait for an answer", async () => {
    expect(await attention()).toEqual([]);
    await ask("schedules/bad", { method: "POST" });
    const { id: failed } = await ask("tasks", { body: { tool: "broken" } });
    const { id: waiting } = await ask("tasks", { body: { tool: "order" } });
    await expect.poll(attention).toEqual(
      expect.arrayContaining([
        { kind: "failed_schedule", source: "bad", text: expect.stringContaining("no oven") },
        { kind: "failed_task", source: "broken", task: failed, text: expect.stringContaining("no oven") },
        { kind: "waiting_task", source: "order", task: waiting, text: expect.any(String) },
      ]),
    );
    expect(await attention()).toHaveLength(3);
  });
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the views in Chromium", () => {
  let browser: Browser;
  let opened: OpenPage;
  beforeAll(async () => {
    browser = await startChromium();
    opened = await openPage(browser, `${rootOf()}/console/`, { extraHTTPHeaders: { authorization: "Bearer t-ops" } });
    await opened.page.locator(".live.on").waitFor();
  }, 60_000);
  afterAll(() => browser.close());

  test("the overview leads to the failed schedule and to the question of a task", async () => {
    const { page } = opened;
    await page.getByRole("link", { name: "bad: the last run failed" }).click();
    await page.getByRole("region", { name: "bad" }).getByText("<i>no oven</i>").first().waitFor();
    await page.goto(`${rootOf()}/console/#/overview`);
    await page.getByRole("link", { name: "order: a task waits for your answer" }).click();
    await page.getByRole("button", { name: "Decline" }).click();
    await page.locator(".detail .result", { hasText: "decline" }).waitFor();
    await expect.poll(async () => (await attention()).map(({ kind }) => kind)).not.toContain("waiting_task");
  });

  test("a stored call is searched, opened, and its tool is called again with its arguments", async () => {
    const { page } = opened;
    await page.goto(`${rootOf()}/console/#/calls`);
    await page.getByRole("link", { name: "Stored" }).click();
    await page.getByRole("searchbox", { name: "Tool" }).fill("release");
    await expect.poll(() => page.locator(".stored").count()).toBe(2);
    await page.getByRole("searchbox", { name: "Caller" }).fill("one");
    await expect.poll(() => page.locator(".stored").count()).toBe(1);
    await page.locator(".stored summary").focus();
    await page.keyboard.press("Enter");
    await page.locator(".stored pre", { hasText: '"own"' }).waitFor();
    await page.getByRole("button", { name: "Open the tool" }).click();
    await expect.poll(() => page.getByLabel(/^name/).inputValue()).toBe("own");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".result").waitFor();
    await expect.poll(async () => (await stored("tool=release&principal=ops")).length).toBe(2);
    expect((await stored("tool=release&principal=ops"))[0]).toMatchObject({ arguments: { name: "own" } });
  });

  test.each([
    ["Appr", "Approvals"],
    ["Sign-i", "Sign-ins"],
    ["Prof", "Profiles"],
    ["Task", "Tasks"],
    ["Users", "Users"],
    ["Code", "Code"],
  ])("the palette goes to the view for %j", async (words, title) => {
    const { page } = opened;
    await page.keyboard.press("Control+k");
    await page.locator("dialog.palette input").fill(words);
    await page.locator("dialog.palette").getByRole("option", { name: title }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    expect(await page.locator("dialog.palette").count()).toBe(0);
  });

  test("axe-core finds no serious problem, also on a phone, and texts can be German or French", async () => {
    const { page } = opened;
    await page.goto(`${rootOf()}/console/#/calls/stored`);
    await page.locator(".stored").first().waitFor();
    expect(await auditPage(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    for (const [language, word] of [
      ["de", "Gespeichert"],
      ["fr", "Enregistrés"],
    ] as const) {
      await page.getByLabel(/Language|Sprache|Langue/).selectOption(language);
      await page.getByRole("link", { name: word }).waitFor();
    }
    expect(opened.faults).toEqual([]);
  });
});
