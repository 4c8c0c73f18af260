import { afterEach, expect, test } from "vitest";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { renderHome } from "../../packages/toolyard/src/features/home/home-page.ts";

let hub: LibraryHub | undefined;
afterEach(() => hub?.close());

async function serve(settings: object = {}): Promise<string> {
  const server = { port: 0, ...(settings as { server?: object }).server };
  hub = await createHub({ settings: { ...settings, server }, logger: SILENT_LOGGER });
  return (await hub.serve()).endpoint.replace(/\/mcp$/, "");
}

const open = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/?clients`, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8", ...headers } });

test("GET / returns a page to a browser, and MCP's answer to a client that accepts MCP's media types", async () => {
  const url = await serve();
  const page = await open(url);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const policy = page.headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("script-src");
  const text = await page.text();
  expect(text).not.toMatch(/<script|\son\w+=|javascript:/i);
  expect(text).toContain(`<pre class="copy">${url}/mcp</pre>`);
  expect(text).toContain(`href="${url}/docs"`);
  expect(text).toContain(`href="${url}/status"`);
  for (const accept of ["*/*", "application/json", "text/html;q=0.5, text/event-stream"])
    expect((await fetch(`${url}/`, { headers: { accept } })).headers.get("content-type")).not.toContain("html");
  expect((await fetch(`${url}/?uri=none://x`, { headers: { accept: "text/html" } })).status).not.toBe(200);
});

test("GET / returns a plain-text explanation to curl, and refuses clients that accept no text", async () => {
  const url = await serve();
  for (const headers of [{ accept: "*/*" }, { accept: "text/plain" }, { accept: "text/*, */*;q=0.1" }]) {
    const response = await fetch(`${url}/`, { headers });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    const text = await response.text();
    expect(text).toMatch(/^.+ \(toolyard \S+\) is an MCP endpoint\.\n/);
    for (const part of [`${url}/mcp`, `curl ${url}/api/tools\n`, `${url}/docs\n`, `toolyard list --url ${url}/mcp\n`])
      expect(text).toContain(part);
  }
  for (const accept of ["application/json", "application/json, text/event-stream", "image/png"])
    expect((await fetch(`${url}/`, { headers: { accept } })).status).toBeGreaterThanOrEqual(400);
  expect((await fetch(`${url}/?uri=none://x`)).headers.get("content-type")).toContain("json");
  expect((await fetch(`${url}/`, { method: "POST", body: "{}" })).headers.get("content-type")).not.toContain("plain");
});

test("GET / mentions the required token and omits disabled REST; refuses a caller without a token", async () => {
  const url = await serve({ server: { token: "a-long-enough-token" }, rest: { enabled: false } });
  expect((await fetch(`${url}/`)).status).toBe(401);
  const text = await (await fetch(`${url}/`, { headers: { authorization: "Bearer a-long-enough-token" } })).text();
  expect(text).toContain("--token-env TOOLYARD_TOKEN");
  expect(text).not.toMatch(/a-long-enough|\/docs|\/api/);
});

test("GET / has an entry for each client, and links that add the hub to VS Code and Cursor", async () => {
  const url = await serve();
  const text = await (await open(url)).text();
  for (const program of [
    "Claude Desktop",
    "Claude Code",
    "Cursor",
    "VS Code",
    "Windsurf",
    "Zed",
    "Codex",
    "Gemini CLI",
  ])
    expect(text).toContain(`<summary>${program}</summary>`);
  const [, code = ""] = /href="vscode:mcp\/install\?([^"]+)"/.exec(text) ?? [];
  expect(JSON.parse(decodeURIComponent(code))).toEqual({ name: "toolyard", type: "http", url: `${url}/mcp` });
  const [, config = ""] = /href="cursor:\/\/[^"]+&amp;config=([^"]+)"/.exec(text) ?? [];
  expect(JSON.parse(Buffer.from(decodeURIComponent(config), "base64").toString())).toEqual({ url: `${url}/mcp` });
});

test("escapes texts of a source in the page", () => {
  const evil = "</p><script>alert(1)</script>\u202e";
  const source = { source: { id: evil, kind: "stdio" }, status: { state: "down", lastError: evil } };
  const page = renderHome({
    title: evil,
    version: "1",
    baseUrl: "http://127.0.0.1:1",
    mcpUrl: "http://127.0.0.1:1/mcp",
    hasDocs: true,
    isGuarded: false,
    clients: [{ program: evil, place: evil, text: evil }],
    status: {
      sources: [{ ...source, tools: 0, resources: 0, prompts: 0, problems: [] } as never],
      upMs: 1000,
      signIn: () => evil,
    },
  });
  expect(page).toMatch(/class="state ill">down<\/span> <b>&lt;\/p&gt;&lt;script&gt;alert/);
  expect(page).not.toContain("<script");
  expect(page).not.toContain("\u202e");
});

test("with tokens, refuses a request without a token, and shows no source to a token with narrow rights", async () => {
  const url = await serve({
    server: { token: "a-long-enough-token", tokens: { few: { token: "another-long-token", allow: ["meta.*"] } } },
  });
  expect((await open(url)).status).toBe(401);
  const whole = await (await open(url, { authorization: "Bearer a-long-enough-token" })).text();
  expect(whole).toContain("<h2>Sources</h2>");
  expect(whole).toContain("TOOLYARD_TOKEN");
  expect(whole).not.toContain("a-long-enough-token");
  const few = await (await open(url, { authorization: "Bearer another-long-token" })).text();
  expect(few).toContain("<h2>Connect a client</h2>");
  expect(few).not.toContain("<h2>Sources</h2>");
  expect(few).not.toContain("/status");
});

test("serves the page without the JSON-RPC dialect too, and answers 404 to programs", async () => {
  const url = await serve({ server: { jsonrpc: false }, rest: { openapi: false } });
  const page = await (await open(url)).text();
  expect(page).toContain("<h2>Sources</h2>");
  expect(page).not.toContain("/docs");
  expect((await fetch(`${url}/`, { headers: { accept: "application/json" } })).status).toBe(404);
});
