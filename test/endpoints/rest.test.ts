import { LOCAL_PRINCIPAL } from "../../packages/toolyard/src/core/calls/call.ts";
import { request as httpRequest } from "node:http";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Chat, ChatTurn } from "../../packages/toolyard/src/core/ports/chat.ts";
import { FailError } from "../../packages/toolyard/src/core/errors.ts";
import { fail } from "../../packages/toolyard/src/core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { Listener } from "../../packages/toolyard/src/http/listening/listener.ts";
import { createTestListener } from "../support/test-listener.ts";
import { resolveHttp, type HttpConfig } from "../../packages/toolyard/src/http/options.ts";
import { loadHubConfig, openHub, type Hub } from "../../packages/toolyard/src/hub/open-hub.ts";
import { createGate } from "../fixtures/hub-stand-in.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import { resolveRest, type RestConfig } from "../../packages/toolyard/src/endpoints/rest/options.ts";
import { RestEndpoint } from "../../packages/toolyard/src/endpoints/rest/rest-endpoint.ts";
import { settled } from "../../packages/toolyard/src/hub/sources/settled.ts";
import { TASKS } from "../../packages/toolyard/src/core/services.ts";
import { getService } from "../../packages/toolyard/src/kernel/start-features.ts";

const MODULE = `export function registerTools(hub) {
  hub.registerTool("words.say", (args) => args, { type: "object", properties: {
    text: { type: "string" }, days: { type: "integer" }, loud: { type: "boolean" },
      tags: { type: "array", items: { type: "number" } }, at: { $ref: "#/$defs/at" } },
    $defs: { at: { type: "object" } } }, "Repeats its input.");
  hub.registerTool("words.text", () => "plain words", {}, "Says words.");
  hub.registerTool("words.thrown", () => { throw new Error("boom"); });
  hub.registerTool("words.failed", () => ({ content: [{ type: "text", text: "no" }], structuredContent: { why: 1 },
    isError: true }));
  hub.registerTool("words.asks", async (_args, { ask }) => ask("elicitation/create",
    { message: "?", requestedSchema: { type: "object", properties: {} } }));
  hub.registerTool("words.steps", async (_args, { progress, log }) => { progress(1, 2, "half"); log("info", "said");
    return { done: true }; });
  hub.registerTool("words.waits", (_args, { signal }) => new Promise((_, no) => {
    signal.addEventListener("abort", () => { globalThis.restTest.ended(); no(signal.reason); });
    globalThis.restTest.begun();
  }));
  hub.registerResource("words://json", () => ({ a: 1 }), "JSON");
  hub.registerResource("words://page", () => ({ contents: [{ uri: "words://page", mimeType: "text/html",
    text: "<script>1</script>" }] }), "A page");
}
`;

const folder = new ToolFolder();
const waits = { begun: createGate(), ended: createGate() };
let hub: Hub;
const listeners: Listener[] = [];

beforeAll(async () => {
  Object.assign(globalThis, { restTest: { begun: () => waits.begun.open(), ended: () => waits.ended.open() } });
  folder.write("mods/words/mcp.mjs", MODULE);
  const variables = { TOOLYARD_HOME: `${folder.path}/home` };
  hub = await openHub({
    config: await loadHubConfig({ files: [], variables, flags: { modules: { paths: [`${folder.path}/mods`] } } }),
    variables,
    logger: SILENT_LOGGER,
  });
  await settled(hub, 20_000);
});
afterAll(async () => {
  await Promise.all(listeners.map((listener) => listener.close()));
  await hub.close();
  folder[Symbol.dispose]();
  Reflect.deleteProperty(globalThis, "restTest");
});

interface ServedRest {
  readonly url: string;
  readonly endpoint: RestEndpoint;
}

async function serve({
  http = {},
  rest = {},
  chat,
}: { http?: HttpConfig; rest?: RestConfig; chat?: Chat } = {}): Promise<ServedRest> {
  const options = resolveHttp({ port: 0, shutdown_grace: "1s", ...http });
  const listener = createTestListener(options, SILENT_LOGGER);
  const access = { isGuarded: options.tokens.length > 0 };
  const parts = { hub: hub.port, tools: hub.tools, logger: SILENT_LOGGER, defaultMode: "normal", access } as const;
  const tasks = getService(hub.services, TASKS);
  const endpoint = new RestEndpoint({ ...parts, tasks, chat: () => chat }, resolveRest(rest));
  endpoint.mount(listener);
  const { url } = await listener.listen();
  listeners.push(listener);
  return { url, endpoint };
}

const JSON_TYPE = { "content-type": "application/json" };
const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { ...JSON_TYPE, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

describe("calling a tool", () => {
  test.each(["words.say", "say", "words::say", "words__say", "words/say", "words%2Fsay"])(
    "M11: POST /api/tools/%s returns the plain value",
    async (name) => {
      const { url } = await serve();
      const response = await post(`${url}/api/tools/${name}`, { text: "größe" });
      expect([response.status, response.headers.get("content-type"), await response.json()]).toEqual([
        200,
        "application/json",
        { text: "größe" },
      ]);
    },
  );

  test("C12: text that is not JSON is returned as a JSON string, and no body means no arguments", async () => {
    const { url } = await serve();
    const response = await fetch(`${url}/api/tools/words.text`, { method: "POST" });
    expect([response.status, await response.json()]).toEqual([200, "plain words"]);
  });

  test.each([
    ["?full=1", {}],
    ["", { accept: "application/vnd.toolyard.result+json" }],
  ])("returns the whole result for %s %o", async (query, headers) => {
    const { url } = await serve();
    expect(await (await post(`${url}/api/tools/say${query}`, { text: "a" }, headers)).json()).toMatchObject({
      content: [{ type: "text" }],
      structuredContent: { text: "a" },
    });
  });

  test("answers 400 with the reason for arguments that do not match the schema", async () => {
    const { url } = await serve();
    const response = await post(`${url}/api/tools/say`, { days: "many" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { kind: "invalid_params", retryable: false, errors: [{ path: "days" }] },
    });
  });

  test("answers 404 with similar names for an unknown tool", async () => {
    const { url } = await serve();
    const response = await post(`${url}/api/tools/words.sya`, {});
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { kind: "unknown_tool", near: expect.arrayContaining(["words.say"]) } },
    ]);
  });

  test("answers 500 with the message of a tool that failed, and with its value if it returned one", async () => {
    const { url } = await serve();
    expect(await (await post(`${url}/api/tools/thrown`, {})).json()).toMatchObject({
      error: { kind: "tool_error", message: expect.stringContaining("boom") },
    });
    const failed = await post(`${url}/api/tools/failed?full=1`, {});
    expect([failed.status, await failed.json()]).toMatchObject([
      500,
      { error: { kind: "tool_error", value: { why: 1 }, result: { isError: true } } },
    ]);
  });

  test("reports to a tool that sends a server request that no client can answer it", async () => {
    const { url } = await serve();
    expect(await (await post(`${url}/api/tools/asks`, {})).json()).toMatchObject({
      error: { message: expect.stringContaining("cannot be asked") },
    });
  });

  test.each([
    ["no JSON", "{", JSON_TYPE, 400],
    ["a list", "[1]", JSON_TYPE, 400],
    ["another type", "{}", { "content-type": "text/plain" }, 415],
    ["too deep", `{"text":${"[".repeat(200)}${"]".repeat(200)}}`, JSON_TYPE, 400],
    ["too large", JSON.stringify({ text: "x".repeat(2000) }), JSON_TYPE, 413],
    ["compressed", "{}", { ...JSON_TYPE, "content-encoding": "gzip" }, 415],
  ])("S4: refuses a body that is %s with the standard error object", async (_what, body, headers, status) => {
    const { url } = await serve({ http: { max_body_bytes: 1000 } });
    const response = await fetch(`${url}/api/tools/say`, { method: "POST", headers, body });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      error: { kind: status === 413 ? "too_large" : "invalid_params", message: expect.any(String), retryable: false },
    });
  });

  test("a caller that disconnects cancels its tool", async () => {
    const { url } = await serve();
    const caller = new AbortController();
    const call = fetch(`${url}/api/tools/waits`, { method: "POST", signal: caller.signal });
    await waits.begun.opened;
    caller.abort();
    await expect(call).rejects.toThrow("aborted");
    await waits.ended.opened;
  });

  test("closing an endpoint waits for the running calls", async () => {
    const { url, endpoint } = await serve();
    waits.begun = createGate();
    const call = fetch(`${url}/api/tools/waits`, { method: "POST" });
    await waits.begun.opened;
    endpoint.close();
    const response = await call;
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { error: { kind: "unavailable", message: "The hub is closing. Try again once it is back." } },
    ]);
  });
});

describe("server-sent events", () => {
  test("sends progress and log messages before the result", async () => {
    const { url } = await serve();
    const response = await post(`${url}/api/tools/steps`, {}, { accept: "text/event-stream" });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text()).trim().split("\n\n");
    expect(events.map((event) => event.split("\n"))).toEqual([
      ["event: progress", expect.stringContaining('"progress":1')],
      ["event: log", expect.stringContaining('"said"')],
      ["event: result", 'data: {"done":true}'],
    ]);
  });

  test("answers a failure before the first event with its status and without events", async () => {
    const { url } = await serve();
    const response = await post(`${url}/api/tools/nobody`, {}, { accept: "text/event-stream" });
    expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/json"]);
  });

  test("sends no events to a client that did not request them", async () => {
    const { url } = await serve();
    const response = await post(`${url}/api/tools/steps`, {}, { accept: "*/*" });
    expect(await response.json()).toEqual({ done: true });
  });
});

describe("lists", () => {
  const names = async (response: Response): Promise<string[]> =>
    ((await response.json()) as { tools: { name: string }[] }).tools.map(({ name }) => name);

  test("GET /api/tools lists the tools for the tool mode of header or query", async () => {
    const { url } = await serve();
    expect(await names(await fetch(`${url}/api/tools`))).toContain("words_say");
    expect(await names(await fetch(`${url}/api/tools?tool_mode=discovery`))).toEqual(["execute_tool", "tool_search"]);
    expect(await names(await fetch(`${url}/api/tools`, { headers: { "x-mcp-tool-mode": "discovery" } }))).toEqual([
      "execute_tool",
      "tool_search",
    ]);
    expect(await names(await fetch(`${url}/api/tools?tool_mode=all`))).toContain("meta_ping");
  });

  test("filters a list by a glob and returns it in pages", async () => {
    const { url } = await serve();
    const seen: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const query: string = `name=words.*&limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const page = (await (await fetch(`${url}/api/tools?${query}`)).json()) as {
        tools: { name: string }[];
        total: number;
        nextCursor?: string;
      };
      expect(page.total).toBe(7);
      expect(page.tools.length).toBeLessThanOrEqual(3);
      seen.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([
      "words_asks",
      "words_failed",
      "words_say",
      "words_steps",
      "words_text",
      "words_thrown",
      "words_waits",
    ]);
  });

  test.each(["limit=0", "limit=x", "limit=100000", "cursor=nonsense"])("refuses GET /api/tools?%s", async (query) => {
    const { url } = await serve();
    const response = await fetch(`${url}/api/tools?${query}`);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { kind: "invalid_params" } }]);
  });

  test("GET /api/tools?query= searches all tools", async () => {
    const { url } = await serve();
    const found = (await (await fetch(`${url}/api/tools?query=ping&limit=1`)).json()) as {
      tools: object[];
      total: number;
    };
    expect(found.tools).toEqual([
      expect.objectContaining({ name: "meta_ping", score: expect.any(Number), inputSchema: expect.any(Object) }),
    ]);
  });

  test("GET /api/tools?query=&why= explains each hit, and does not without `why`", async () => {
    const { url } = await serve();
    const whyOf = async (query: string): Promise<unknown> => {
      const { tools } = (await (await fetch(`${url}/api/tools?limit=1&${query}`)).json()) as {
        tools: { why?: object }[];
      };
      return tools[0]?.why;
    };
    const parts = { words: expect.any(Number), meaning: expect.any(Number), neighbours: 0, server: expect.any(Number) };
    for (const why of ["why", "why=true", "why=1"]) expect(await whyOf(`query=say+again&${why}`)).toEqual(parts);
    for (const why of ["why=false", ""]) expect(await whyOf(`query=say+again&${why}`)).toBeUndefined();
    expect(await whyOf("query=words.say&why=true")).toBeUndefined();
  });

  test("GET /api/tools/{name} describes a tool under any spelling, or answers 404", async () => {
    const { url } = await serve();
    expect(await (await fetch(`${url}/api/tools/words/say`)).json()).toMatchObject({
      name: "words_say",
      description: "Repeats its input.",
    });
    expect((await fetch(`${url}/api/tools/nobody`)).status).toBe(404);
    expect((await fetch(`${url}/api/tools/%E0%A4%A`)).status).toBe(400);
  });

  test("GET /api/resources lists resources, and with a URI reads one", async () => {
    const { url } = await serve();
    expect(await (await fetch(`${url}/api/resources`)).json()).toMatchObject({
      resources: expect.arrayContaining([expect.objectContaining({ uri: "words://json" })]),
      resourceTemplates: expect.any(Array),
    });
    expect(await (await fetch(`${url}/api/resources?uri=words://json`)).json()).toEqual({ a: 1 });
    expect(await (await fetch(`${url}/api/resources?uri=words://json&full=1`)).json()).toMatchObject({
      contents: [{ uri: "words://json" }],
    });
    expect((await fetch(`${url}/api/resources?uri=words://none`)).status).toBe(404);
  });

  test("a raw resource has its media type and no access to the hub's origin", async () => {
    const { url } = await serve();
    const response = await fetch(`${url}/api/resources?uri=words://page&raw=1`);
    expect(await response.text()).toBe("<script>1</script>");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/html",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
  });
});

describe("paths and methods", () => {
  test("answers 404 with the standard error object for an unknown path", async () => {
    const { url } = await serve();
    const response = await fetch(`${url}/api/nothing`);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { kind: "unknown_tool", message: expect.stringContaining("GET /api/tools") } },
    ]);
  });

  test.each([
    ["/api/tools", "GET, HEAD, OPTIONS"],
    ["/api/tools/say", "GET, POST, HEAD, OPTIONS"],
    ["/api/resources", "GET, HEAD, OPTIONS"],
    ["/api/chat", "POST, OPTIONS"],
  ])("%s returns its methods for OPTIONS and for a method that it does not have", async (path, allow) => {
    const { url } = await serve();
    const options = await fetch(`${url}${path}`, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, allow]);
    const refused = await fetch(`${url}${path}`, { method: "DELETE" });
    expect([refused.status, refused.headers.get("allow"), await refused.json()]).toEqual([
      405,
      allow,
      { error: { kind: "invalid_params", message: "Method not allowed.", retryable: false } },
    ]);
  });

  test("HEAD returns the headers of GET without a body", async () => {
    const { url } = await serve();
    const [head, get] = [await fetch(`${url}/api/tools`, { method: "HEAD" }), await fetch(`${url}/api/tools`)];
    expect([head.status, await head.text(), head.headers.get("content-length")]).toEqual([
      200,
      "",
      get.headers.get("content-length"),
    ]);
  });

  test("all paths start with the server's base path and the endpoint's own", async () => {
    const { url } = await serve({
      http: { base_path: "/yard" },
      rest: { base_path: "/v1", routes: { "GET /say": "words.say" } },
    });
    expect(url).toMatch(/\/yard$/);
    expect((await fetch(`${url}/v1/tools`)).status).toBe(200);
    expect(await (await fetch(`${url}/say?text=a`)).json()).toEqual({ text: "a" });
    expect((await fetch(`${url}/api/tools`)).status).toBe(404);
  });
});

describe("callers", () => {
  const tokens = { full: { token: "full" }, narrow: { token: "narrow", deny: ["words.say"] } };

  test("S2: without the token REST answers 401 with a challenge, in its error format", async () => {
    const { url } = await serve({ http: { tokens } });
    const response = await fetch(`${url}/api/tools`);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringContaining("Bearer"),
    ]);
    expect(await response.json()).toMatchObject({ error: { kind: "denied" } });
    expect((await fetch(`${url}/api/tools`, { headers: { authorization: "Bearer full" } })).status).toBe(200);
  });

  test("S15: does not list, find or call a tool that a token has no right to", async () => {
    const { url } = await serve({ http: { tokens }, rest: { routes: { "GET /say": "words.say" } } });
    const headers = { authorization: "Bearer narrow" };
    expect(await (await fetch(`${url}/api/tools?tool_mode=all`, { headers })).text()).not.toMatch(/words.say/);
    expect(await (await fetch(`${url}/api/tools?query=say`, { headers })).text()).not.toMatch(/words.say/);
    expect((await fetch(`${url}/api/tools/say`, { headers })).status).toBe(403);
    expect((await fetch(`${url}/say`, { headers })).status).toBe(404);
    expect((await post(`${url}/api/tools/say`, {}, headers)).status).toBe(403);
    expect((await post(`${url}/api/tools/text`, {}, headers)).status).toBe(200);
  });

  test("S3: refuses a page of another origin with the error object, and allows a configured origin", async () => {
    const { url } = await serve({ http: { cors_origins: ["https://app.example"] } });
    const foreign = await post(`${url}/api/tools/say`, {}, { origin: "https://evil.example" });
    expect([foreign.status, await foreign.json()]).toMatchObject([
      403,
      {
        error: {
          kind: "denied",
          message: expect.stringMatching(/^Invalid Origin: https:\/\/evil\.example\. .*cors_origins/),
        },
      },
    ]);
    const own = await post(`${url}/api/tools/text`, {}, { origin: "https://app.example" });
    expect([own.status, own.headers.get("access-control-allow-origin")]).toEqual([200, "https://app.example"]);
    const preflight = await fetch(`${url}/api/tools/say`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "POST" },
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([
      204,
      "GET, POST, HEAD, OPTIONS",
    ]);
  });

  test("S3: a link on another site's page runs no tool and reads no resource", async () => {
    const { url } = await serve({ rest: { routes: { "GET /say": "words.say" } } });
    const navigate = (path: string, site: string): Promise<number> =>
      new Promise((done, failed) => {
        const headers = { "sec-fetch-site": site, "sec-fetch-dest": "document", "sec-fetch-mode": "navigate" };
        httpRequest(`${url}${path}`, { headers }, (response) => done(response.resume().statusCode!))
          .on("error", failed)
          .end();
      });
    for (const path of ["/say?text=a", "/api/resources?uri=words://json"]) {
      expect(await navigate(path, "cross-site"), path).toBe(403);
      expect(await navigate(path, "none"), path).toBe(200);
    }
  });
});

describe("configured routes", () => {
  test("M11: a GET route reads arguments from the query and converts them to the schema's types", async () => {
    const { url } = await serve({ rest: { routes: { "GET /words/get": "words.say" } } });
    const response = await fetch(
      `${url}/words/get?text=007&days=3&loud=true&tags=1&tags=2&at=${encodeURIComponent('{"x":1}')}&tool_mode=all`,
    );
    expect(await response.json()).toEqual({ text: "007", days: 3, loud: true, tags: [1, 2], at: { x: 1 } });
    const refused = await fetch(`${url}/words/get?days=many`);
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { kind: "invalid_params" } }]);
  });

  test("M11: a POST route takes a JSON body, which the arguments of the route override", async () => {
    const { url } = await serve({
      rest: { routes: { "POST /words/post": { tool: "say", arguments: { loud: true } } } },
    });
    expect(await (await post(`${url}/words/post`, { text: "a", loud: false })).json()).toEqual({
      text: "a",
      loud: true,
    });
    expect((await fetch(`${url}/words/post`)).status).toBe(405);
  });

  test("S15: answers 404 on a route to a caller without the right to its tool", async () => {
    const rest = {
      routes: { "GET /say": "words.say", "GET /none": "words.nothing" },
    };
    const tokens = {
      narrow: { token: "narrow", deny: ["words.say"] },
      other: { token: "other", allow: ["words.text"] },
    };
    const { url } = await serve({ http: { tokens }, rest });
    for (const token of ["narrow", "other"]) {
      const ask = async (method: string, path: string): Promise<unknown> => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const response = await fetch(`${url}${path}`, { method, headers, ...(method === "POST" && { body: "{}" }) });
        const { date: _, ...rest } = Object.fromEntries(response.headers);
        return [response.status, rest, await response.text()];
      };
      expect(await ask("GET", "/say?text=a")).toEqual(await ask("GET", "/nowhere?text=a"));
      expect(await ask("GET", "/none?text=a")).toEqual(await ask("GET", "/nowhere?text=a"));
    }
  });

  test("answers 404 on a route to a tool that does not exist", async () => {
    const { url } = await serve({ rest: { routes: { "GET /none": "nobody.has_it" } } });
    expect((await fetch(`${url}/none?a=1`)).status).toBe(404);
  });
});

describe("chat", () => {
  const turns: ChatTurn[] = [];
  const chat: Chat = {
    reply: (turn) => {
      turns.push(turn);
      turn.onEvent?.({ type: "text", text: "It " });
      if (turn.message === "fail") return Promise.reject(new FailError(fail("unavailable", "The key is missing.")));
      return Promise.resolve({
        text: "It rains.",
        stopReason: "final",
        steps: [],
        usage: { totalTokens: 3 },
        history: [{ role: "user" }],
      });
    },
  };

  test("M11: POST /api/chat and a route to it return the agent's reply", async () => {
    const { url } = await serve({ chat, rest: { routes: { "POST /chat": { chat: true } } } });
    for (const path of ["/api/chat", "/chat"]) {
      const response = await post(`${url}${path}`, {
        message: "Weather?",
        history: [{ role: "user" }],
        max_iterations: 3,
      });
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { text: "It rains.", stopReason: "final", history: [{ role: "user" }] },
      ]);
      expect(turns.at(-1)).toMatchObject({
        message: "Weather?",
        history: [{ role: "user" }],
        maxIterations: 3,
        principal: LOCAL_PRINCIPAL,
      });
    }
  });

  test("sends events as they happen, and the reply last", async () => {
    const { url } = await serve({ chat });
    const response = await post(`${url}/api/chat`, { message: "Weather?" }, { accept: "text/event-stream" });
    const events = (await response.text())
      .trim()
      .split("\n\n")
      .map((event) => event.split("\n"));
    expect(events).toEqual([
      ["event: text", 'data: {"text":"It "}'],
      ["event: reply", expect.stringContaining('"It rains."')],
    ]);
  });

  test.each([
    ["no message", {}, 400],
    ["a message that is no text", { message: 1 }, 400],
    ["a history that is none", { message: "a", history: "b" }, 400],
    ["no iterations", { message: "a", max_iterations: 0 }, 400],
    ["an agent that cannot begin", { message: "fail" }, 503],
  ])("refuses %s", async (_what, body, status) => {
    const { url } = await serve({ chat });
    const response = await post(`${url}/api/chat`, body);
    expect([response.status, await response.json()]).toEqual([
      status,
      { error: expect.objectContaining({ kind: status === 400 ? "invalid_params" : "unavailable" }) },
    ]);
  });

  test("answers with the reason if no agent is available", async () => {
    const { url } = await serve();
    expect(await (await post(`${url}/api/chat`, { message: "a" })).json()).toMatchObject({
      error: { kind: "unavailable", retryable: false },
    });
  });
});

describe("OpenAPI description", () => {
  const rest = { routes: { "GET /words/get": "words.say", "POST /chat": { chat: true } } };

  test("M11: /openapi.json is valid, contains what the caller may use, and names the address and token", async () => {
    const { url } = await serve({ http: { base_path: "/yard" }, rest });
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      servers: unknown;
      paths: Record<string, unknown>;
    };
    expect((await new Validator().validate(structuredClone(document))).valid).toBe(true);
    expect(document.servers).toEqual([{ url }]);
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(["/api/tools/words_say", "/words/get", "/health"]),
    );
    const discovery = (await (await fetch(`${url}/openapi.json?tool_mode=discovery`)).json()) as typeof document;
    expect(Object.keys(discovery.paths)).not.toContain("/api/tools/words_say");
    expect(Object.keys(discovery.paths)).toContain("/api/tools/tool_search");
  });

  test("shows a token with narrow rights only its own tools and routes", async () => {
    const { url } = await serve({ http: { tokens: { narrow: { token: "narrow", deny: ["words.say"] } } }, rest });
    expect((await fetch(`${url}/openapi.json`)).status).toBe(401);
    const text = await (await fetch(`${url}/openapi.json`, { headers: { authorization: "Bearer narrow" } })).text();
    expect(text).not.toContain("/words/get");
    expect(text).not.toMatch(/words[._]say/);
    expect(text).toContain("words_text");
  });

  test("/docs has a strict content security policy; `openapi = false` removes it and /openapi.json", async () => {
    const { url } = await serve({ rest });
    const response = await fetch(`${url}/docs`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    });
    expect(await response.text()).toContain("/api/tools/words_say");
    const off = await serve({ rest: { openapi: false } });
    for (const path of ["/docs", "/openapi.json"]) expect((await fetch(`${off.url}${path}`)).status).toBe(404);
  });
});
