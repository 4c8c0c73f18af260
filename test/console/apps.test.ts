// MCP Apps in the console: pages of tools in a frame without access to the console, to the hub, and to other hosts.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Browser, FrameLocator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ServeChild } from "../support/serve-child.ts";
import { adminApi } from "./admin-api.ts";
import { auditPage } from "./audit-page.ts";
import { NO_CHROMIUM, openPage, startChromium, type OpenPage } from "./browser.ts";

const SERVER = fileURLToPath(new URL("app-server.mjs", import.meta.url));

/** A host that records the paths of its requests. */
async function startHost(): Promise<{ readonly server: Server; readonly url: string; readonly paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    // Playwright adds a header to all requests of the page, so that the browser sends a preflight.
    if (request.method === "GET") paths.push(request.url ?? "");
    response.setHeader("access-control-allow-origin", "*").setHeader("access-control-allow-headers", "authorization");
    response.end("declared");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

let hub: ServeChild;
let declared: Awaited<ReturnType<typeof startHost>>;
let undeclared: Awaited<ReturnType<typeof startHost>>;
beforeAll(async () => {
  [declared, undeclared] = [await startHost(), await startHost()];
  const command = JSON.stringify(["node", SERVER, declared.url, undeclared.url]);
  const config = `
[server.tokens.ops]
token = "t-ops"
[server.tokens.one]
token = "t-one"
allow = ["app__show"]
[mcp.stdio_servers.app]
command = ${command}
[mcp.stdio_servers.other]
command = ${command}
`;
  hub = await ServeChild.start({ config, args: ["-y"] });
  await vi.waitFor(async () => expect((await ask("tools/app__show"))["name"]).toBe("app__show"), 30_000);
}, 60_000);
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  for (const { server } of [declared, undeclared]) server.close();
});

const rootOf = (): string => hub.url.replace(/\/mcp$/, "");
const ask = adminApi(rootOf);

describe("the API", () => {
  test("opens the page of a tool once, with a policy from its metadata", async () => {
    const { path, source, csp } = await ask("apps", { body: { tool: "app__show" } });
    expect([source, csp]).toEqual([
      "app",
      { connectDomains: [declared.url], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    ]);
    const page = await fetch(`${rootOf()}/console/${String(path)}`);
    const policy = page.headers.get("content-security-policy");
    expect(policy).toContain(`sandbox allow-scripts allow-forms; default-src 'none'`);
    expect(policy).toContain(`connect-src ${declared.url};`);
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect((await fetch(`${rootOf()}/console/${String(path)}`)).status).toBe(404);
  });

  test.each([
    ["app__wrong", "t-ops", 502],
    ["app__secret", "t-ops", 404],
    ["nothing", "t-ops", 404],
    ["app__write", "t-one", 403],
  ])("refuses to open the page of %s with %s by status %d", async (tool, token, http) => {
    expect(await ask("apps", { body: { tool }, token })).toMatchObject({
      http,
      error: { message: expect.any(String) },
    });
  });

  test("refuses an address that was never issued, and a document outside of a frame", async () => {
    expect((await fetch(`${rootOf()}/console/app/unknown`)).status).toBe(404);
    const { path } = await ask("apps", { body: { tool: "app__show" } });
    const headers = { "sec-fetch-dest": "document" };
    expect((await fetch(`${rootOf()}/console/${String(path)}`, { headers })).status).toBe(404);
  });
});

describe.skipIf(NO_CHROMIUM)(NO_CHROMIUM ?? "the frame in Chromium", () => {
  let browser: Browser;
  let opened: OpenPage;
  let app: FrameLocator;
  beforeAll(async () => {
    browser = await startChromium();
    opened = await openPage(browser, `${rootOf()}/console/#/tools/app__show`, {
      extraHTTPHeaders: { authorization: "Bearer t-ops" },
    });
    const { page } = opened;
    app = page.frameLocator("iframe.app");
    await page.locator(".live.on").waitFor();
    await page.getByLabel(/^city/).fill("Graz");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await app.locator("#escape", { hasText: "eval" }).waitFor();
  }, 60_000);
  afterAll(() => browser.close());
  const answerTo = async (button: string, decision?: "Allow" | "Decline"): Promise<JsonObject> => {
    await app.locator("#answer").evaluate((element) => (element.textContent = ""));
    await app.getByRole("button", { name: button }).click();
    if (decision) await opened.page.getByRole("alertdialog").getByRole("button", { name: decision }).click();
    await expect.poll(() => app.locator("#answer").textContent()).not.toBe("");
    return JSON.parse((await app.locator("#answer").textContent())!) as JsonObject;
  };

  test("the app gets the context, the arguments and the result of the tool, and sets its frame's height", async () => {
    expect(JSON.parse((await app.locator("#context").textContent())!)).toEqual(["2026-01-26", [declared.url], "light"]);
    expect(JSON.parse((await app.locator("#input").textContent())!)).toEqual({ arguments: { city: "Graz" } });
    expect(JSON.parse((await app.locator("#result").textContent())!)).toMatchObject({
      content: [{ type: "text", text: 'show {"city":"Graz"}' }],
    });
    await expect.poll(() => opened.page.locator("iframe.app").evaluate((frame) => frame.clientHeight)).toBe(444);
    await opened.page.locator("summary", { hasText: "Logs" }).click();
    await opened.page.getByText('info "<i>log</i>"').waitFor();
  });

  test("the app reaches neither the console nor the hub, and no host that its metadata does not declare", async () => {
    const escapes = JSON.parse((await app.locator("#escape").textContent())!) as [string, string][];
    expect(Object.fromEntries(escapes)).toEqual({
      origin: "null",
      parent: "SecurityError",
      storage: "SecurityError",
      cookie: "SecurityError",
      api: "TypeError",
      declared: "declared",
      undeclared: "TypeError",
      image: "TypeError",
      popup: "null",
      eval: "EvalError",
    });
    expect(declared.paths).toEqual(["/yes"]);
    expect(undeclared.paths).toEqual([]);
  });

  test("the app calls a read-only tool of its server, and another one only with consent", async () => {
    expect(await answerTo("refresh")).toMatchObject({ result: { content: [{ text: "refresh {}" }] } });
    expect(await answerTo("write", "Decline")).toMatchObject({ error: { message: "The user declined." } });
    const { calls } = (await ask("calls?tool=app__write")) as { calls: JsonObject[] };
    expect(calls).toEqual([]);
    expect(await answerTo("write", "Allow")).toMatchObject({ result: { content: [{ text: expect.any(String) }] } });
    expect((await ask("calls?tool=app__write"))["total"]).toBe(1);
  });

  test("the app calls neither a tool for models only nor a tool of another server", async () => {
    expect(await answerTo("hidden")).toMatchObject({ error: { code: -32602 } });
    expect(await answerTo("foreign")).toMatchObject({ error: { code: -32602 } });
    expect((await ask("calls?tool=secret"))["total"]).toBe(0);
  });

  test("the app reads a resource with consent, and gets errors for unknown methods and scripts", async () => {
    expect(await answerTo("read", "Decline")).toMatchObject({ error: { code: -32000 } });
    expect(await answerTo("read", "Allow")).toMatchObject({ result: { contents: [{ uri: "ui://panel" }] } });
    expect(await answerTo("unknown")).toMatchObject({ error: { code: -32601 } });
    expect(await answerTo("script")).toMatchObject({ error: { code: -32602 } });
  });

  test("a tool with a page of another type shows its result and the reason", async () => {
    const { page } = await openPage(browser, `${rootOf()}/console/#/tools/app__wrong`, {
      extraHTTPHeaders: { authorization: "Bearer t-ops" },
    });
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("wrong {}").waitFor();
    await page.getByRole("alert").getByText("text/html;profile=mcp-app").waitFor();
    expect(await page.locator("iframe").count()).toBe(0);
    await page.context().close();
  });

  test("the app cannot lead its frame to another host", async () => {
    const { page } = opened;
    const refused = page.waitForEvent("console", (message) => /frame-src/.test(message.text()));
    await app.getByRole("button", { name: "leave" }).click();
    await refused;
    expect(undeclared.paths).toEqual([]);
  });

  test("axe-core finds no serious problem in the page with a frame, and a phone shows all of the page", async () => {
    const { page } = opened;
    expect(await auditPage(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
  });
});
