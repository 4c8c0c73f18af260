// The API and the sessions of the console, without a browser: what other pages, ports and callers are refused.
import { once } from "node:events";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AcceptedFiles, foreignFile, type ForeignFile } from "../../packages/toolyard/src/config/accepted-files.ts";
import type { HubControl } from "../../packages/toolyard/src/core/ports/hub-control.ts";
import { addSource, removeSource } from "../../packages/toolyard/src/features/console/api/edit-sources.ts";
import { CONFIG_SCHEMA } from "../../packages/toolyard/src/hub/schema.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ServeChild } from "../support/serve-child.ts";

const TOKENS = {
  ops: { token: "t-ops" },
  one: { token: "t-one", allow: ["execute_code"] },
};
let guarded: ServeChild;
let open: ServeChild;
beforeAll(async () => {
  [guarded, open] = await Promise.all([
    ServeChild.start({ config: { server: { tokens: TOKENS, cors_origins: ["*"] } } }),
    ServeChild.start({ config: {}, args: ["--base-path", "/yard"] }),
  ]);
}, 60_000);
afterAll(async () => {
  await guarded[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
});

const rootOf = ({ url }: ServeChild): string => url.replace(/\/mcp$/, "");

interface TestAnswer {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

async function ask(path: string, init: RequestInit = {}, hub = guarded): Promise<TestAnswer> {
  const response = await fetch(`${rootOf(hub)}${path}`, { redirect: "manual", ...init });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as JsonObject) : { text },
  };
}

const bearer = (name: keyof typeof TOKENS): Record<string, string> => ({
  authorization: `Bearer ${TOKENS[name].token}`,
});

async function signIn(name: keyof typeof TOKENS = "ops"): Promise<{ readonly cookie: string; readonly key: string }> {
  const body = new URLSearchParams({ token: TOKENS[name].token });
  const { status, headers } = await ask("/api/admin/session", { method: "POST", body });
  expect(status).toBe(303);
  const [, key = ""] = /^\.\.\/\.\.\/console\/#key=([\w-]{43})$/.exec(headers.get("location")!) ?? [];
  return { cookie: headers.get("set-cookie")!.split(";")[0]!, key };
}

test("opens a session by a form, with a cookie that no script reads and no other site sends", async () => {
  const body = new URLSearchParams({ token: TOKENS.ops.token });
  const { headers } = await ask("/api/admin/session", { method: "POST", body });
  const cookie = headers.get("set-cookie")!;
  expect(cookie).toMatch(/^toolyard_console_\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Max-Age=43200$/);
  expect(cookie).toContain(`_${new URL(guarded.url).port}=`);
});

test("refuses a wrong token in the form, and shows the form again", async () => {
  const { status, body, headers } = await ask("/api/admin/session", {
    method: "POST",
    body: new URLSearchParams({ token: "wrong" }),
  });
  expect([status, headers.get("set-cookie")]).toEqual([401, null]);
  expect(body["text"]).toContain('role="alert"');
});

test("answers a session that has its cookie and its key, and refuses each alone", async () => {
  const { cookie, key } = await signIn();
  const get = (headers: Record<string, string>): Promise<TestAnswer> => ask("/api/admin/overview", { headers });
  expect((await get({ cookie, "x-toolyard-console": key })).status).toBe(200);
  const other = await signIn();
  for (const headers of [
    {},
    { cookie },
    { "x-toolyard-console": key },
    { cookie, "x-toolyard-console": "open" },
    { cookie, "x-toolyard-console": other.key },
    { cookie: cookie.replace(/_\d+=/, "_1="), "x-toolyard-console": key },
  ])
    expect((await get(headers as Record<string, string>)).status, JSON.stringify(headers)).toBe(401);
});

test("does not accept the cookie of the console on another endpoint", async () => {
  const { cookie, key } = await signIn();
  for (const path of ["/status", "/api/tools", "/whoami", "/mcp"])
    expect((await ask(path, { headers: { cookie, "x-toolyard-console": key } })).status, path).toBe(401);
});

test.each([
  ["a page of another site", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
  ["a page of another port of this machine", { origin: "http://localhost:1", "sec-fetch-site": "same-site" }],
  ["a page without an origin of its own", { origin: "null", "sec-fetch-site": "cross-site" }],
  ["a form of another site", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" }],
  ["an image of another site", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "image" }],
  ["a page of this hub without the header of the console", { "sec-fetch-site": "same-origin" }],
])("refuses %s, with any `cors_origins`", async (_name, headers) => {
  const { cookie, key } = await signIn();
  const isOwn = headers["sec-fetch-site"] === "same-origin";
  const sent = { cookie, ...headers, ...(!isOwn && { "x-toolyard-console": key }) } as Record<string, string>;
  for (const [method, path] of [
    ["GET", "/api/admin/events"],
    ["GET", "/api/admin/sources"],
    ["POST", "/api/admin/sources/builtin/restart"],
    ["DELETE", "/api/admin/sources/builtin"],
  ] as const)
    expect((await ask(path, { method, headers: sent })).status, path).toBe(403);
});

test("gives a caller with narrowed rights its own tools only", async () => {
  const headers = bearer("one");
  const { tools, total } = (await ask("/api/admin/tools", { headers })).body as { tools: JsonObject[]; total: number };
  expect(total).toBe(tools.length);
  expect(tools.map(({ name }) => name)).toContain("execute_code");
  const all = (await ask("/api/admin/tools", { headers: bearer("ops") })).body;
  expect(total).toBeLessThan(Number(all["total"]));
  for (const path of ["overview", "sources", "logs", "profiles", "callers", "approvals", "sources/builtin"])
    expect((await ask(`/api/admin/${path}`, { headers })).status, path).toBe(403);
  expect((await ask("/api/admin/sign-ins", { headers })).body).toEqual({ signIns: [] });
  expect((await ask("/api/admin/sources/builtin/restart", { method: "POST", headers })).status).toBe(403);
});

test("shows a caller with narrowed rights its own calls only", async () => {
  const body = JSON.stringify({ code: "1", language: "javascript" });
  const headers = { ...bearer("ops"), "content-type": "application/json" };
  await ask("/api/admin/tools/no-such-tool", { method: "POST", headers, body });
  const list = async (name: keyof typeof TOKENS): Promise<readonly JsonObject[]> =>
    (await ask("/api/admin/calls", { headers: bearer(name) })).body["calls"] as JsonObject[];
  expect((await list("ops")).map(({ target }) => target)).toContain("no-such-tool");
  expect((await list("one")).filter(({ who }) => who !== "one")).toEqual([]);
});

test("ends a session", async () => {
  const { cookie, key } = await signIn();
  const headers = { cookie, "x-toolyard-console": key };
  expect((await ask("/api/admin/session", { method: "DELETE", headers })).status).toBe(200);
  expect((await ask("/api/admin/session", { headers })).status).toBe(401);
});

test("creates a sign-in link that works once", async () => {
  const { url } = (await ask("/api/admin/links", { method: "POST", headers: bearer("ops") })).body;
  const code = /#code=(.+)$/.exec(String(url))![1]!;
  const use = (): Promise<TestAnswer> =>
    ask("/api/admin/session", { method: "POST", body: new URLSearchParams({ code }) });
  const { status, body, headers } = await use();
  expect(status).toBe(200);
  const cookie = headers.get("set-cookie")!.split(";")[0]!;
  const session = await ask("/api/admin/session", { headers: { cookie, "x-toolyard-console": String(body["key"]) } });
  expect(session.body).toMatchObject({ by: "session", caller: { id: "ops" }, mayChange: true });
  expect((await use()).status).toBe(401);
});

test("serves the page below a base path, not framed and without inline script", async () => {
  const moved = await ask("/console", {}, open);
  expect([moved.status, moved.headers.get("location")]).toEqual([308, "./console/"]);
  const { status, body, headers } = await ask("/console/", {}, open);
  expect(status).toBe(200);
  expect(headers.get("content-security-policy")).toMatch(
    /default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/,
  );
  expect(headers.get("content-security-policy")).not.toContain("unsafe");
  const text = String(body["text"]);
  expect(text).not.toMatch(/<script(?![^>]*src=)|style=|(?:src|href)="\//);
  for (const [, path] of text.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)) {
    const asset = await ask(`/console/${path}`, {}, open);
    expect([asset.status, asset.headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
  }
  for (const path of ["assets/../index.html", "assets/%2e%2e/index.html", "assets/nope.js", "nope"])
    expect((await ask(`/console/${path}`, {}, open)).status, path).toBe(404);
});

test("redirects a browser, but not a program, from the address of the hub to the console", async () => {
  const get = (accept: string): Promise<TestAnswer> =>
    ask("/yard/", { headers: { accept } }, { url: rootOf(open).replace(/\/yard$/, "/mcp") } as ServeChild);
  const page = await get("text/html,application/xhtml+xml,*/*;q=0.8");
  expect([page.status, page.headers.get("location")]).toEqual([303, "./console/"]);
  expect((await get("*/*")).body["text"]).toContain("is an MCP endpoint");
});

/** Sends a request with any headers: `fetch` sets `Sec-Fetch-Mode` itself. */
async function navigate(
  path: string,
  { method = "GET", ...headers }: Record<string, string>,
  hub = guarded,
): Promise<{ readonly status: number | undefined; readonly headers: IncomingHttpHeaders }> {
  const sent = request(`${rootOf(hub)}${path}`, { method, headers });
  const [response] = (await once(sent.end(), "response")) as [IncomingMessage];
  response.resume();
  await once(response, "close");
  return { status: response.statusCode, headers: response.headers };
}

const BROWSER_HEADERS = { accept: "text/html,*/*;q=0.8", "sec-fetch-mode": "navigate", "sec-fetch-site": "none" };

test.each([
  ["the address of the hub", "/", {}, 303],
  ["the address of the hub with an expired token", "/", { authorization: "Bearer wrong" }, 303],
  ["the address of the hub by another method", "/", { method: "HEAD" }, 401],
  ["the address of the hub by a script", "/", { "sec-fetch-mode": "cors" }, 401],
  ["the address of the hub by a program that accepts HTML", "/", { "sec-fetch-mode": "" }, 401],
  ["the address of the hub as an MCP client", "/", { accept: "application/json, text/event-stream" }, 401],
  ["the address of the hub as an image", "/", { accept: "image/*" }, 401],
  ["the MCP endpoint", "/mcp", {}, 401],
  ["the status", "/status", {}, 401],
  ["an unknown path", "/nope", {}, 401],
  ["the address of a profile", "/mcp/none/", {}, 401],
])("a guarded hub answers a browser at %s (%s, headers %j) with status %d", async (_name, path, more, status) => {
  const found = await navigate(path, { ...BROWSER_HEADERS, ...(more as Record<string, string>) });
  expect(found.status).toBe(status);
  expect(found.headers.location).toBe(status === 303 ? "./console/" : undefined);
  if (status === 401) expect(found.headers["www-authenticate"]).toMatch(/^Bearer/);
});

test("redirects a browser to the console with workers and below a base path", async () => {
  const config = { server: { tokens: TOKENS } };
  await using hub = await ServeChild.start({ config, args: ["--workers", "2", "--base-path", "/yard"] });
  const at = { url: rootOf(hub).replace(/\/yard$/, "/mcp") } as ServeChild;
  const page = await navigate("/yard/", BROWSER_HEADERS, at);
  expect([page.status, page.headers.location]).toEqual([303, "./console/"]);
  expect((await ask("/yard/", {}, at)).status).toBe(401);
  expect((await ask("/yard/console/", {}, at)).status).toBe(200);
  expect((await ask("/yard/api/admin/overview", { headers: bearer("ops") }, at)).status).toBe(200);
});

test("a guarded hub without the console answers a browser with 401", async () => {
  await using hub = await ServeChild.start({ config: { server: { tokens: TOKENS }, console: { enabled: false } } });
  expect((await navigate("/", BROWSER_HEADERS, hub)).status).toBe(401);
});

test.each([
  ["de-DE,de;q=0.9", "de", "Bei Toolyard anmelden", "Anmelden"],
  ["fr", "fr", "Se connecter à Toolyard", "Se connecter"],
  ["en", "en", "Sign in to Toolyard", "Sign in"],
  ["nl", "en", "Sign in to Toolyard", "Sign in"],
])("shows the sign-in page for %s in %s, also after a refusal", async (language, lang, heading, button) => {
  const headers = { "accept-language": language };
  const body = new URLSearchParams({ token: "wrong" });
  for (const [path, init] of [
    ["/console/sign-in", {}],
    ["/api/admin/session", { method: "POST", body }],
  ] as const) {
    const { body: page } = await ask(path, { ...init, headers });
    expect(page["text"]).toContain(`<html lang="${lang}">`);
    expect(page["text"]).toContain(`<h1>${heading}</h1>`);
    expect(page["text"]).toContain(`<button>${button}</button>`);
  }
});

test.each([
  ["POST", "sources", { name: "x", command: ["node", "-e", "0"] }],
  ["DELETE", "sources/builtin", undefined],
  ["POST", "sources/builtin/restart", {}],
  ["POST", "sources/builtin/refresh", {}],
  ["POST", "sources/builtin/enable", {}],
  ["POST", "sources/builtin/disable", {}],
] as const)("refuses %s %s on a hub without authentication, and says what enables it", async (method, path, body) => {
  const init = { method, headers: { "content-type": "application/json" }, ...(body && { body: JSON.stringify(body) }) };
  const before = await readFile(open.configFile, "utf8");
  const { status, body: answer } = await ask(`/api/admin/${path}`, init, open);
  expect(status).toBe(403);
  expect(answer).toMatchObject({ error: { message: expect.stringContaining("`[server] token`") } });
  expect(await readFile(open.configFile, "utf8")).toBe(before);
});

test("shows the console of a hub without authentication as read-only", async () => {
  const { body } = await ask("/api/admin/session", {}, open);
  expect(body).toMatchObject({ by: "open", seesAll: true, mayChange: false, isReadOnlyHub: true });
  expect((await ask("/api/admin/session", { headers: bearer("ops") })).body).toMatchObject({ isReadOnlyHub: false });
});

test("answers unknown paths and methods of the API as REST does", async () => {
  const headers = bearer("ops");
  expect((await ask("/api/admin/nope", { headers })).body).toMatchObject({ error: { message: expect.any(String) } });
  expect((await ask("/api/admin/overview", { method: "POST", headers })).status).toBe(405);
  expect((await ask("/api/admin/sources/no%2Fsuch", { headers })).status).toBe(404);
  expect((await ask("/api/admin/sources/%ff", { headers })).status).toBe(400);
});

test("resumes the event stream after the last event", async () => {
  const follow = async (lastId = ""): Promise<{ readonly text: string; readonly id: string }> => {
    const aborter = new AbortController();
    const headers = { ...bearer("ops"), ...(lastId !== "" && { "last-event-id": lastId }) } as Record<string, string>;
    const response = await fetch(`${rootOf(guarded)}/api/admin/events?topics=calls`, {
      headers,
      signal: aborter.signal,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("figures")) text += (await reader.read()).value ?? "";
    aborter.abort();
    return {
      text,
      id: text
        .match(/id: (\S+)/g)!
        .at(-1)!
        .slice("id: ".length),
    };
  };
  const { id } = await follow();
  const headers = { ...bearer("ops"), "content-type": "application/json" };
  await ask("/api/admin/tools/missed-one", { method: "POST", headers, body: "{}" });
  expect((await follow(id)).text.match(/missed-one/g)).toHaveLength(1);
  expect((await follow()).text).not.toContain("missed-one");
});

test("loads and answers nothing with `enabled = false`, and on a public address without credentials", async () => {
  for (const [config, args] of [
    [{ console: { enabled: false } }, []],
    [{}, ["--host", "0.0.0.0", "--insecure"]],
  ] as const) {
    await using hub = await ServeChild.start({ config, args });
    const local = { url: hub.url.replace("0.0.0.0", "127.0.0.1") } as ServeChild;
    for (const path of ["/console", "/console/", "/api/admin/session"])
      expect((await ask(path, {}, local)).status, path).toBe(404);
    expect((await ask("/", { headers: { accept: "text/html" } }, local)).status).toBe(200);
  }
});

test.each([true, false])(
  "accepts the programs of an added server if the file was accepted before (%s), as the command does",
  async (isAccepted) => {
    const folder = await mkdtemp(join(tmpdir(), "toolyard-console-"));
    try {
      // A file inside a work tree may have come with the folder, so it needs consent.
      await mkdir(join(folder, ".git"));
      const file = join(folder, "toolyard.toml");
      await writeFile(file, '[mcp.stdio_servers.one]\ncommand = ["node", "one.js"]\n');
      const records = new AcceptedFiles(join(folder, "data"));
      if (isAccepted) await records.accept((await foreignFile(file, CONFIG_SCHEMA))!);
      const acceptance = {
        schema: CONFIG_SCHEMA,
        has: (foreign: ForeignFile) => records.has(foreign),
        accept: (foreign: ForeignFile) => records.accept(foreign),
      };
      const control = { files: [file], schema: CONFIG_SCHEMA } as unknown as HubControl;
      await addSource({ control, acceptance }, { name: "two", command: ["node", "two.js"] });
      expect(await readFile(file, "utf8")).toContain("two.js");
      expect(await records.has((await foreignFile(file, CONFIG_SCHEMA))!)).toBe(isAccepted);
      await removeSource({ control, acceptance }, "one");
      expect(await records.has((await foreignFile(file, CONFIG_SCHEMA))!)).toBe(isAccepted);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test("records changes and refused changes with their caller in the audit", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-console-"));
  try {
    const file = join(folder, "audit.jsonl");
    await using hub = await ServeChild.start({ config: { server: { tokens: TOKENS }, audit: { file } } });
    const post = (path: string, name: keyof typeof TOKENS): Promise<TestAnswer> =>
      ask(`/api/admin/sources/${path}`, { method: "POST", headers: bearer(name) }, hub);
    await post("builtin/restart", "ops");
    await post("none/restart", "ops");
    await post("builtin/restart", "one");
    const lines = async (): Promise<readonly JsonObject[]> =>
      (await readFile(file, "utf8"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as JsonObject)
        .filter(({ event }) => event === "administration");
    await expect.poll(lines).toEqual(
      [
        ["ops", "builtin", "ok"],
        ["ops", "none", "invalid_params"],
        ["one", "builtin", "denied"],
      ].map(([principal, source, kind]) =>
        expect.objectContaining({ action: "restart", endpoint: "console", principal, source, kind }),
      ),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("serves the same file compressed and plain, and refuses the name of the compressed file", async () => {
  const page = String((await ask("/console/")).body["text"]);
  const [, script = ""] = /src="\.\/(assets\/[\w.-]+\.js)"/.exec(page) ?? [];
  const read = async (encoding: string): Promise<Response> =>
    fetch(`${rootOf(guarded)}/console/${script}`, { headers: { "accept-encoding": encoding } });
  const [compressed, plain] = [await read("gzip, br"), await read("identity")];
  expect([compressed.headers.get("content-encoding"), plain.headers.get("content-encoding")]).toEqual(["br", null]);
  expect(Number(compressed.headers.get("content-length"))).toBeLessThan(150 * 1024);
  expect(await compressed.text()).toBe(await plain.text());
  expect((await ask(`/console/${script}.br`)).status).toBe(404);
});
