// Tasks and schedules in the console: start, progress, answers, results, cancellation, rights, hostile texts.
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
allow = ["hold", "order"]
[modules]
paths = [${JSON.stringify(TOOLS)}]
[schedules.night]
cron = "0 3 1 1 *"
tool = "hold"
arguments = { name = "night" }
[schedules.bad]
cron = "0 3 1 1 *"
tool = "broken"
`;

let hub: ServeChild;
beforeAll(async () => {
  hub = await ServeChild.start({ config: CONFIG, args: ["-y"] });
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

const rootOf = (): string => hub.url.replace(/\/mcp$/, "");
const ask = adminApi(rootOf);
const release = (name: string): Promise<JsonObject> => ask("tools/release", { body: { name } });
const stateOf = async (id: unknown): Promise<unknown> => (await ask(`tasks/${String(id)}`))["status"];

/** Starts `hold` and waits for its progress, so that it can be released. */
async function startHold(name: string, token = "t-ops"): Promise<string> {
  const { id } = await ask("tasks", { body: { tool: "hold", arguments: { name } }, token });
  await expect.poll(async () => (await ask(`tasks/${String(id)}`, { token }))["statusMessage"]).toBe(`holds ${name}`);
  return String(id);
}

describe("the API", () => {
  test("starts a task, shows its progress and result, and lists it without the result", async () => {
    const id = await startHold("api");
    await release("api");
    await expect.poll(async () => (await ask(`tasks/${id}`))["result"]).toMatchObject({ content: [{ type: "text" }] });
    const { tasks } = (await ask("tasks")) as { tasks: JsonObject[] };
    expect(tasks[0]).toMatchObject({ id, tool: "hold", endpoint: "console", isError: false });
    expect(tasks[0]).not.toHaveProperty("result");
  });

  test("returns the same list as REST for the same token", async () => {
    const answer = await fetch(`${rootOf()}/api/tasks`, { headers: { authorization: "Bearer t-ops" } });
    const { tasks } = (await answer.json()) as { tasks: JsonObject[] };
    const ids = (list: unknown): unknown[] => (list as JsonObject[]).map(({ id }) => id);
    expect(ids(tasks)).toEqual(ids((await ask("tasks"))["tasks"]));
  });

  test("hides tasks from other callers, and refuses to cancel and to answer them", async () => {
    const id = await startHold("own");
    expect((await ask("tasks", { token: "t-one" }))["tasks"]).toEqual([]);
    for (const question of [{}, { method: "DELETE" }])
      expect(await ask(`tasks/${id}`, { ...question, token: "t-one" })).toMatchObject({ http: 404 });
    expect(await ask(`tasks/${id}/input`, { body: {}, token: "t-one" })).toMatchObject({ http: 404 });
    expect(await ask(`tasks/${id}`, { method: "DELETE" })).toMatchObject({ http: 200 });
    await expect.poll(() => stateOf(id)).toBe("cancelled");
  });

  test.each([
    ["release", { name: "x" }, "denied"],
    ["nothing", {}, "denied"],
    ["", {}, "denied"],
    ["hold", {}, "invalid_params"],
    ["hold", { name: 1 }, "invalid_params"],
  ])("refuses to start %j with %j for a caller with narrowed rights as %s", async (tool, args, kind) => {
    const answer = await ask("tasks", { body: { tool, arguments: args }, token: "t-one" });
    expect(answer).toMatchObject({ error: { kind, message: expect.any(String) } });
  });

  test("refuses an answer that is not an object", async () => {
    const id = await startHold("answers");
    expect(await ask(`tasks/${id}/input`, { body: { one: 1 } })).toMatchObject({ http: 400 });
    await release("answers");
  });

  test("shows schedules to callers without narrowed rights only", async () => {
    expect(await ask("schedules", { token: "t-one" })).toMatchObject({ http: 403 });
    expect(await ask("schedules/night", { method: "POST", token: "t-one" })).toMatchObject({ http: 403 });
    const { schedules } = (await ask("schedules")) as { schedules: JsonObject[] };
    expect(schedules.map(({ name }) => name)).toEqual(["bad", "night"]);
    expect(schedules[1]).toMatchObject({ next: expect.stringMatching(/-01-01T/), runs: [] });
  });

  test.each(["none", "%00", "../x"])("answers 404 for the schedule %j", async (name) => {
    expect(await ask(`schedules/${encodeURIComponent(name)}`)).toMatchObject({ http: 404 });
    expect(await ask(`schedules/${encodeURIComponent(name)}`, { method: "DELETE" })).toMatchObject({ http: 404 });
  });

  test("starts a run of a schedule, refuses a second one, and cancels it", async () => {
    expect(await ask("schedules/night", { method: "POST" })).toMatchObject({ tool: "hold" });
    expect(await ask("schedules/night", { method: "POST" })).toMatchObject({ error: { kind: "limited" } });
    expect(await ask("schedules/night", { method: "DELETE" })).toMatchObject({ cancelled: 1 });
    expect(await ask("schedules/night")).toMatchObject({ runs: [{ status: "cancelled" }] });
  });
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the view in Chromium", () => {
  let browser: Browser;
  let opened: OpenPage;
  beforeAll(async () => {
    browser = await startChromium();
    opened = await openPage(browser, `${rootOf()}/console/`, { extraHTTPHeaders: { authorization: "Bearer t-ops" } });
    await opened.page.locator(".live.on").waitFor();
  }, 60_000);
  afterAll(() => browser.close());
  const show = async (view: string): Promise<OpenPage["page"]> => {
    await opened.page.goto(`${rootOf()}/console/#/${view}`);
    return opened.page;
  };
  const idOf = (url: string): string => decodeURIComponent(url.split("/").at(-1)!);

  test("a tool runs in the background, its progress and its result appear by themselves", async () => {
    const page = await show("tools/hold");
    await page.getByLabel(/^name/).fill("page");
    await page.getByRole("button", { name: "Run in the background" }).click();
    await page.locator(".detail").getByText("holds page").waitFor();
    expect(await stateOf(idOf(page.url()))).toBe("working");
    await release("page");
    await page.locator(".detail h2 .state.ready").waitFor();
    await page.locator(".detail .result", { hasText: "evil" }).waitFor();
    expect(await stateOf(idOf(page.url()))).toBe("completed");
    expect(await page.evaluate(() => "__attacked" in globalThis)).toBe(false);
  });

  test("a task is stopped by the keyboard", async () => {
    const id = await startHold("stopped");
    const page = await show(`tasks/${id}`);
    await page.locator(".detail").getByRole("button", { name: "Stop" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".detail h2 .state.disabled").waitFor();
    expect(await stateOf(id)).toBe("cancelled");
  });

  test.each([
    ["Send the answer", 'accept: {"dish":"soup","count":2}'],
    ["Decline", "decline: {}"],
  ])("a question of a tool is answered with %j", async (button, text) => {
    const { id } = await ask("tasks", { body: { tool: "order" } });
    const page = await show(`tasks/${String(id)}`);
    await page.getByText("What do you <b>eat</b>?").waitFor();
    await page.getByLabel(/^dish/).selectOption("soup");
    await page.getByLabel(/^count/).fill("2");
    await page.getByRole("button", { name: button }).click();
    await page.locator(".detail .result", { hasText: text }).waitFor();
    expect(await ask(`tasks/${String(id)}`)).toMatchObject({ result: { content: [{ text }] } });
  });

  test("a task is shown as failed with the text of the error if its tool failed", async () => {
    expect.assertions(1);
    const { id } = await ask("tasks", { body: { tool: "broken" } });
    const page = await show(`tasks/${String(id)}`);
    await page.locator(".detail").getByText("<i>no oven</i>").first().waitFor();
    await page.locator(".detail h2 .state.down").waitFor();
    expect(await stateOf(id)).toBe("completed");
  });

  test("a schedule is run and stopped, and shows its runs with their results", async () => {
    const page = await show("tasks/schedule/night");
    await page.getByRole("button", { name: "Run now" }).click();
    await page.locator(".detail details").first().getByText("holds night").waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("alert").getByText("A run of this schedule is unfinished").waitFor();
    await page.locator(".detail").getByRole("button", { name: "Stop" }).click();
    await page.locator(".detail details").first().getByText("cancelled").waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.locator(".detail details").first().getByText("running").waitFor();
    await release("night");
    await page.locator(".detail .result", { hasText: "night" }).waitFor();
    const { runs } = (await ask("schedules/night")) as { runs: JsonObject[] };
    expect(runs[0]).toMatchObject({ status: "completed" });
  });

  test("a caller with narrowed rights sees its own tasks and no schedules", async () => {
    const id = await startHold("narrow", "t-one");
    const narrow = await openPage(browser, `${rootOf()}/console/#/tasks`, {
      extraHTTPHeaders: { authorization: "Bearer t-one" },
    });
    await narrow.page.getByRole("link", { name: "hold" }).click();
    await narrow.page.locator(".detail").getByText("holds narrow").waitFor();
    expect(await narrow.page.getByRole("heading", { name: "Schedules" }).count()).toBe(0);
    expect(await narrow.page.locator("tbody tr").count()).toBe(1);
    await ask(`tasks/${id}`, { method: "DELETE", token: "t-one" });
    await narrow.page.locator(".detail h2 .state.disabled").waitFor();
    expect(narrow.faults).toEqual([]);
    await narrow.page.context().close();
  });

  test("axe-core finds no serious problem, also on a phone, and texts can be German or French", async () => {
    for (const view of ["tasks", "tasks/schedule/night"]) {
      const page = await show(view);
      await page.getByRole("heading", { name: "Schedules" }).waitFor();
      expect(await auditPage(page)).toEqual([]);
    }
    const { page } = opened;
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    for (const [language, word] of [
      ["de", "Zeitpläne"],
      ["fr", "Planifications"],
    ] as const) {
      await page.getByLabel(/Language|Sprache|Langue/).selectOption(language);
      await page.getByRole("heading", { name: word }).waitFor();
    }
    expect(opened.faults).toEqual([]);
  });
});
