import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import { once } from "node:events";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createGate, text } from "../../../../../../test/fixtures/hub-stand-in.ts";
import { REFUSED_BODIES, REFUSED_HEADERS } from "../../../../../../test/support/malformed.ts";
import {
  startTestEndpoint,
  type EndpointSettings,
  type TestEndpoint,
} from "../../../../../../test/fixtures/mcp-endpoint.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { SseDecoder, type SseEvent } from "../../../wire/sse.ts";

let endpoint: TestEndpoint;
const open: { destroy(): void }[] = [];
const endpoints: TestEndpoint[] = [];

async function start(settings?: EndpointSettings): Promise<TestEndpoint> {
  const started = await startTestEndpoint(settings);
  endpoints.push(started);
  return started;
}

beforeEach(async () => {
  endpoint = await start();
});

afterEach(async () => {
  for (const stream of open.splice(0)) stream.destroy();
  await Promise.all(endpoints.splice(0).map((started) => started.close()));
});

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

interface TestRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly path?: string;
  readonly to?: TestEndpoint;
}

interface OpenExchange {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

async function begin({
  method = "POST",
  headers = {},
  body,
  path = "/mcp",
  to = endpoint,
}: TestRequest): Promise<OpenExchange> {
  const request = httpRequest(`${to.url}${path}`, {
    method,
    headers: { ...(method === "POST" ? JSON_HEADERS : {}), ...headers },
    agent: false,
  });
  request.on("error", () => {});
  open.push(request);
  request.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { request, response };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly json: JsonObject & { error: { code: number; message: string }; result: JsonObject };
}

async function send(sent: TestRequest): Promise<Answer> {
  const { response } = await begin(sent);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const isJson = response.headers["content-type"]?.includes("json") ?? false;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: body,
    json: (isJson ? JSON.parse(body) : {}) as Answer["json"],
  };
}

/** Collects the events of a stream in order, even if no test step waits for them. */
class Events {
  readonly all: SseEvent[] = [];
  readonly request: ClientRequest;
  readonly ended: Promise<unknown>;
  retryMs: number | undefined;
  #wake = createGate();

  constructor({ request, response }: OpenExchange) {
    this.request = request;
    const decoder = new SseDecoder(1e7, {
      onEvent: (event) => {
        this.all.push(event);
        this.#wake.open();
      },
      onRetry: (delayMs) => {
        this.retryMs = delayMs;
      },
    });
    response.on("data", (chunk: Buffer) => decoder.push(chunk));
    response.on("error", () => {});
    this.ended = new Promise((resolve) => response.once("close", resolve));
  }

  /** Messages received so far. Priming events have no data. */
  get messages(): JsonObject[] {
    return this.all.filter(({ data }) => data !== "").map(({ data }) => JSON.parse(data) as JsonObject);
  }

  async until(matches: (message: JsonObject) => boolean): Promise<JsonObject> {
    for (;;) {
      const found = this.messages.find(matches);
      if (found) return found;
      this.#wake = createGate();
      await this.#wake.opened;
    }
  }

  drop(): void {
    this.request.destroy();
  }
}

const rpc = (id: unknown, method: string, params?: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params ? { params } : {}),
});
const notification = (method: string, params?: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  method,
  ...(params ? { params } : {}),
});
const initialize = (version = "2025-11-25", capabilities: JsonObject = {}): JsonObject =>
  rpc(0, "initialize", { protocolVersion: version, capabilities, clientInfo: { name: "t", version: "1" } });

async function openSession(
  version?: string,
  capabilities?: JsonObject,
  more: TestRequest = {},
): Promise<Record<string, string>> {
  const answer = await send({ ...more, body: initialize(version, capabilities) });
  const headers = { ...more.headers, "mcp-session-id": answer.headers["mcp-session-id"] as string };
  await send({ ...more, headers, body: notification("notifications/initialized") });
  return headers;
}

const callTool = (id: unknown, name: string, args: JsonObject = {}, meta?: JsonObject): JsonObject =>
  rpc(id, "tools/call", { name, arguments: args, ...(meta ? { _meta: meta } : {}) });

async function stream(sent: TestRequest): Promise<Events> {
  const opened = await begin(sent);
  expect(opened.response.headers["content-type"]).toBe("text/event-stream");
  return new Events(opened);
}

const listen = (headers: Record<string, string>, lastEventId?: string): Promise<Events> =>
  stream({
    method: "GET",
    headers: {
      ...headers,
      accept: "text/event-stream",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
  });

describe("sessions", () => {
  test("S17: initialize returns a random session id of 128 bits", async () => {
    const first = await send({ body: initialize() });
    const second = await send({ body: initialize() });
    expect(first.status).toBe(200);
    expect(first.headers["content-type"]).toBe("application/json");
    expect(first.json.result).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { name: "stand-in" } });
    expect(first.headers["mcp-session-id"]).toMatch(/^[0-9a-f]{32}$/);
    expect(second.headers["mcp-session-id"]).not.toBe(first.headers["mcp-session-id"]);
  });

  test.each(["POST", "GET", "DELETE"])("S17: answers 404 to %s with an unknown session id", async (method) => {
    const answer = await send({
      method,
      headers: { "mcp-session-id": "nope", accept: "application/json, text/event-stream" },
      ...(method === "POST" ? { body: rpc(1, "ping") } : {}),
    });
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({ jsonrpc: "2.0", error: { code: -32001, message: "Session not found" }, id: null });
  });

  test.each(["POST", "GET", "DELETE"])("answers 400 to %s without a session id", async (method) => {
    const answer = await send({
      method,
      headers: { accept: "application/json, text/event-stream" },
      ...(method === "POST" ? { body: rpc(1, "tools/list") } : {}),
    });
    expect(answer.status).toBe(400);
    expect(answer.json.error).toEqual({
      code: -32000,
      message: expect.stringMatching(/^Bad Request: Mcp-Session-Id header is required\. Send `initialize` first/),
    });
  });

  test("S17: DELETE ends the session, and its calls' streams end without an answer", async () => {
    const headers = await openSession();
    const started = createGate();
    endpoint.hub.started.on(started.open);
    const running = send({ headers, body: callTool(1, "slow") });
    await started.opened;
    expect((await send({ method: "DELETE", headers })).status).toBe(200);
    expect(await running).toMatchObject({ status: 200, text: "" });
    expect(endpoint.hub.calls.at(-1)?.signal.aborted).toBe(true);
    expect((await send({ headers, body: rpc(2, "ping") })).status).toBe(404);
    expect(endpoint.hub.released).toEqual([endpoint.hub.calls.at(-1)?.client.connection]);
    expect(endpoint.hub.released[0]).not.toBe(headers["mcp-session-id"]);
  });

  test("S17: a session belongs to one principal", async () => {
    const guarded = await start({ http: { tokens: { ann: { token: "a-token" }, bob: { token: "b-token" } } } });
    const ann = await openSession(undefined, undefined, { to: guarded, headers: { authorization: "Bearer a-token" } });
    expect((await send({ to: guarded, headers: ann, body: rpc(1, "ping") })).status).toBe(200);
    const bob = { ...ann, authorization: "Bearer b-token" };
    expect((await send({ to: guarded, headers: bob, body: rpc(1, "ping") })).status).toBe(404);
    expect((await send({ to: guarded, method: "DELETE", headers: bob })).status).toBe(404);
    expect((await send({ to: guarded, headers: ann, body: rpc(1, "ping") })).status).toBe(200);
  });

  test("DELETE ends a started stream without an answer and without an event id for reconnecting", async () => {
    const headers = await openSession("2025-11-25", { elicitation: {} });
    const call = await stream({ headers, body: callTool(1, "ask") });
    await call.until(({ method }) => method !== undefined);
    const before = call.all.length;
    expect((await send({ method: "DELETE", headers })).status).toBe(200);
    await call.ended;
    expect(call.all).toHaveLength(before);
  });

  test.each([
    ["one that never was", () => Promise.resolve("feed5e55")],
    ["a text that is no id", () => Promise.resolve("null")],
    ["an empty one", () => Promise.resolve("")],
    [
      "one that was deleted",
      async () => {
        const headers = await openSession();
        await send({ method: "DELETE", headers });
        return headers["mcp-session-id"]!;
      },
    ],
    ["one that is open", async () => (await openSession())["mcp-session-id"]!],
  ])("initialize ignores a session id in its header: %s", async (_, stale) => {
    const id = await stale();
    const answer = await send({ headers: { "mcp-session-id": id }, body: initialize() });
    expect(answer).toMatchObject({ status: 200, json: { result: { protocolVersion: "2025-11-25" } } });
    const session = answer.headers["mcp-session-id"] as string;
    expect(session).toMatch(/^[0-9a-f]{32}$/);
    expect(session).not.toBe(id);
    expect((await send({ headers: { "mcp-session-id": session }, body: rpc(1, "ping") })).status).toBe(200);
  });

  test("an open session continues while an initialize with its id starts another session", async () => {
    const headers = await openSession();
    await send({ headers, body: initialize() });
    expect((await send({ headers, body: rpc(1, "ping") })).status).toBe(200);
  });

  test("refuses two requests in one body if one of them is initialize", async () => {
    expect(await send({ body: [initialize(), rpc(1, "ping")] })).toMatchObject({
      status: 400,
      json: { error: { code: -32600 } },
    });
  });

  test("a refused initialize starts no session", async () => {
    const answer = await send({ body: rpc(1, "initialize", {}) });
    expect(answer).toMatchObject({ status: 200, json: { id: 1, error: { code: -32602 } } });
    expect(answer.headers["mcp-session-id"]).toBeUndefined();
    expect(endpoint.legacy.size).toBe(0);
  });

  test("ends idle sessions, but not those with a stream or a running request", async () => {
    const idle = await openSession();
    const listening = await openSession();
    const working = await openSession();
    await listen(listening);
    const started = createGate();
    endpoint.hub.started.on(started.open);
    const running = send({ headers: working, body: callTool(1, "slow") });
    await started.opened;
    endpoint.legacy.sweep(performance.now() + 29 * 60_000);
    expect(endpoint.legacy.size).toBe(3);
    endpoint.legacy.sweep(performance.now() + 31 * 60_000);
    expect((await send({ headers: idle, body: rpc(2, "ping") })).status).toBe(404);
    expect((await send({ headers: listening, body: rpc(2, "ping") })).status).toBe(200);
    endpoint.hub.gate.open();
    expect((await running).json.result).toEqual(text("done"));
  });

  test("evicts the longest idle session when the table is full, never one that is answering", async () => {
    const small = await start({ sessions: { maxSessions: 2 } });
    const first = await openSession(undefined, undefined, { to: small });
    const second = await openSession(undefined, undefined, { to: small });
    await send({ to: small, headers: first, body: rpc(1, "ping") });
    const third = await openSession(undefined, undefined, { to: small });
    expect((await send({ to: small, headers: second, body: rpc(1, "ping") })).status).toBe(404);
    const bothStarted = createGate();
    let count = 0;
    small.hub.started.on(() => (count += 1) === 2 && bothStarted.open());
    const running = [first, third].map((headers) => send({ to: small, headers, body: callTool(1, "slow") }));
    await bothStarted.opened;
    expect((await send({ to: small, body: initialize() })).status).toBe(503);
    small.hub.gate.open();
    for (const answer of await Promise.all(running)) expect(answer.status).toBe(200);
  });

  test("an idle session costs at most 12 KB", async () => {
    const { HttpSession } = await import("./http-session.ts");
    const { createTestDeps } = await import("../../../../../../test/fixtures/mcp-endpoint.ts");
    const deps = createTestDeps(endpoint.hub);
    const log = deps.state.openEventLog({ maxBytes: 1e6, maxEvents: 100, keepMs: 1000 });
    const outlet = { isShared: true, reachable: true, reply: () => {}, note: () => {} };
    const sessions: unknown[] = [];
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < 2000; at += 1) {
      const session = new HttpSession(deps, log, { principal: LOCAL_PRINCIPAL });
      await session.protocol.receive(initialize(), { outlet });
      await session.protocol.receive(notification("notifications/initialized"), { outlet });
      sessions.push(session);
    }
    collect();
    expect((process.memoryUsage().heapUsed - before) / sessions.length).toBeLessThan(12_000);
    deps.board.close();
  });
});

describe("HTTP refusals", () => {
  test.each(REFUSED_HEADERS)("%s", async (_, bad, status, code) => {
    const headers = await openSession();
    expect(await send({ headers: { ...headers, ...bad }, body: rpc(1, "ping") })).toMatchObject({
      status,
      json: { error: { code } },
    });
    expect((await send({ headers, body: rpc(1, "ping") })).status).toBe(200);
  });

  test.each(REFUSED_BODIES)("refuses a body of %s", async (_, body, status, code) => {
    const headers = await openSession("2025-03-26");
    expect(await send({ headers, body: Buffer.isBuffer(body) ? body.toString("latin1") : body })).toMatchObject({
      status,
      json: { error: { code } },
    });
  });

  test("S4: refuses a body over the limit", async () => {
    const headers = await openSession();
    const answer = await send({ headers, body: callTool(1, "echo", { text: "x".repeat(5 * 1024 * 1024) }) });
    expect(answer.status).toBe(413);
  });

  test("refuses a GET that does not accept event streams", async () => {
    const headers = await openSession();
    expect((await send({ method: "GET", headers: { ...headers, accept: "application/json" } })).status).toBe(406);
  });

  test("refuses unknown methods", async () => {
    expect((await send({ method: "PUT" })).status).toBe(405);
  });
});

describe("answers", () => {
  test("C7: answers 202 without a body to notifications and replies", async () => {
    const headers = await openSession();
    for (const body of [
      notification("notifications/initialized"),
      notification("notifications/whatever"),
      { jsonrpc: "2.0", id: 5, result: {} },
    ]) {
      expect(await send({ headers, body })).toMatchObject({ status: 202, text: "" });
    }
  });

  test("answers with plain JSON if nothing precedes the answer, also with an error", async () => {
    const headers = await openSession();
    const answer = await send({ headers, body: callTool(0, "echo", { text: "hi" }) });
    expect(answer).toMatchObject({ status: 200, json: { id: 0, result: { content: [{ text: "hi" }] } } });
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(await send({ headers, body: rpc("x", "nope") })).toMatchObject({
      status: 200,
      json: { id: "x", error: { code: -32601 } },
    });
  });

  test("a call with progress is a stream that starts with an id and a retry time", async () => {
    const headers = await openSession();
    const events = await stream({ headers, body: callTool(1, "progress", {}, { progressToken: "p" }) });
    await events.ended;
    expect(events.all[0]).toMatchObject({ data: "", id: expect.any(String) });
    expect(events.retryMs).toBe(1000);
    expect(events.messages.map(({ method, id }) => method ?? id)).toEqual([
      "notifications/progress",
      "notifications/progress",
      "notifications/progress",
      1,
    ]);
  });

  test("sends no event without data to clients before 2025-11-25", async () => {
    const headers = await openSession("2025-06-18");
    const events = await stream({ headers, body: callTool(1, "progress", {}, { progressToken: "p" }) });
    await events.ended;
    expect(events.all.every(({ data }) => data !== "")).toBe(true);
    expect(events.messages).toHaveLength(4);
  });

  test("sends a call's result as JSON to a client that accepts only JSON, also with progress", async () => {
    const headers = { ...(await openSession()), accept: "application/json" };
    const answer = await send({ headers, body: callTool(1, "progress", {}, { progressToken: "p" }) });
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json).toMatchObject({ id: 1, result: {} });
  });

  test("sends server requests and progress on the session's stream to a client that accepts only JSON", async () => {
    const headers = await openSession("2025-06-18", { elicitation: {} });
    const standing = await stream({ method: "GET", headers });
    const json = { ...headers, accept: "application/json" };
    const progress = await send({ headers: json, body: callTool(1, "progress", {}, { progressToken: "p" }) });
    expect(progress.json).toMatchObject({ id: 1 });
    const answering = send({ headers: json, body: callTool(2, "ask") });
    const ask = await standing.until(({ method }) => method === "elicitation/create");
    await send({ headers: json, body: JSON.stringify({ jsonrpc: "2.0", id: ask.id, result: { action: "decline" } }) });
    expect((await answering).json).toMatchObject({ id: 2 });
    expect(standing.messages.filter(({ method }) => method === "notifications/progress")).toHaveLength(3);
  });

  test("cannot send server requests to a client that accepts only JSON and has no session stream", async () => {
    const headers = { ...(await openSession("2025-06-18", { elicitation: {} })), accept: "application/json" };
    expect((await send({ headers, body: callTool(1, "ask") })).text).toContain("cannot be asked");
  });

  test("sends a server request on the stream of its call, and receives the reply by POST", async () => {
    const headers = await openSession("2025-06-18", { elicitation: {} });
    const events = await stream({ headers, body: callTool(1, "ask") });
    const ask = await events.until(({ method }) => method === "elicitation/create");
    expect(
      (await send({ headers, body: { jsonrpc: "2.0", id: ask["id"], result: { action: "decline" } } })).status,
    ).toBe(202);
    expect((await events.until(({ id, method }) => id === 1 && !method))["result"]).toEqual(
      text('{"action":"decline"}'),
    );
  });

  test("turns a quiet call into a stream with comments, which keep the connection alive", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    try {
      const patient = await start();
      const headers = await openSession(undefined, undefined, { to: patient });
      const started = createGate();
      patient.hub.started.on(started.open);
      const running = stream({ to: patient, headers, body: callTool(1, "slow") });
      await started.opened;
      vi.advanceTimersByTime(20_000);
      const events = await running;
      patient.hub.gate.open();
      await events.ended;
      expect(events.messages).toMatchObject([{ id: 1, result: text("done") }]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("C17: accepts batches up to 2025-03-26 and refuses them in later revisions", async () => {
    const batch = [rpc(1, "ping"), notification("notifications/x"), callTool(2, "echo", { text: "b" }), { id: 7 }];
    const old = await openSession("2025-03-26");
    const answer = await send({ headers: old, body: batch });
    expect(answer.status).toBe(200);
    const replies = JSON.parse(answer.text) as { id: unknown; error?: { code: number } }[];
    expect(replies.map(({ id, error }) => [id, error?.code])).toEqual(
      expect.arrayContaining([
        [1, undefined],
        [2, undefined],
        [null, -32600],
      ]),
    );
    expect(
      await send({ headers: old, body: [notification("notifications/x"), notification("notifications/y")] }),
    ).toMatchObject({
      status: 202,
      text: "",
    });
    expect(await send({ headers: await openSession("2025-06-18"), body: batch })).toMatchObject({
      status: 400,
      json: { error: { code: -32600 } },
    });
  });

  test("answers a cancelled call, so that the client does not treat its end as a lost stream", async () => {
    const headers = await openSession();
    const started = createGate();
    endpoint.hub.started.on(started.open);
    const running = send({ headers, body: callTool(1, "slow") });
    await started.opened;
    await send({ headers, body: notification("notifications/cancelled", { requestId: 1 }) });
    expect((await running).json).toEqual(CANCELLED);
  });

  test("C30: reads the tool mode from the header, otherwise from the query, otherwise from the session", async () => {
    const headers = await openSession();
    const count = async (sent: TestRequest): Promise<number> =>
      ((await send({ body: rpc(1, "tools/list"), ...sent })).json.result["tools"] as unknown[]).length;
    const all = await count({ headers });
    expect(all).toBeGreaterThan(1);
    expect(await count({ headers: { ...headers, "x-mcp-tool-mode": "Discovery" } })).toBe(1);
    expect(await count({ headers, path: "/mcp?tool_mode=discovery" })).toBe(1);
    expect(
      await count({ headers: { ...headers, "x-mcp-tool-mode": "normal" }, path: "/mcp?tool_mode=discovery" }),
    ).toBe(all);
    const narrow = await openSession(undefined, undefined, { path: "/mcp?tool_mode=discovery" });
    expect(await count({ headers: narrow })).toBe(1);
  });
});

const CANCELLED = { jsonrpc: "2.0", id: 1, error: { code: 0, message: "Request cancelled" } };

describe("streams", () => {
  const edit = (): void => {
    endpoint.hub.lists.tools = [
      ...endpoint.hub.lists.tools,
      { name: `t${endpoint.hub.lists.tools.length}`, inputSchema: { type: "object" } },
    ];
    endpoint.hub.announce("tools");
  };
  const isChange = ({ method }: JsonObject): boolean => method === "notifications/tools/list_changed";

  test("a session has at most one standing stream, which reports list changes", async () => {
    const headers = await openSession();
    const events = await listen(headers);
    edit();
    await events.until(isChange);
    const second = await send({ method: "GET", headers: { ...headers, accept: "text/event-stream" } });
    expect([second.status, second.headers["mcp-session-id"]]).toEqual([409, headers["mcp-session-id"]]);
  });

  test("when the standing stream opens, sends each earlier event once", async () => {
    const headers = await openSession();
    edit();
    await expect.poll(() => endpoint.hub.views.length).toBeGreaterThan(4);
    edit();
    const events = await listen(headers);
    await events.until(isChange);
    expect(events.messages).toHaveLength(1);
  });

  test("resumes a lost standing stream after the last event", async () => {
    const headers = await openSession();
    const uri = "test://greeting";
    await send({ headers, body: rpc(1, "resources/subscribe", { uri }) });
    const update = (n: number): void => endpoint.hub.events.resourceUpdated.emit({ uri, params: { uri, n } });
    const first = await listen(headers);
    update(1);
    await first.until(({ params }) => (params as JsonObject)["n"] === 1);
    const lastId = first.all.at(-1)?.id;
    first.drop();
    update(2);
    update(3);
    const second = await listen(headers, lastId);
    await second.until(({ params }) => (params as JsonObject)["n"] === 3);
    expect(second.messages.map(({ params }) => (params as JsonObject)["n"])).toEqual([2, 3]);
    update(4);
    await second.until(({ params }) => (params as JsonObject)["n"] === 4);
  });

  test("a lost stream does not cancel its call, and continues where it was interrupted", async () => {
    const headers = await openSession();
    const go = createGate();
    endpoint.hub.handlers["stepped"] = async (call) => {
      call.notify({ method: "notifications/progress", params: { progress: 1 } });
      await go.opened;
      call.notify({ method: "notifications/progress", params: { progress: 2 } });
      return { ok: true, result: text("there") };
    };
    const first = await stream({ headers, body: callTool(1, "stepped", {}, { progressToken: "p" }) });
    await first.until(({ method }) => method === "notifications/progress");
    const lastId = first.all.at(-1)?.id;
    first.drop();
    go.open();
    const second = await listen(headers, lastId);
    await second.ended;
    expect(second.messages.map(({ method, id }) => method ?? id)).toEqual(["notifications/progress", 1]);
    expect(endpoint.hub.calls.at(-1)?.signal.aborted).toBe(false);
  });

  test("resumes a stream while its call is running", async () => {
    const headers = await openSession();
    const go = createGate();
    endpoint.hub.handlers["stepped"] = async (call) => {
      call.notify({ method: "notifications/progress", params: { progress: 1 } });
      await go.opened;
      return { ok: true, result: text("there") };
    };
    const first = await stream({ headers, body: callTool(1, "stepped", {}, { progressToken: "p" }) });
    await first.until(({ method }) => method === "notifications/progress");
    const primingId = first.all[0]?.id;
    first.drop();
    const second = await listen(headers, primingId);
    await second.until(({ method }) => method === "notifications/progress");
    go.open();
    await second.ended;
    expect(second.messages.at(-1)).toMatchObject({ id: 1, result: text("there") });
  });

  /** Starts a call that reports progress and then runs until it is cancelled. Returns its events. */
  async function beginSlow(headers: Record<string, string>): Promise<Events> {
    endpoint.hub.handlers["stepped"] = async (call) => {
      call.notify({ method: "notifications/progress", params: { progress: 1 } });
      await once(call.signal, "abort");
      return { ok: true, result: text("too late") };
    };
    const events = await stream({ headers, body: callTool(1, "stepped", {}, { progressToken: "p" }) });
    await events.until(({ method }) => method === "notifications/progress");
    return events;
  }

  const cancel = (headers: Record<string, string>): Promise<Answer> =>
    send({ headers, body: notification("notifications/cancelled", { requestId: 1 }) });

  test.each(["2025-03-26", "2025-06-18", "2025-11-25"])(
    "%s: ends the stream of a cancelled call with a reply",
    async (version) => {
      const headers = await openSession(version);
      const events = await beginSlow(headers);
      await cancel(headers);
      await events.ended;
      expect(events.messages.slice(1)).toEqual([CANCELLED]);
    },
  );

  test("resumes the lost stream of a cancelled call and ends it with the same reply", async () => {
    const headers = await openSession();
    const first = await beginSlow(headers);
    const [priming] = first.all;
    first.drop();
    await cancel(headers);
    const second = await listen(headers, priming?.id);
    await second.ended;
    expect(second.messages.map(({ method, ...message }) => (method === undefined ? message : method))).toEqual([
      "notifications/progress",
      CANCELLED,
    ]);
  });

  test("if a client has received all of an ended stream, tells it not to reconnect", async () => {
    const headers = await openSession();
    const events = await stream({ headers, body: callTool(1, "progress", {}, { progressToken: "p" }) });
    await events.ended;
    const answer = await send({
      method: "GET",
      headers: { ...headers, accept: "text/event-stream", "last-event-id": events.all.at(-1)!.id! },
    });
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(answer.headers["content-length"]).toBeUndefined();
  });

  test("ends a resumed stream with an error if its answer was too large to keep", async () => {
    endpoint = await start({ sessions: { replayMaxBytes: 16 * 400 } });
    const headers = await openSession();
    endpoint.hub.handlers["large"] = async (call) => {
      call.notify({ method: "notifications/progress", params: { progress: 1 } });
      return { ok: true, result: text("x".repeat(500)) };
    };
    const first = await stream({ headers, body: callTool(1, "large", {}, { progressToken: "p" }) });
    await first.ended;
    const second = await listen(headers, first.all[1]?.id);
    await second.ended;
    expect(second.messages).toEqual([
      { jsonrpc: "2.0", id: 1, error: { code: -32603, message: expect.stringContaining("more than is kept") } },
    ]);
  });

  test.each(["7-0", "nonsense", "1-99999"])("resumes nothing after the event id %s", async (lastEventId) => {
    const headers = await openSession();
    const answer = await send({
      method: "GET",
      headers: { ...headers, accept: "text/event-stream", "last-event-id": lastEventId },
    });
    expect(answer).toMatchObject({ status: 400, json: { error: { code: -32000 } } });
  });

  test("does not send events of one session to another", async () => {
    const ours = await openSession();
    const events = await stream({ headers: ours, body: callTool(1, "progress", {}, { progressToken: "p" }) });
    await events.ended;
    const theirs = await openSession();
    const answer = await send({
      method: "GET",
      headers: { ...theirs, accept: "text/event-stream", "last-event-id": events.all[0]?.id ?? "" },
    });
    expect(answer.status).toBe(400);
  });
});

describe("HTTP+SSE of 2024-11-05", () => {
  async function connect(path = "/sse"): Promise<{ events: Events; endpoint: string }> {
    const events = await stream({ method: "GET", path, headers: { accept: "text/event-stream" } });
    await expect.poll(() => events.all).toHaveLength(1);
    const { event, data } = events.all.shift()!;
    expect(event).toBe("endpoint");
    return { events, endpoint: data };
  }

  test("names the address for posts on the stream, which carries all answers", async () => {
    const { events, endpoint: messagesPath } = await connect();
    expect(messagesPath).toMatch(/^\/messages\?sessionId=[0-9a-f]{32}$/);
    expect(await send({ path: messagesPath, body: initialize("2024-11-05") })).toMatchObject({
      status: 202,
      text: "Accepted",
    });
    expect((await events.until(({ id }) => id === 0))["result"]).toMatchObject({ protocolVersion: "2024-11-05" });
    await send({ path: messagesPath, body: notification("notifications/initialized") });
    await send({ path: messagesPath, body: callTool(1, "progress", {}, { progressToken: 1 }) });
    await events.until(({ id }) => id === 1);
    expect(events.messages.map(({ method, id }) => method ?? id)).toEqual([
      0,
      "notifications/progress",
      "notifications/progress",
      "notifications/progress",
      1,
    ]);
  });

  test("includes the base path in the address", async () => {
    const based = await start({ http: { base_path: "/tools" } });
    const events = await stream({ to: based, method: "GET", path: "/sse", headers: { accept: "text/event-stream" } });
    await expect.poll(() => events.all).toHaveLength(1);
    expect(events.all[0]?.data).toMatch(/^\/tools\/messages\?sessionId=/);
  });

  test("refuses posts to unknown sessions, of another media type, or with invalid content", async () => {
    const { endpoint: messagesPath } = await connect();
    expect((await send({ path: "/messages?sessionId=nope", body: rpc(1, "ping") })).status).toBe(404);
    expect((await send({ path: "/messages", body: rpc(1, "ping") })).status).toBe(404);
    expect(
      (await send({ path: messagesPath, headers: { "content-type": "text/plain" }, body: rpc(1, "ping") })).status,
    ).toBe(400);
    expect(await send({ path: messagesPath, body: "{" })).toMatchObject({
      status: 400,
      json: { error: { code: -32700 } },
    });
    expect(await send({ path: messagesPath, body: [] })).toMatchObject({
      status: 400,
      json: { error: { code: -32600 } },
    });
  });

  test("the end of the stream ends the session and its calls", async () => {
    const { events, endpoint: messagesPath } = await connect();
    await send({ path: messagesPath, body: initialize("2024-11-05") });
    const aborted = createGate();
    const started = createGate();
    endpoint.hub.started.on((call) => {
      call.signal.addEventListener("abort", aborted.open);
      started.open();
    });
    await send({ path: messagesPath, body: callTool(1, "slow") });
    await started.opened;
    events.drop();
    await aborted.opened;
    expect((await send({ path: messagesPath, body: rpc(2, "ping") })).status).toBe(404);
    expect(endpoint.sse.size).toBe(0);
  });

  test("answers running requests before the stream ends when the listener closes", async () => {
    const { events, endpoint: messagesPath } = await connect();
    const idle = await connect();
    await send({ path: messagesPath, body: initialize("2024-11-05") });
    const started = createGate();
    endpoint.hub.started.on(started.open);
    await send({ path: messagesPath, body: callTool(1, "slow") });
    await started.opened;
    const closed = endpoint.listener.close();
    await idle.events.ended;
    endpoint.hub.gate.open();
    await events.ended;
    expect(events.messages.at(-1)).toMatchObject({ id: 1, result: text("done") });
    await closed;
  });

  test("the tool mode in the query of the stream applies to the session", async () => {
    const { events, endpoint: messagesPath } = await connect("/sse?tool_mode=discovery");
    await send({ path: messagesPath, body: initialize("2024-11-05") });
    await send({ path: messagesPath, body: rpc(1, "tools/list") });
    expect(((await events.until(({ id }) => id === 1))["result"] as JsonObject)["tools"]).toHaveLength(1);
  });
});
