// The page of the console in Debian's Chromium: each view as a user uses it, compared with the hub's own API; keyboard,
// accessibility, hostile texts, and narrow rights.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ServeChild } from "../support/serve-child.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium } from "./browser.ts";

const require = createRequire(import.meta.url);
const EVERYTHING = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
const HOSTILE = fileURLToPath(new URL("hostile-server.mjs", import.meta.url));
const MANY_TOOLS = 10_000;
const CONFIG = `
# Comment that stays.
[server]
token = "t-hub"

[mcp.stdio_servers.everything]
command = ${JSON.stringify(["node", EVERYTHING, "stdio"])}

[mcp.stdio_servers.broken]
command = ["node", "-e", "console.error('no such thing'); process.exit(3)"]
`;
const HUB_HEADERS = { authorization: "Bearer t-hub" };
const ATTACK = `
[server.tokens.ops]
token = "t-ops"
[server.tokens.one]
token = "t-one"
allow = ["everything__get-sum"]
[mcp.stdio_servers.everything]
command = ${JSON.stringify(["node", EVERYTHING, "stdio"])}
[mcp.stdio_servers.hostile]
command = ${JSON.stringify(["node", HOSTILE, String(MANY_TOOLS)])}
`;

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the console in Chromium", () => {
  let browser: Browser;
  let hub: ServeChild;
  let hostile: ServeChild;
  beforeAll(async () => {
    [browser, hub, hostile] = await Promise.all([
      startChromium(),
      ServeChild.start({ config: CONFIG, args: ["-y"] }),
      ServeChild.start({ config: ATTACK, args: ["-y"] }),
    ]);
    await vi.waitFor(async () => expect((await ask(hub, "overview"))["tools"]).toBeGreaterThan(10), 60_000);
  }, 90_000);
  afterAll(async () => {
    await browser.close();
    await hub[Symbol.asyncDispose]();
    await hostile[Symbol.asyncDispose]();
  });

  const rootOf = ({ url }: ServeChild): string => url.replace(/\/mcp$/, "");
  const openHubPage = (path: string, options: BrowserContextOptions = {}): ReturnType<typeof openPage> =>
    openPage(browser, `${rootOf(hub)}${path}`, { extraHTTPHeaders: HUB_HEADERS, ...options });
  async function ask(of: ServeChild, path: string, token = "t-hub"): Promise<JsonObject> {
    const headers = { authorization: `Bearer ${token}` };
    return (await (await fetch(`${rootOf(of)}/api/admin/${path}`, { headers })).json()) as JsonObject;
  }

  test.each(["light", "dark"] as const)(
    "axe-core reports no serious problem in any view in %s",
    async (colorScheme) => {
      const { page, faults } = await openHubPage("/", { colorScheme });
      await page.locator(".live.on").waitFor();
      const views = await page.locator("nav a").evaluateAll((links) => links.map((link) => link.getAttribute("href")!));
      expect(views.length).toBeGreaterThanOrEqual(7);
      for (const view of [...views, "#/tools/everything__get-sum", "#/sources/broken"]) {
        await page.goto(`${rootOf(hub)}/console/${view}`);
        await page.locator("main h1").waitFor();
        await expect.poll(() => page.locator("main").textContent()).not.toContain("Loading …");
        expect(await auditPage(page), view).toEqual([]);
      }
      expect(faults).toEqual([]);
      await page.context().close();
    },
  );

  test("the overview shows the numbers of the hub and what needs attention", async () => {
    const { page, faults } = await openHubPage("/");
    await page.getByText("broken fails").waitFor();
    const { tools } = await ask(hub, "overview");
    expect(
      await page
        .locator(".card", { hasText: /^Tools/ })
        .locator(".figure")
        .textContent(),
    ).toBe(String(tools));
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("disabling and enabling a source edits the configuration file, and the page shows its new state", async () => {
    const { page } = await openHubPage("/console/#/sources/everything");
    const stateIn = async (): Promise<unknown> => (await ask(hub, "sources/everything"))["state"];
    await page.getByRole("button", { name: "Disable" }).click();
    await page.locator(".detail h2 .state.disabled").waitFor();
    expect(await stateIn()).toBe("disabled");
    expect(await readFile(hub.configFile, "utf8")).toContain("enabled = false");
    await page.getByRole("button", { name: "Enable" }).click();
    await page.locator(".detail h2 .state.ready").waitFor();
    expect(await stateIn()).toBe("ready");
    expect(await readFile(hub.configFile, "utf8")).toBe(CONFIG);
    await page.context().close();
  });

  test("a source restarts with a new process", async () => {
    const { page } = await openHubPage("/console/#/sources/everything");
    const before = (await ask(hub, "sources/everything"))["pid"];
    await page.getByRole("button", { name: "Restart" }).click();
    await page.getByText("everything was restarted.").waitFor();
    await expect.poll(async () => (await ask(hub, "sources/everything"))["pid"]).not.toBe(before);
    await page.context().close();
  });

  test("a server is added by the form, and removed", async () => {
    const { page } = await openHubPage("/console/#/sources");
    await page.getByRole("button", { name: "Add a server" }).click();
    await page.getByLabel("Name", { exact: true }).fill("second");
    await page.getByLabel("Command").fill(`node ${EVERYTHING} stdio`);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.locator(".detail h2", { hasText: "second" }).waitFor();
    expect(await ask(hub, "sources/second")).toMatchObject({ id: "second", isEditable: true });
    await page.getByRole("button", { name: "Remove" }).click();
    await expect.poll(() => ask(hub, "sources/second")).toMatchObject({ error: {} });
    await expect.poll(() => readFile(hub.configFile, "utf8")).not.toContain("second");
    expect(await readFile(hub.configFile, "utf8")).toContain("# Comment that stays.");
    await page.context().close();
  });

  test("a tool is found by a search in the order of the hub, run by its form, and its call is shown", async () => {
    const { page, faults } = await openHubPage("/console/#/tools");
    await page.getByRole("searchbox").fill("add two numbers");
    await page.getByText(/hits/).waitFor();
    const { tools } = (await ask(hub, "tools?query=add%20two%20numbers")) as { tools: readonly JsonObject[] };
    // The page shows only as many rows as fit.
    await expect
      .poll(() => page.locator(".tool-name").allTextContents())
      .toSatisfy((shown: string[]) => shown.length > 0 && shown.every((name, at) => name === tools[at]!["name"]));
    await page.getByRole("link", { name: /everything__get-sum/ }).click();
    await page.getByLabel(/^a /).fill("2");
    await page.getByLabel(/^b /).fill("3");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("The sum of 2 and 3 is 5.").waitFor();
    await page.getByRole("link", { name: "Calls" }).click();
    await page.locator("tbody tr").first().getByText("everything__get-sum").waitFor();
    const { calls } = (await ask(hub, "calls?limit=1")) as { calls: readonly JsonObject[] };
    expect(calls[0]).toMatchObject({ target: "everything__get-sum", outcome: "ok", endpoint: "console" });
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("a running call shows its progress and is cancelled", async () => {
    const { page } = await openHubPage("/console/#/tools/everything__trigger-long-running-operation");
    await page.getByLabel(/^duration/).fill("60");
    await page.getByLabel(/^steps/).fill("600");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator("progress").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Run", exact: true }).waitFor();
    const cancelled = async (): Promise<unknown> =>
      ((await ask(hub, "calls?tool=long-running&limit=1"))["calls"] as readonly JsonObject[])[0]?.["outcome"];
    await expect.poll(cancelled).toBe("cancelled");
    await page.context().close();
  });

  test("a mistake of the caller is shown with its code", async () => {
    const { page } = await openHubPage("/console/#/tools/everything__get-sum");
    await page.getByLabel(/^a /).fill("2");
    await page.evaluate('for (const input of document.querySelectorAll("input")) input.required = false');
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const alert = page.getByRole("alert");
    await alert.getByText("invalid_params").waitFor();
    expect(await alert.textContent()).toContain("Missing required parameter: b");
    await page.context().close();
  });

  test("the log shows a line of the hub as it is written", async () => {
    const { page } = await openHubPage("/console/#/logs");
    await page.locator(".live.on").waitFor();
    const headers = { "content-type": "application/json", ...HUB_HEADERS };
    await fetch(`${rootOf(hub)}/api/tools/log-line-test`, { method: "POST", headers, body: "{}" });
    await page.getByText("log-line-test").first().waitFor();
    const { lines } = (await ask(hub, "logs?text=log-line-test")) as { lines: readonly JsonObject[] };
    expect(lines).toHaveLength(1);
    await page.context().close();
  });

  test("every view is reached by the keyboard alone", async () => {
    const { page } = await openHubPage("/");
    await page.locator(".live.on").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("logs");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Logs", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("get-sum");
    await page
      .getByRole("option", { name: /everything__get-sum/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".detail h2", { hasText: "everything__get-sum" }).waitFor();
    expect(page.url()).toMatch(/#\/tools\/everything__get-sum$/);
    await page.context().close();
  });

  test("the page needs no horizontal scrolling on a phone or at 200 % zoom", async () => {
    const { page } = await openHubPage("/", { viewport: { width: 360, height: 740 } });
    for (const view of [
      "overview",
      "sources/everything",
      "tools/everything__get-sum",
      "resources",
      "prompts",
      "calls",
      "logs",
    ]) {
      await page.goto(`${rootOf(hub)}/console/#/${view}`);
      await page.locator("main h1").waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth"), view).toBeLessThanOrEqual(360);
    }
    await page.context().close();
  });

  test("a user signs in by the form without a script, and signs out", async () => {
    const { page } = await openPage(browser, `${rootOf(hostile)}/console/`);
    await page.getByLabel("Token").fill("t-ops");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator(".live.on").waitFor();
    expect(page.url()).not.toContain("key=");
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.getByRole("button", { name: /Sign out/ }).click();
    await page.getByLabel("Token").waitFor();
    expect(page.url()).toContain("/console/sign-in");
    await page.context().close();
  });

  test("a user with one tool sees one tool and no view of the hub", async () => {
    const { page } = await signedIn("t-one");
    await page.locator(".tool-name").first().waitFor();
    const { tools } = (await ask(hostile, "tools", "t-one")) as { tools: readonly JsonObject[] };
    expect(await page.locator(".tool-name").allTextContents()).toEqual(tools.map(({ name }) => name));
    expect(tools.map(({ name }) => name)).toContain("everything__get-sum");
    expect(await page.locator("nav a").allTextContents()).toEqual(expect.not.arrayContaining(["Sources", "Logs"]));
    await page.context().close();
  });

  async function signedIn(token: string): Promise<Awaited<ReturnType<typeof openPage>>> {
    const opened = await openPage(browser, `${rootOf(hostile)}/console/sign-in`);
    await opened.page.getByLabel("Token").fill(token);
    await opened.page.getByRole("button", { name: "Sign in" }).click();
    await opened.page.locator(".live.on").waitFor();
    return opened;
  }

  test("100 attacks in names, descriptions, schemas, results and standard error have no effect", async () => {
    const { page, faults } = await signedIn("t-ops");
    await expect.poll(async () => (await ask(hostile, "tools?limit=1", "t-ops"))["total"]).toBeGreaterThan(MANY_TOOLS);
    for (const view of ["overview", "sources/hostile", "tools/hostile__large", "tools/hostile__attack"]) {
      await page.goto(`${rootOf(hostile)}/console/#/${view}`);
      await page.locator("main .card").first().waitFor();
    }
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("heading", { name: "Result" }).waitFor();
    for (const view of ["calls", "logs"]) {
      await page.goto(`${rootOf(hostile)}/console/#/${view}`);
      await page.locator("main h1").waitFor();
    }
    expect(await page.evaluate(() => "__attacked" in globalThis)).toBe(false);
    expect(await page.locator("main :is(iframe, object, base, meta, link, style)").count()).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("a list of 10,000 tools scrolls to its end with few elements", async () => {
    const { page } = await signedIn("t-ops");
    await page.goto(`${rootOf(hostile)}/console/#/tools`);
    const { total } = await ask(hostile, "tools?limit=1", "t-ops");
    await page.getByText(`${Number(total).toLocaleString("en-US")} tools`).waitFor();
    await page.locator(".virtual").evaluate((list) => (list.scrollTop = list.scrollHeight));
    const last = (await ask(hostile, `tools?limit=1&offset=${Number(total) - 1}`, "t-ops"))["tools"] as JsonObject[];
    await page.locator(".tool-name", { hasText: String(last[0]!["name"]) }).waitFor();
    expect(await page.locator(".virtual-row").count()).toBeLessThan(100);
    await page.context().close();
  });

  test("a page of another origin can neither frame the console nor follow its events", async () => {
    const { page } = await signedIn("t-ops");
    const other = `${rootOf(hub).replace("127.0.0.1", "localhost")}/console/sign-in`;
    await page.goto(other);
    const events = JSON.stringify(`${rootOf(hostile)}/api/admin/events`);
    const state = await page.evaluate(`new Promise((resolve) => {
      const source = new EventSource(${events}, { withCredentials: true });
      source.addEventListener("open", () => resolve("open"));
      source.addEventListener("error", () => resolve("refused"));
    })`);
    expect(state).toBe("refused");
    const { headers } = await fetch(`${rootOf(hostile)}/console/`);
    expect(headers.get("x-frame-options")).toBe("DENY");
    await page.context().close();
  });
});
