import { LOCAL_PRINCIPAL, type Principal } from "../../../core/calls/call.ts";
import { rightsWithin } from "../../../core/ports/rights.ts";
import type { SessionRecord } from "../../../state/ports/session-records.ts";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createTestDeps, type EndpointSettings } from "../../../../../../test/fixtures/mcp-endpoint.ts";
import { createGate, HubStandIn, text } from "../../../../../../test/fixtures/hub-stand-in.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { ok } from "../../../core/calls/outcome.ts";
import type { Outlet } from "./outlet.ts";
import { LegacySession } from "./session.ts";

type Message = JsonObject & {
  id?: unknown;
  method?: string;
  result?: JsonObject;
  error?: { code: number; message: string; data?: JsonObject };
  params?: JsonObject;
};

const SILENT_OUTLET: Outlet = { isShared: false, reply: () => {}, note: () => {} } as unknown as Outlet;

/** Session that records every message in the order of sending. */
class TestClient implements Outlet {
  readonly hub: HubStandIn;
  readonly session: LegacySession;
  readonly sent: Message[] = [];
  readonly isShared = false;
  reachable = true;
  #waiting: { matches(message: Message): boolean; resolve(message: Message): void }[] = [];

  constructor(settings: EndpointSettings = {}, hub = new HubStandIn()) {
    this.hub = hub;
    this.session = new LegacySession(createTestDeps(hub, settings), {
      connection: "c1",
      endpoint: "mcp-test",
      principal: LOCAL_PRINCIPAL,
      outlet: this,
    });
  }

  reply(line: string): void {
    this.#record(JSON.parse(line) as Message);
  }

  note(line: string): void {
    this.#record(JSON.parse(line) as Message);
  }

  receive(message: unknown): Promise<void> {
    return this.session.receive(message, { outlet: this });
  }

  async request(
    method: string,
    params?: unknown,
    id: unknown = `r${this.sent.length}-${Math.random()}`,
  ): Promise<Message> {
    await this.receive({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    return this.sent.filter((message) => message.id === id && !message.method).at(-1) ?? {};
  }

  tool(name: string, args: JsonObject = {}, meta?: JsonObject): Promise<Message> {
    return this.request("tools/call", { name, arguments: args, ...(meta ? { _meta: meta } : {}) });
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.receive({ jsonrpc: "2.0", method, ...(params ? { params } : {}) });
  }

  async open(protocolVersion = "2025-11-25", capabilities: JsonObject = {}, more: JsonObject = {}): Promise<Message> {
    const answer = await this.request("initialize", {
      protocolVersion,
      capabilities,
      clientInfo: { name: "t", version: "1" },
      ...more,
    });
    await this.notify("notifications/initialized");
    return answer;
  }

  /** Returns the next message with that method, sent already or in the future. */
  next(method: string): Promise<Message> {
    const matches = (message: Message): boolean => message.method === method;
    const known = this.sent.find(matches);
    if (known) return Promise.resolve(known);
    return new Promise((resolve) => this.#waiting.push({ matches, resolve }));
  }

  of(method: string): Message[] {
    return this.sent.filter((message) => message.method === method);
  }

  #record(message: Message): void {
    this.sent.push(message);
    for (const waiting of this.#waiting.filter(({ matches }) => matches(message))) waiting.resolve(message);
  }
}

async function openClient(
  settings: EndpointSettings = {},
  version?: string,
  capabilities?: JsonObject,
): Promise<TestClient> {
  const client = new TestClient(settings);
  await client.open(version, capabilities);
  return client;
}

afterEach(() => {
  vi.useRealTimers();
});

describe("the handshake", () => {
  test.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"])(
    "C2: echoes %s",
    async (version) => {
      expect((await new TestClient().open(version)).result).toMatchObject({
        protocolVersion: version,
        serverInfo: { name: "stand-in", version: "1.2.3" },
      });
    },
  );

  test.each(["2026-07-28", "1999-01-01", "nonsense"])(
    "C2: answers %s with the latest supported revision",
    async (version) => {
      expect((await new TestClient().open(version)).result).toMatchObject({ protocolVersion: "2025-11-25" });
    },
  );

  test("returns the capabilities and instructions of the hub", async () => {
    expect((await new TestClient().open()).result).toMatchObject({
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
      instructions: "Use echo.",
    });
  });

  test("adds the capabilities declared by the sources' servers without changing the hub's own", async () => {
    const client = new TestClient();
    client.hub.lists = { ...client.hub.lists, resources: [], templates: [], prompts: [] };
    client.hub.serverFacts = {
      name: "bare",
      version: "1",
      title: "Bare",
      features: { completions: false, subscribe: false, logging: false },
      about: { title: "One", icons: [{ src: "https://example.test/i.png" }] },
      capabilities: JSON.parse(
        '{"tools":{"listChanged":false,"x":1},"prompts":{},"logging":{},"completions":{},"extensions":{"x/y":{}},"x-own":1,"__proto__":{"a":1}}',
      ) as JsonObject,
    };
    const { result } = await client.open();
    expect(result?.["serverInfo"]).toEqual({
      name: "bare",
      version: "1",
      title: "One",
      icons: [{ src: "https://example.test/i.png" }],
    });
    expect(JSON.stringify(result?.["capabilities"])).toBe(
      '{"tools":{"x":1,"listChanged":true},"prompts":{"listChanged":true},"extensions":{"x/y":{}},"x-own":1,"__proto__":{"a":1}}',
    );
  });

  test("advertises a list that a server declares but has no entries of yet, and reports the first entry", async () => {
    const client = new TestClient();
    client.hub.lists = { ...client.hub.lists, prompts: [] };
    client.hub.serverFacts = { ...client.hub.serverFacts, capabilities: { prompts: {} } };
    await client.open();
    client.hub.lists = { ...client.hub.lists, prompts: [{ name: "late" }] };
    client.hub.announce("prompts");
    expect(await client.next("notifications/prompts/list_changed")).toBeDefined();
  });

  test("does not advertise a feature that no source offers", async () => {
    const client = new TestClient();
    client.hub.lists = { ...client.hub.lists, resources: [], templates: [], prompts: [] };
    client.hub.serverFacts = {
      name: "bare",
      version: "1",
      features: { completions: false, subscribe: false, logging: false },
    };
    const { result } = await client.open();
    expect(result).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "bare", version: "1" },
    });
  });

  test("advertises all that a starting source may offer, because clients read capabilities once", async () => {
    const client = new TestClient();
    client.hub.lists = { ...client.hub.lists, resources: [], templates: [], prompts: [] };
    client.hub.serverFacts = {
      name: "bare",
      version: "1",
      features: { completions: false, subscribe: false, logging: false },
    };
    const source = { id: "late", kind: "stdio" as const, namespace: "late", order: 0 };
    client.hub.sourceReports = [
      { source, status: { state: "starting" }, tools: 0, resources: 0, prompts: 0, problems: [] },
    ];
    const { result } = await client.open();
    expect(result).toMatchObject({
      capabilities: { resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
    });
  });

  test.each([
    ["no version", {}],
    ["a version that is no string", { protocolVersion: 7 }],
    ["capabilities that are no object", { protocolVersion: "2025-11-25", capabilities: [] }],
    ["a clientInfo that is no object", { protocolVersion: "2025-11-25", clientInfo: "me" }],
  ])("refuses initialize with %s with -32602", async (_, params) => {
    expect((await new TestClient().request("initialize", params)).error?.code).toBe(-32602);
  });

  test("R8: serves a client that sends all its messages without waiting", async () => {
    const client = new TestClient();
    const opened = client.request("initialize", { protocolVersion: "2024-11-05", capabilities: {} }, 0);
    const told = client.notify("notifications/initialized");
    const listed = client.request("tools/list", undefined, 1);
    await Promise.all([opened, told, listed]);
    client.hub.lists.tools.push({ name: "new", inputSchema: { type: "object" } });
    client.hub.announce("tools");
    await client.next("notifications/tools/list_changed");
    expect((await listed).result?.["tools"]).toBeDefined();
  });

  test("answers ping before initialize", async () => {
    expect((await new TestClient().request("ping")).result).toEqual({});
  });
});

describe("ids and messages", () => {
  test.each([0, "0", "", -5, "a b"])("C46: returns the id %j unchanged", async (id) => {
    const client = await openClient();
    await client.request("ping", {}, id);
    expect(client.sent.at(-1)).toEqual({ jsonrpc: "2.0", id, result: {} });
  });

  test("C46: refuses the id of a running request with -32600; the same id as a string is a different id", async () => {
    const client = await openClient();
    const first = client.request("tools/call", { name: "slow" }, 5);
    await client.request("ping", {}, "5");
    await client.request("ping", {}, 5);
    expect(client.sent.slice(-2)).toMatchObject([
      { id: "5", result: {} },
      { id: 5, error: { code: -32600 } },
    ]);
    client.hub.gate.open();
    expect((await first).result).toEqual(text("done"));
  });

  test.each([
    ["a string", "hello", null],
    ["null", null, null],
    ["a number", 17, null],
    ["no jsonrpc member", { id: 3, method: "ping" }, 3],
    ["another jsonrpc version", { jsonrpc: "1.0", id: 3, method: "ping" }, 3],
    ["a method that is no string", { jsonrpc: "2.0", id: 3, method: 5 }, 3],
    ["params that are an array", { jsonrpc: "2.0", id: 3, method: "ping", params: [1] }, 3],
    ["an id that is null", { jsonrpc: "2.0", id: null, method: "ping" }, null],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }, null],
    ["neither method nor result", { jsonrpc: "2.0", id: 3 }, null],
    ["a reply without an id", { jsonrpc: "2.0", result: {} }, null],
  ])("G24: refuses %s with -32600", async (_, message, id) => {
    const client = await openClient();
    const before = client.sent.length;
    await client.receive(message);
    expect(client.sent.slice(before)).toEqual([
      { jsonrpc: "2.0", id, error: { code: -32600, message: expect.stringContaining("Invalid Request") } },
    ]);
  });

  test.each([
    ["tools/call", {}],
    ["tools/call", { name: 5 }],
    ["tools/call", { name: "echo", arguments: [] }],
    ["prompts/get", {}],
    ["resources/read", {}],
    ["resources/subscribe", {}],
    ["resources/unsubscribe", { uri: 1 }],
    ["completion/complete", {}],
    ["completion/complete", { ref: { type: "ref/prompt" }, argument: { name: "a", value: "b" } }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "hello" }, argument: { name: "a" } }],
    ["logging/setLevel", { level: "loud" }],
    ["tools/list", { cursor: 4 }],
    ["tools/list", { cursor: "made-up" }],
  ])("refuses %s with %j with -32602", async (method, params) => {
    const client = await openClient();
    expect((await client.request(method, params)).error?.code).toBe(-32602);
  });

  test("refuses an unknown method with -32601", async () => {
    const client = await openClient();
    expect((await client.request("tools/explode")).error).toMatchObject({
      code: -32601,
      message: "Method not found: tools/explode",
    });
  });

  test("C17: never answers notifications, even malformed ones", async () => {
    const client = await openClient();
    const before = client.sent.length;
    for (const method of ["notifications/unknown", "tools/call", "ping", "notifications/cancelled"])
      await client.notify(method);
    expect(client.sent.length).toBe(before);
  });

  test("C16: answers ping while a tool runs; replies may be out of order", async () => {
    const client = await openClient();
    const slow = client.request("tools/call", { name: "slow" }, 1);
    expect((await client.request("ping", {}, 2)).result).toEqual({});
    client.hub.gate.open();
    await slow;
    expect(client.sent.slice(-2).map(({ id }) => id)).toEqual([2, 1]);
  });

  test("refuses concurrent requests over the limit without affecting the others", async () => {
    const client = await openClient({ sessions: { maxInFlight: 2 } });
    const running = [client.tool("slow"), client.tool("slow")];
    expect((await client.tool("echo")).error).toMatchObject({
      code: -32603,
      message: expect.stringContaining("Too many concurrent requests"),
    });
    client.hub.gate.open();
    for (const answer of await Promise.all(running)) expect(answer.result).toEqual(text("done"));
  });
});

describe("shared methods", () => {
  test("returns the lists of the hub", async () => {
    const client = await openClient();
    expect((await client.request("tools/list")).result).toEqual({ tools: client.hub.lists.tools });
    expect((await client.request("resources/list")).result).toEqual({ resources: client.hub.lists.resources });
    expect((await client.request("resources/templates/list")).result).toEqual({
      resourceTemplates: client.hub.lists.templates,
    });
    expect((await client.request("prompts/list")).result).toEqual({ prompts: client.hub.lists.prompts });
  });

  test("passes the caller's `_meta` to calls, without its progress token", async () => {
    const client = await openClient();
    const params = {
      name: "echo",
      arguments: { text: "hi" },
      task: { ttl: 5 },
      _meta: { progressToken: 7, trace: "x" },
    };
    const { result } = await client.request("tools/call", params);
    expect(result).toEqual({ content: [{ type: "text", text: "hi" }], _meta: { seen: { trace: "x" } } });
    expect(client.hub.calls.at(-1)).toMatchObject({
      endpoint: "mcp-test",
      method: "tools/call",
      target: "echo",
      params: { task: { ttl: 5 } },
      client: { connection: "c1", name: "t", version: "1" },
      wants: { progress: true },
      relaysInput: false,
    });
  });

  test("answers resources, prompts and completions", async () => {
    const client = await openClient();
    expect((await client.request("resources/read", { uri: "test://greeting" })).result).toEqual({
      contents: [{ uri: "test://greeting", text: "hello" }],
    });
    expect(
      (await client.request("prompts/get", { name: "hello", arguments: { who: "Ann" } })).result?.["messages"],
    ).toHaveLength(1);
    const completion = {
      ref: { type: "ref/prompt", name: "hello" },
      argument: { name: "who", value: "a" },
      context: { arguments: {} },
    };
    expect((await client.request("completion/complete", completion)).result).toEqual({
      completion: { values: ["alice", "bob"], total: 2, hasMore: false },
    });
    expect(client.hub.calls.at(-1)).toMatchObject({
      method: "completion/complete",
      target: "hello",
      params: completion,
    });
  });

  test("C18: splits lists into pages only if configured, and accepts a cursor only for its own list", async () => {
    const client = await openClient({ pageSize: 3 });
    const names: unknown[] = [];
    let cursor: unknown;
    do {
      const { result } = await client.request("tools/list", cursor === undefined ? {} : { cursor });
      names.push(...(result!["tools"] as JsonObject[]).map(({ name }) => name));
      cursor = result!["nextCursor"];
    } while (cursor !== undefined);
    expect(names).toEqual(client.hub.lists.tools.map(({ name }) => name));
    const first = await client.request("tools/list");
    client.hub.lists.tools = client.hub.lists.tools.slice(1);
    expect((await client.request("tools/list", { cursor: first.result!["nextCursor"] })).error?.code).toBe(-32602);
  });
});

describe("failures", () => {
  const failing = (client: TestClient, failure: JsonObject): Promise<Message> => client.tool("outcome", { failure });

  test("C9: answers an unknown tool with -32602 and similar names", async () => {
    const client = await openClient();
    expect((await client.tool("ecko")).error).toMatchObject({
      code: -32602,
      message: "Unknown tool: ecko. Did you mean echo?",
      data: { near: ["echo"] },
    });
  });

  test("C10: answers an unknown resource with -32002", async () => {
    const client = await openClient();
    const { error } = await client.request("resources/read", { uri: "nope://x" });
    expect(error).toMatchObject({ code: -32002, message: "Resource not found: nope://x", data: { uri: "nope://x" } });
  });

  test("answers an unknown prompt with -32602", async () => {
    const client = await openClient();
    expect((await client.request("prompts/get", { name: "nope" })).error).toMatchObject({
      code: -32602,
      message: "Unknown prompt: nope",
    });
  });

  test("C8: returns a tool's own failure unchanged", async () => {
    const client = await openClient();
    expect((await client.tool("fail", { extra: { a: 1 } })).result).toEqual({
      ...text("it broke"),
      isError: true,
      extra: { a: 1 },
    });
  });

  test.each([
    ["2025-11-25", "result"],
    ["2025-06-18", "error"],
    ["2024-11-05", "error"],
  ])("C37: in %s invalid arguments are a(n) %s", async (version, shape) => {
    const client = await openClient({}, version);
    const { result, error } = await failing(client, {
      kind: "invalid_params",
      message: "/a must be number",
      details: { errors: ["/a"] },
    });
    if (shape === "result")
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: "/a must be number" }],
        _meta: { "toolyard/kind": "invalid_params" },
      });
    else expect(error).toMatchObject({ code: -32602, message: "/a must be number", data: { errors: ["/a"] } });
  });

  test.each(["denied", "too_large", "unavailable", "needs_authorisation", "timeout", "malformed", "cancelled"])(
    "returns %s as a result that names its outcome code",
    async (kind) => {
      const client = await openClient();
      const { result } = await failing(client, { kind, message: "no" });
      expect(result).toEqual({
        content: [{ type: "text", text: "no" }],
        isError: true,
        _meta: { "toolyard/kind": kind },
      });
    },
  );

  test("a `limited` failure names the retry time", async () => {
    const client = await openClient();
    const { result } = await failing(client, { kind: "limited", message: "Too many calls", retryAfterMs: 1500 });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: "Too many calls. Try again in 2 s." }],
      _meta: { "toolyard/retryAfterMs": 1500 },
    });
  });

  test("an `ambiguous` failure lists the candidates", async () => {
    const client = await openClient();
    const { error } = await failing(client, {
      kind: "ambiguous",
      message: "Several tools answer to x",
      details: { candidates: ["a__x", "b__x"] },
    });
    expect(error).toMatchObject({
      code: -32602,
      message: "Several tools answer to x. Candidates: a__x, b__x.",
      data: { candidates: ["a__x", "b__x"] },
    });
  });

  test("returns the protocol error of an upstream with code and data", async () => {
    const client = await openClient();
    const rpcError = { code: -32042, message: "sign in", data: { elicitations: [] } };
    expect((await failing(client, { kind: "needs_authorisation", message: "m", rpcError })).error).toEqual(rpcError);
  });

  test("S13: returns only an error id for an internal error of the hub", async () => {
    const client = await openClient();
    const { error } = await client.tool("throws");
    expect(error).toMatchObject({ code: -32603, data: { "toolyard/kind": "internal", errorId: expect.any(String) } });
    expect(JSON.stringify(error)).not.toContain("secret");
    expect((await failing(client, { kind: "internal", message: "a secret" })).error?.message).not.toContain("secret");
  });

  test("wraps structured content that is not an object, and its schema", async () => {
    const client = new TestClient();
    client.hub.lists.tools.push({
      name: "list",
      inputSchema: { type: "object" },
      outputSchema: { type: "array", items: { $ref: "#/$defs/a" }, $defs: { a: { type: "number" } } },
    });
    client.hub.handlers["list"] = () => ok({ content: [], structuredContent: [1, 2], resultType: "complete" });
    await client.open();
    const tools = (await client.request("tools/list")).result?.["tools"] as JsonObject[];
    expect(tools.at(-1)).toMatchObject({
      outputSchema: {
        type: "object",
        required: ["result"],
        properties: { result: { type: "array", items: { $ref: "#/properties/result/$defs/a" } } },
      },
    });
    expect((await client.tool("list")).result).toEqual({
      content: [{ type: "text", text: "[1,2]" }],
      structuredContent: { result: [1, 2] },
    });
  });
});

describe("running calls", () => {
  test("sends the last progress before the result in each of 200 calls", async () => {
    const client = await openClient();
    for (let round = 0; round < 200; round += 1) {
      const before = client.sent.length;
      await client.tool("progress", { steps: 3 }, { progressToken: `t${round}` });
      const sent = client.sent.slice(before);
      expect(sent.map((message) => message.params?.["progress"] ?? "result")).toEqual([1, 2, 3, "result"]);
      expect(sent[2]?.params).toEqual({ progressToken: `t${round}`, progress: 3, total: 3, message: "step 3" });
    }
  });

  test("sends no progress without a token, nor after the result", async () => {
    const client = await openClient();
    await client.tool("progress");
    await client.tool("progress", {}, { progressToken: 0 });
    const late = client.hub.calls.at(-1)!;
    const before = client.sent.length;
    late.notify({ method: "notifications/progress", params: { progress: 9 } });
    expect(client.sent.length).toBe(before);
    expect(client.of("notifications/progress")).toHaveLength(3);
  });

  test("sends log messages of a server that did not declare logging, as without a hub", async () => {
    const client = new TestClient();
    client.hub.serverFacts = {
      name: "bare",
      version: "1",
      features: { completions: false, subscribe: false, logging: false },
    };
    await client.open();
    await client.tool("log");
    expect(client.of("notifications/message")).toHaveLength(4);
  });

  test("filters log messages by the level of the session", async () => {
    const client = await openClient();
    await client.tool("log");
    expect(client.of("notifications/message").map(({ params }) => params?.["level"])).toEqual([
      "debug",
      "info",
      "warning",
      "error",
    ]);
    expect((await client.request("logging/setLevel", { level: "warning" })).result).toEqual({});
    client.sent.length = 0;
    await client.tool("log");
    client.hub.events.log.emit({ params: { level: "info", data: "no" } });
    client.hub.events.log.emit({ params: { level: "critical", data: "yes" } });
    expect(client.of("notifications/message").map(({ params }) => params?.["level"])).toEqual([
      "warning",
      "error",
      "critical",
    ]);
    expect(client.hub.logLevels.get("c1")).toBe("warning");
  });

  test("aborts a cancelled call without an answer, and its id is free again", async () => {
    const client = await openClient();
    const aborted = createGate();
    client.hub.started.on((call) => call.signal.addEventListener("abort", aborted.open));
    const running = client.request("tools/call", { name: "slow" }, 9);
    await client.notify("notifications/cancelled", { requestId: 9, reason: "bored" });
    await aborted.opened;
    await client.request("ping", {}, 9);
    await running;
    expect(client.sent.filter(({ id }) => id === 9)).toEqual([{ jsonrpc: "2.0", id: 9, result: {} }]);
  });

  test("ignores a cancellation of another id, or of an id of another type", async () => {
    const client = await openClient();
    const running = client.request("tools/call", { name: "slow" }, 9);
    for (const requestId of ["9", 8, null]) await client.notify("notifications/cancelled", { requestId });
    client.hub.gate.open();
    expect((await running).result).toEqual(text("done"));
  });
});

describe("server requests to the client", () => {
  test("sends elicitation to the caller and its answer to the tool, also for several concurrent requests", async () => {
    const client = await openClient({}, "2025-11-25", { elicitation: {} });
    const calls = [client.tool("ask"), client.tool("ask")];
    const asks = client.of("elicitation/create");
    expect(asks).toHaveLength(2);
    for (const { id } of asks.toReversed())
      await client.receive({ jsonrpc: "2.0", id, result: { action: "accept", content: { name: `n${String(id)}` } } });
    const answers = await Promise.all(calls);
    expect(answers.map(({ result }) => JSON.stringify(result))).toEqual(
      asks.map(({ id }) => expect.stringContaining(`n${String(id)}`)),
    );
  });

  test("ignores a reply that matches no request", async () => {
    const client = await openClient();
    const before = client.sent.length;
    await client.receive({ jsonrpc: "2.0", id: 77, result: {} });
    await client.receive({ jsonrpc: "2.0", id: "x", error: { code: 1, message: "m" } });
    expect(client.sent.length).toBe(before);
  });

  test.each([
    ["elicitation", "2025-11-25", {}, { method: "elicitation/create" }],
    ["elicitation before 2025-06-18", "2025-03-26", { elicitation: {} }, { method: "elicitation/create" }],
    ["a URL", "2025-11-25", { elicitation: { form: {} } }, { method: "elicitation/create", params: { mode: "url" } }],
    ["sampling", "2025-11-25", { elicitation: {} }, { method: "sampling/createMessage" }],
    ["roots", "2025-11-25", {}, { method: "roots/list" }],
    ["anything else", "2025-11-25", {}, { method: "tools/list" }],
  ])("does not send %s to a client that did not declare it", async (_, version, capabilities, request) => {
    const client = await openClient({}, version, capabilities);
    const { result } = await client.tool("ask", { request });
    expect(result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "denied" } });
    expect(client.of(request.method)).toHaveLength(0);
  });

  test.each([
    ["sampling/createMessage", { sampling: {} }],
    ["roots/list", { roots: {} }],
    ["elicitation/create", { elicitation: { url: {}, form: {} } }],
  ])("sends %s to a client that declared it", async (method, capabilities) => {
    const client = await openClient({}, "2025-11-25", capabilities);
    const running = client.tool("ask", { request: { method, params: { a: 1 } } });
    const ask = await client.next(method);
    expect(ask.params).toEqual({ a: 1 });
    await client.receive({ jsonrpc: "2.0", id: ask.id, result: { fine: true } });
    expect((await running).result).toEqual(text('{"fine":true}'));
  });

  test("a client that declines with an error causes a failure of the tool, not a protocol error", async () => {
    const client = await openClient({}, "2025-11-25", { sampling: {} });
    const running = client.tool("ask", { request: { method: "sampling/createMessage" } });
    const { id } = await client.next("sampling/createMessage");
    await client.receive({ jsonrpc: "2.0", id, error: { code: -1, message: "User rejected" } });
    expect((await running).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("User rejected") }],
    });
  });

  test("cancels the server request if a client does not answer in time", async () => {
    vi.useFakeTimers();
    const client = await openClient({ sessions: { askTimeoutMs: 1000 } }, "2025-11-25", { elicitation: {} });
    const running = client.tool("ask");
    const { id } = await client.next("elicitation/create");
    await vi.advanceTimersByTimeAsync(1000);
    expect((await running).result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "timeout" } });
    expect(client.of("notifications/cancelled")[0]?.params).toMatchObject({ requestId: id });
  });

  test("withdraws the server request of a cancelled call", async () => {
    const client = await openClient({}, "2025-11-25", { elicitation: {} });
    const running = client.request("tools/call", { name: "ask" }, 4);
    const { id } = await client.next("elicitation/create");
    await client.notify("notifications/cancelled", { requestId: 4 });
    await running;
    expect(client.of("notifications/cancelled")[0]?.params).toMatchObject({ requestId: id });
    expect(client.sent.some((message) => message.id === 4)).toBe(false);
  });

  test("sends no server request if the client cannot receive it", async () => {
    const client = await openClient({}, "2025-11-25", { elicitation: {} });
    client.reachable = false;
    expect((await client.tool("ask")).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("no longer connected") }],
    });
  });
});

describe("views and changes", () => {
  const names = async (client: TestClient): Promise<number> =>
    ((await client.request("tools/list")).result!["tools"] as unknown[]).length;

  test.each([
    [{ "toolyard/toolMode": "discovery" }, "discovery"],
    [{ tool_mode: "DISCOVERY" }, "discovery"],
    [{ tool_mode: "show_all" }, "all"],
    [{ tool_mode: "whatever" }, "normal"],
    [{}, "normal"],
  ])("C32: a session with initialize `_meta` %j sees the tools of mode %s", async (_meta, mode) => {
    const client = new TestClient();
    await client.open("2025-11-25", {}, { _meta });
    await names(client);
    expect(client.hub.views.at(-1)?.mode).toBe(mode);
  });

  test("C30: the mode of a request overrides the session's mode for that request only", async () => {
    const client = await openClient();
    const all = await names(client);
    await client.session.receive(
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
      { outlet: client, mode: "discovery" },
    );
    expect(client.sent.at(-1)?.result?.["tools"]).toHaveLength(1);
    expect(await names(client)).toBe(all);
  });

  test("C33: notifies a session once of a change in its own view, and not of changes in other views", async () => {
    const normal = await openClient();
    const narrow = new TestClient({}, normal.hub);
    await narrow.open("2025-11-25", {}, { _meta: { tool_mode: "discovery" } });
    normal.hub.lists.tools = [...normal.hub.lists.tools, { name: "late", inputSchema: { type: "object" } }];
    normal.hub.announce("tools", "resources");
    await normal.next("notifications/tools/list_changed");
    normal.hub.announce("tools", "prompts", "templates");
    await expect.poll(() => normal.hub.views.length).toBeGreaterThan(12);
    expect(normal.sent.filter(({ method }) => method?.endsWith("list_changed"))).toHaveLength(1);
    expect(narrow.sent.filter(({ method }) => method)).toHaveLength(0);
  });

  test("does not announce a change that the client has seen in a list", async () => {
    const client = await openClient();
    client.hub.lists.tools = client.hub.lists.tools.slice(1);
    await names(client);
    client.hub.lists.prompts = [];
    client.hub.announce("tools", "prompts");
    await client.next("notifications/prompts/list_changed");
    expect(client.of("notifications/tools/list_changed")).toHaveLength(0);
  });

  test("announces nothing before the client sends initialized", async () => {
    const client = new TestClient();
    await client.request("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
    const other = new TestClient({}, client.hub);
    await other.open();
    client.hub.lists.tools = client.hub.lists.tools.slice(1);
    client.hub.announce("tools");
    await other.next("notifications/tools/list_changed");
    expect(client.of("notifications/tools/list_changed")).toHaveLength(0);
  });

  test("sends resource updates to subscribers until they unsubscribe", async () => {
    const client = await openClient();
    const uri = "test://greeting";
    for (let twice = 0; twice < 2; twice += 1)
      expect((await client.request("resources/subscribe", { uri })).result).toEqual({});
    client.hub.events.resourceUpdated.emit({ uri, params: { uri, extra: 1 } });
    client.hub.events.resourceUpdated.emit({ uri: "test://other", params: { uri: "test://other" } });
    expect(client.of("notifications/resources/updated").map(({ params }) => params)).toEqual([{ uri, extra: 1 }]);
    expect(client.hub.subscribed.get(uri)).toBe(1);
    expect((await client.request("resources/unsubscribe", { uri })).result).toEqual({});
    client.hub.events.resourceUpdated.emit({ uri, params: { uri } });
    expect(client.of("notifications/resources/updated")).toHaveLength(1);
    expect(client.hub.subscribed.get(uri)).toBe(0);
  });

  test("refuses a subscription to an unknown resource, and one over the limit", async () => {
    const client = await openClient({ sessions: { maxSubscriptions: 1 } });
    expect((await client.request("resources/subscribe", { uri: "nope://x" })).error?.code).toBe(-32002);
    await client.request("resources/subscribe", { uri: "test://a" });
    expect((await client.request("resources/subscribe", { uri: "test://b" })).error?.code).toBe(-32602);
  });

  test("reports changed roots of the client to the hub", async () => {
    const client = await openClient({}, "2025-11-25", { roots: { listChanged: true } });
    await client.notify("notifications/roots/list_changed");
    expect(client.hub.rootsChangedBy).toEqual(["c1"]);
  });
});

test("a session that ends answers running requests, unsubscribes and is removed", async () => {
  const client = await openClient();
  await client.request("resources/subscribe", { uri: "test://greeting" });
  const running = client.request("tools/call", { name: "slow" }, 3);
  client.session.close();
  await running;
  expect(client.sent.filter(({ id }) => id === 3)).toMatchObject([
    { error: { code: -32603, message: expect.stringContaining("session has ended") } },
  ]);
  await expect.poll(() => client.hub.subscribed.get("test://greeting")).toBe(0);
  expect(client.hub.released).toEqual(["c1"]);
  const before = client.sent.length;
  await client.request("ping");
  expect(client.sent.length).toBe(before);
});

test("stores its record again for a principal with other rights, and not for an equal one", async () => {
  const records: SessionRecord[] = [];
  const principal: Principal = { ...LOCAL_PRINCIPAL, id: "ann" };
  const session = new LegacySession(createTestDeps(new HubStandIn(), {}), {
    connection: "c1",
    endpoint: "mcp-test",
    principal,
    outlet: SILENT_OUTLET,
    onRecord: (record) => void records.push(record),
  });
  const receive = (caller: Principal): Promise<void> =>
    session.receive({ jsonrpc: "2.0", id: 1, method: "ping" }, { outlet: SILENT_OUTLET, principal: caller });
  await receive(principal);
  await receive(JSON.parse(JSON.stringify(principal)) as Principal);
  expect(records).toEqual([]);
  const narrowed: Principal = { ...principal, rights: rightsWithin({ allow: ["echo"] }) };
  await receive(narrowed);
  expect(records.map((record) => record.principal)).toEqual([narrowed]);
});
