import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ok } from "../../../core/calls/outcome.ts";
import type { Call } from "../../../core/calls/call.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { META } from "../../../wire/modern/envelope.ts";
import { text } from "../../../../../../test/fixtures/hub-stand-in.ts";
import { envelope, ModernServer, REVISION, type Settings } from "../../../../../../test/support/modern-server.ts";

let server: ModernServer;

beforeEach(async () => {
  server = await ModernServer.start();
});

afterEach(() => server[Symbol.asyncDispose]());

async function restart(settings: Settings): Promise<void> {
  await server[Symbol.asyncDispose]();
  server = await ModernServer.start(settings);
}

const identity = { [META.serverInfo]: { name: "stand-in", version: "1.2.3" } };
const result = (answer: { last: JsonObject }): JsonObject => answer.last["result"] as JsonObject;

describe("discovery and lists", () => {
  test("C2: server/discover returns versions, capabilities, instructions and the server identity", async () => {
    const answer = await server.ask("server/discover");
    expect(answer.status).toBe(200);
    expect(result(answer)).toEqual({
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "public",
      supportedVersions: ["2026-07-28"],
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
      instructions: "Use echo.",
      _meta: identity,
    });
  });

  test("server/discover includes the server info of the only source; other results do not", async () => {
    server.hub.serverFacts = {
      ...server.hub.serverFacts,
      about: { title: "One", websiteUrl: "https://example.test" },
      capabilities: { extensions: { "x/y": {} } },
    };
    const discovered = result(await server.ask("server/discover"));
    expect(discovered["_meta"]).toEqual({
      [META.serverInfo]: { name: "stand-in", version: "1.2.3", title: "One", websiteUrl: "https://example.test" },
    });
    expect(discovered["capabilities"]).toMatchObject({ tools: { listChanged: true }, extensions: { "x/y": {} } });
    expect(result(await server.ask("tools/list"))["_meta"]).toEqual(identity);
  });

  test.each([
    ["tools/list", "tools"],
    ["resources/list", "resources"],
    ["resources/templates/list", "resourceTemplates"],
    ["prompts/list", "prompts"],
  ])("C33: %s forbids caching and identifies the server", async (method, member) => {
    const answer = await server.ask(method);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(result(answer)).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "public", _meta: identity });
    expect(result(answer)[member]).toBeInstanceOf(Array);
  });

  test("keeps unknown members of a tool, and drops `execution` of the legacy era", async () => {
    server.hub.lists.tools = [
      {
        name: "t",
        inputSchema: { type: "object", "x-own": 1 },
        execution: { taskSupport: "optional" },
        future: { a: [1] },
      },
    ];
    expect(result(await server.ask("tools/list"))["tools"]).toEqual([
      { name: "t", inputSchema: { type: "object", "x-own": 1 }, future: { a: [1] } },
    ]);
  });

  test("marks every answer as private if tokens are required", async () => {
    await restart({ http: { token: "secret" } });
    const headers = { authorization: "Bearer secret" };
    expect(result(await server.ask("tools/list", {}, { headers }))["cacheScope"]).toBe("private");
    expect(result(await server.ask("resources/read", { uri: "test://a" }, { headers }))["cacheScope"]).toBe("private");
  });

  test("marks every list as private if the hub has a private source", async () => {
    server.hub.isPrivate = true;
    server.hub.lists.tools = [{ name: "t", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } }];
    expect([
      result(await server.ask("tools/list"))["cacheScope"],
      result(await server.ask("prompts/list"))["cacheScope"],
    ]).toEqual(["private", "private"]);
  });

  test("splits pages by the configured size", async () => {
    await restart({ endpoint: { page_size: 2 } });
    server.hub.lists.prompts = [{ name: "a" }, { name: "b" }, { name: "c" }];
    const first = result(await server.ask("prompts/list"));
    expect(first).toMatchObject({ prompts: [{ name: "a" }, { name: "b" }], resultType: "complete" });
    const second = result(await server.ask("prompts/list", { cursor: first["nextCursor"] }));
    expect(second["prompts"]).toEqual([{ name: "c" }]);
    expect(second).not.toHaveProperty("nextCursor");
  });
});

describe("tool modes", () => {
  test.each([
    [{}, "", "normal"],
    [{ "x-mcp-tool-mode": "DISCOVERY" }, "", "discovery"],
    [{ "x-mcp-tool-mode": "show_all" }, "", "all"],
    [{ "x-mcp-tool-mode": "whatever" }, "", "normal"],
    [{ "x-mcp-show-all": "true" }, "", "all"],
    [{}, "?tool_mode=discovery", "discovery"],
    [{}, "?tool_mode=Show_All", "all"],
    [{ "x-mcp-tool-mode": "normal" }, "?tool_mode=discovery", "normal"],
  ])("C31: header %j and query %s select %s", async (headers, query, mode) => {
    await server.ask("tools/list", {}, { headers: headers as Record<string, string>, query });
    expect(server.hub.views.at(-1)?.mode).toBe(mode);
  });

  test("C30: a mode applies only to the request that selects it", async () => {
    const inMode = result(await server.ask("tools/list", {}, { headers: { "x-mcp-tool-mode": "discovery" } }));
    const after = result(await server.ask("tools/list"));
    expect([inMode["cacheScope"], (inMode["tools"] as unknown[]).length]).toEqual(["private", 1]);
    expect([after["cacheScope"], (after["tools"] as unknown[]).length > 1]).toEqual(["public", true]);
  });

  test("C30: applies the server's default if no mode is selected", async () => {
    await restart({ endpoint: { tool_mode: "discovery" } });
    await server.ask("tools/list");
    expect(server.hub.views.at(-1)?.mode).toBe("discovery");
  });
});

describe("calls", () => {
  test("answers a quick call with plain JSON and its result unchanged", async () => {
    server.hub.handlers["rich"] = () =>
      ok({ content: [{ type: "hologram", data: 1 }], structuredContent: [1, 2], future: true, _meta: { own: 1 } });
    const answer = await server.ask("tools/call", { name: "rich" });
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(result(answer)).toEqual({
      content: [{ type: "hologram", data: 1 }],
      structuredContent: [1, 2],
      future: true,
      resultType: "complete",
      _meta: { own: 1, ...identity },
    });
  });

  test("passes the caller, its capabilities, and its `_meta` without the envelope to the call", async () => {
    const options = { capabilities: { sampling: {} }, meta: { progressToken: 5, trace: "x" }, logLevel: "info" };
    await server.ask("tools/call", { name: "echo", arguments: { text: "hi" }, extra: 1 }, options);
    expect(server.hub.calls[0]).toMatchObject({
      endpoint: "mcp-http",
      method: "tools/call",
      target: "echo",
      params: { extra: 1 },
      arguments: { text: "hi" },
      client: { name: "tester", version: "9", capabilities: { sampling: {} } },
      wants: { progress: true, logLevel: "info" },
      relaysInput: true,
      principal: LOCAL_PRINCIPAL,
    });
    expect(server.hub.calls[0]!.meta).toEqual({ trace: "x" });
    expect(server.hub.calls[0]!.client).not.toHaveProperty("connection");
  });

  test.each([0, "", "abc", 1.5])("C46: returns the id %j unchanged", async (id) => {
    expect((await server.ask("tools/call", { name: "echo", arguments: {} }, { id })).last["id"]).toBe(id);
  });

  test("sends progress, including the last, before the result on a stream", async () => {
    const answer = await server.ask(
      "tools/call",
      { name: "progress", arguments: { steps: 3 } },
      { meta: { progressToken: "p" } },
    );
    expect(answer.headers).toMatchObject({ "content-type": "text/event-stream", "x-accel-buffering": "no" });
    expect(
      answer.messages.map(({ method, params }) => [
        method,
        (params as JsonObject | undefined)?.["progress"],
        (params as JsonObject | undefined)?.["progressToken"],
      ]),
    ).toEqual([
      ["notifications/progress", 1, "p"],
      ["notifications/progress", 2, "p"],
      ["notifications/progress", 3, "p"],
      [undefined, undefined, undefined],
    ]);
  });

  test("sends no progress without a token", async () => {
    const answer = await server.ask("tools/call", { name: "progress" });
    expect(answer.messages).toHaveLength(1);
    expect(answer.headers["content-type"]).toBe("application/json");
  });

  test("sends log messages from the requested level on, and none without a level", async () => {
    const levels = (messages: readonly JsonObject[]): unknown[] =>
      messages.slice(0, -1).map(({ params }) => (params as JsonObject)["level"]);
    expect(levels((await server.ask("tools/call", { name: "log" }, { logLevel: "warning" })).messages)).toEqual([
      "warning",
      "error",
    ]);
    expect((await server.ask("tools/call", { name: "log" })).messages).toHaveLength(1);
  });

  test("sends only the answer, as JSON, to a caller that accepts no stream", async () => {
    const answer = await server.ask(
      "tools/call",
      { name: "progress" },
      { meta: { progressToken: 1 }, headers: { accept: "application/json" } },
    );
    expect([answer.headers["content-type"], answer.messages.length]).toEqual(["application/json", 1]);
  });

  test("cancels the call if the connection closes before an answer", async () => {
    const started = new Promise<Call>((resolve) => server.hub.started.on(resolve));
    const caller = new AbortController();
    const params = { name: "slow", _meta: envelope() };
    const headers = {
      "content-type": "application/json",
      "mcp-protocol-version": REVISION,
      "mcp-method": "tools/call",
      "mcp-name": "slow",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const answer = fetch(server.url, { method: "POST", headers, body, signal: caller.signal });
    const { signal } = await started;
    const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
    caller.abort();
    await expect(answer).rejects.toThrow(/abort/);
    await aborted;
    expect(signal.aborted).toBe(true);
  });

  test("cancels the call if the stream closes after a first event", async () => {
    server.hub.handlers["talk"] = async (call, hub) => {
      call.notify({ method: "notifications/progress", params: { progress: 1 } });
      return hub.handlers["slow"]!(call, hub);
    };
    const started = new Promise<Call>((resolve) => server.hub.started.on(resolve));
    const stream = await server.open("tools/call", { name: "talk" }, { meta: { progressToken: 1 } });
    await stream.count(1);
    const call = await started;
    const aborted = new Promise<void>((resolve) => call.signal.addEventListener("abort", () => resolve()));
    stream.drop();
    await aborted;
    expect(call.signal.aborted).toBe(true);
  });

  test("C36: returns a tool's own failure unchanged, with this era's members", async () => {
    const answer = await server.ask("tools/call", { name: "fail", arguments: { extra: 1 } });
    expect(result(answer)).toEqual({
      content: [{ type: "text", text: "it broke" }],
      isError: true,
      extra: 1,
      resultType: "complete",
      _meta: identity,
    });
  });

  test.each([
    [{ kind: "unknown_tool", message: "x" }, 200, -32602],
    [{ kind: "internal", message: "x" }, 200, -32603],
    [{ kind: "tool_error", message: "x", rpcError: { code: -32002, message: "gone" } }, 200, -32602],
    [{ kind: "tool_error", message: "x", rpcError: { code: -32020, message: "their hop" } }, 200, -32603],
    [{ kind: "tool_error", message: "x", rpcError: { code: -32601, message: "not there" } }, 200, -32601],
    [
      {
        kind: "tool_error",
        message: "x",
        rpcError: { code: -32021, message: "m", data: { requiredCapabilities: { sampling: {} } } },
      },
      400,
      -32021,
    ],
  ])("answers %j with status %d and code %d", async (failure, status, code) => {
    const answer = await server.ask("tools/call", { name: "outcome", arguments: { failure } });
    expect([answer.status, (answer.last["error"] as JsonObject)["code"]]).toEqual([status, code]);
  });

  test("C37: returns arguments that do not match the schema as a result that a model can read", async () => {
    const answer = await server.ask("tools/call", {
      name: "outcome",
      arguments: { failure: { kind: "invalid_params", message: "`a` must be a number" } },
    });
    expect(result(answer)).toMatchObject({
      isError: true,
      content: [{ text: "`a` must be a number" }],
      _meta: { "toolyard/kind": "invalid_params", ...identity },
    });
  });

  test("C9: answers an unknown tool with -32602 and similar names", async () => {
    const answer = await server.ask("tools/call", { name: "ecko" });
    expect(answer.last["error"]).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/Unknown tool: ecko.*echo/),
    });
  });

  test("C10: answers an unknown resource with -32602 and its URI", async () => {
    const answer = await server.ask("resources/read", { uri: "nowhere://x" });
    expect(answer.last["error"]).toMatchObject({ code: -32602, data: { uri: "nowhere://x" } });
  });

  test("a resource has the cache lifetime that its source allows", async () => {
    expect(result(await server.ask("resources/read", { uri: "test://a" }))).toMatchObject({
      ttlMs: 0,
      cacheScope: "public",
      resultType: "complete",
    });
    server.hub.call = async () => ok({ contents: [], ttlMs: 5000, cacheScope: "private" });
    expect(result(await server.ask("resources/read", { uri: "test://a" }))).toMatchObject({
      ttlMs: 5000,
      cacheScope: "private",
    });
  });

  test("answers prompts and completion requests", async () => {
    expect(result(await server.ask("prompts/get", { name: "hello", arguments: { who: "you" } }))).toMatchObject({
      messages: [{ content: { text: "Hello you" } }],
      resultType: "complete",
    });
    const params = { ref: { type: "ref/prompt", name: "hello" }, argument: { name: "who", value: "a" } };
    expect(result(await server.ask("completion/complete", params))).toMatchObject({
      completion: { values: ["alice", "bob"] },
      resultType: "complete",
    });
  });

  test("S13: answers an internal error of the hub with -32603, an error id and no detail", async () => {
    const answer = await server.ask("tools/call", { name: "throws" });
    expect(answer.last["error"]).toMatchObject({ code: -32603, data: { errorId: expect.any(String) } });
    expect(answer.text).not.toContain("secret");
  });

  test("answers 500 while the hub cannot read its server info, and recovers", async () => {
    const { facts } = server.hub;
    server.hub.facts = () => Promise.reject(new Error("secret"));
    const answer = await server.ask("tools/list");
    expect([answer.status, (answer.last["error"] as JsonObject)["code"], answer.text.includes("secret")]).toEqual([
      500,
      -32603,
      false,
    ]);
    server.hub.facts = facts;
    expect((await server.ask("tools/list")).status).toBe(200);
  });

  test("gives each of a hundred concurrent calls its own answer", async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        server.ask("tools/call", { name: "echo", arguments: { text: `t${at}` } }, { id: at }),
      ),
    );
    expect(answers.map((answer) => (result(answer)["content"] as JsonObject[])[0]!["text"])).toEqual(
      answers.map((_, at) => `t${at}`),
    );
  });
});

describe("parameters in headers", () => {
  const schema = {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      size: { type: "integer", "x-mcp-header": "Size" },
    },
  };
  const call = (args: JsonObject, headers: Record<string, string>) =>
    server.ask("tools/call", { name: "headed", arguments: args }, { headers });

  beforeEach(() => {
    server.hub.handlers["headed"] = () => ok(text("fine"));
    server.hub.lists.tools = [{ name: "headed", inputSchema: schema }];
  });

  test.each<[JsonObject, Record<string, string>]>([
    [{ region: "eu" }, { "mcp-param-region": "eu" }],
    [{ region: "Zürich" }, { "mcp-param-region": "=?base64?WsO8cmljaA==?=" }],
    [{ size: 42 }, { "mcp-param-size": "42.0" }],
    [{}, { "mcp-param-region": "ignored" }],
    [{ region: null }, {}],
  ])("serves arguments %j with headers %j", async (args, headers) => {
    expect((await call(args, headers)).status).toBe(200);
  });

  test.each<[JsonObject, Record<string, string>]>([
    [{ region: "eu" }, {}],
    [{ region: "eu" }, { "mcp-param-region": "us" }],
    [{ region: "eu" }, { "mcp-param-region": "=?base64?!!?=" }],
    [{ size: 42 }, { "mcp-param-size": "43" }],
  ])("answers arguments %j with headers %j with -32020", async (args, headers) => {
    const answer = await call(args, headers);
    expect([answer.status, (answer.last["error"] as JsonObject)["code"]]).toEqual([400, -32020]);
    expect(server.hub.calls).toHaveLength(0);
  });

  test("compares headers with the current schema after a list changed", async () => {
    expect((await call({ other: "x" }, {})).status).toBe(200);
    server.hub.lists.tools = [
      {
        name: "headed",
        inputSchema: { type: "object", properties: { other: { type: "string", "x-mcp-header": "Other" } } },
      },
    ];
    server.hub.announce("tools");
    expect((await call({ other: "x" }, {})).status).toBe(400);
  });

  test("requests no list for calls while nothing changes", async () => {
    await call({}, {});
    const asked = server.hub.views.length;
    await call({}, {});
    expect(server.hub.views.length - asked).toBe(1);
  });
});
