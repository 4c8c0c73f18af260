import type { ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import {
  startLegacy,
  startModern,
  startServer,
  readJson,
  sendJson,
  type LegacyServer,
  type LegacyServerOptions,
  type RunningServer,
} from "../../../../../../test/fixtures/http-servers.ts";
import { failureOf, modernParams, Peer } from "../../../../../../test/fixtures/transport-peer.ts";
import { HttpClient } from "../../../outbound/client/http-client.ts";
import { StreamableHttpTransport } from "./streamable-http.ts";

const clients: HttpClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

function connect(url: string, headers: Record<string, string> = {}): Promise<Peer> {
  const client = new HttpClient({
    label: "fixture",
    url: new URL(url),
    headers,
    caFiles: [],
    connectTimeoutMs: 5000,
    maxConnections: 16,
  });
  clients.push(client);
  return new Peer(
    new StreamableHttpTransport({
      client,
      maxMessageBytes: 1_000_000,
      maxMessageParts: 10_000,
      idleMs: 10_000,
      reopenDelayMs: 20,
    }),
  ).open();
}

const isAnswer = (message: object): boolean => "result" in message || "error" in message;

const legacyServers: [string, LegacyServerOptions][] = [
  ["with sessions, as event streams", {}],
  ["with sessions, as JSON", { json: true }],
  ["without sessions", { mode: "stateless" }],
  ["without sessions, as JSON", { mode: "stateless", json: true }],
];

test.each(legacyServers)("L62: lists and calls on a legacy server %s", async (_, options) => {
  await using server = await startLegacy(options);
  await using peer = await (await connect(server.url)).initialize();
  const { result } = await peer.request("tools/list");
  expect(result).toMatchObject({
    tools: expect.arrayContaining([expect.objectContaining({ name: "echo", "x-unknown": { kept: true } })]),
  });
  expect(await peer.request("tools/call", { name: "echo", arguments: { text: "hi" } })).toMatchObject({
    result: { content: [{ text: "hi" }] },
  });
  expect(peer.transport.sessionful).toBe(options.mode !== "stateless");
});

test("sends the session id and the negotiated revision with every request after initialize", async () => {
  await using server = await startLegacy();
  await using peer = await (await connect(server.url)).initialize();
  await peer.request("tools/list");
  const [initialize, initialized, ...others] = server.seen;
  expect(initialize?.headers["mcp-session-id"]).toBeUndefined();
  expect(initialize?.headers["mcp-protocol-version"]).toBeUndefined();
  for (const request of [initialized, ...others]) {
    expect(request?.headers).toMatchObject({
      "mcp-session-id": [...server.sessions.keys()][0],
      "mcp-protocol-version": "2025-11-25",
    });
  }
});

test("delivers every progress notification before the answer, related to its request", async () => {
  await using server = await startLegacy();
  await using peer = await (await connect(server.url)).initialize();
  await peer.request("tools/call", { name: "steps", arguments: { count: 50 }, _meta: { progressToken: 7 } });
  const call = peer.received.findLast(({ message }) => isAnswer(message));
  const progress = peer.received.filter(({ message }) => message["method"] === "notifications/progress");
  expect(progress).toHaveLength(50);
  expect(peer.received.at(-1)).toBe(call);
  expect(new Set(progress.map(({ related }) => related))).toEqual(new Set([call?.message["id"]]));
});

test("relates a request of the server to the call that caused it", async () => {
  await using server = await startLegacy();
  await using peer = await (await connect(server.url)).initialize();
  const answer = peer.request("tools/call", { name: "ask", arguments: {} });
  const { message, related } = await peer.waitFor((one) => one["method"] === "elicitation/create");
  expect(related).toBe(2);
  await peer.transport.send({
    jsonrpc: "2.0",
    id: message["id"] as number,
    result: { action: "accept", content: { name: "Ada" } },
  });
  expect(JSON.stringify(await answer)).toContain("Ada");
});

test("receives the server's own messages on the standing stream (GET)", async () => {
  await using server = await startLegacy();
  await using peer = await (await connect(server.url)).initialize();
  await expect.poll(() => server.seen.some(({ method }) => method === "GET")).toBe(true);
  await peer.request("tools/call", { name: "grow", arguments: {} });
  const { related } = await peer.waitFor((one) => one["method"] === "notifications/tools/list_changed");
  expect(related).toBeUndefined();
});

/** Starts a server with a session. `onGet` answers the requests for the standing stream. */
function startStanding(onGet: (response: ServerResponse, attempt: number) => void): Promise<RunningServer> {
  let attempts = 0;
  return startServer(async (request, response) => {
    if (request.method === "GET") return onGet(response, (attempts += 1));
    if (request.method === "DELETE") return void response.writeHead(200).end();
    const { id, method } = await readJson(request);
    if (id === undefined) return void response.writeHead(202).end();
    const result =
      method === "initialize"
        ? { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
        : { tools: [] };
    sendJson(response, 200, { jsonrpc: "2.0", id, result }, { "mcp-session-id": "s-1" });
  });
}

const openStream = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
};

test("if a standing stream opens after the lists were read, reports that list changes may be lost", async () => {
  let opening: ServerResponse | undefined;
  await using server = await startStanding((response) => (opening = response));
  await using peer = await (await connect(server.url)).initialize();
  await expect.poll(() => opening).toBeDefined();
  await peer.request("tools/list");
  expect(peer.resumed).toBe(0);
  openStream(opening!);
  await expect.poll(() => peer.resumed).toBe(1);
});

test("requests a standing stream again if the server still holds the lost one", async () => {
  await using server = await startStanding((response, attempt) => {
    if (attempt < 3)
      return sendJson(response, 409, { jsonrpc: "2.0", id: null, error: { code: -32000, message: "Conflict" } });
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
  });
  await using peer = await (await connect(server.url)).initialize();
  await peer.waitFor((one) => one["method"] === "notifications/tools/list_changed");
  expect(server.seen.filter(({ method }) => method === "GET")).toHaveLength(3);
});

test("ends the session on the server when the connection closes", async () => {
  await using server = await startLegacy();
  const peer = await (await connect(server.url)).initialize();
  expect(server.sessions.size).toBe(1);
  await peer.transport.close();
  expect(server.sessions.size).toBe(0);
});

async function restart(server: LegacyServer): Promise<LegacyServer> {
  await server.close();
  return startLegacy({ port: server.port });
}

test("ends the connection if a restart lost the session, and reports the refused message as unsent", async () => {
  const first = await startLegacy({ json: true });
  await using peer = await (await connect(first.url)).initialize();
  await using _second = await restart(first);
  const failure = await failureOf(peer.request("tools/list"));
  expect(failure).toMatchObject({ kind: "unavailable", retryable: true, details: { sent: false, sessionLost: true } });
  expect(await peer.closed).toMatchObject({ kind: "unavailable", details: { sessionLost: true } });
  expect((await peer.closed).details).not.toHaveProperty("sent");
});

test("recognizes a lost session that is reported as a bad request", async () => {
  await using server = await startServer(async (request, response) => {
    const { id, method } = await readJson(request);
    if (method === "initialize")
      return sendJson(
        response,
        200,
        { jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25" } },
        { "mcp-session-id": "s1" },
      );
    if (method === undefined || id === undefined)
      return void response.writeHead(method === undefined ? 405 : 202).end();
    sendJson(response, 400, {
      jsonrpc: "2.0",
      id,
      error: { code: -32000, message: "Bad Request: No valid session ID provided" },
    });
  });
  await using peer = await (await connect(server.url)).initialize();
  expect(await failureOf(peer.request("tools/list"))).toMatchObject({ details: { sent: false, sessionLost: true } });
});

test("treats a refusal that does not mention the session as an ordinary answer", async () => {
  await using server = await startServer(async (request, response) => {
    const { id, method } = await readJson(request);
    if (method === "initialize")
      return sendJson(
        response,
        200,
        { jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25" } },
        { "mcp-session-id": "s1" },
      );
    if (method === undefined || id === undefined)
      return void response.writeHead(method === undefined ? 405 : 202).end();
    sendJson(response, 400, { jsonrpc: "2.0", id: null, error: { code: -32602, message: "Bad cursor" } });
  });
  await using peer = await (await connect(server.url)).initialize();
  expect(await peer.request("tools/list")).toMatchObject({ error: { code: -32602 } });
});

test("resumes a broken response stream after the last event and after the pause that the server names", async () => {
  const resumes: { at: number; id: string | string[] | undefined }[] = [];
  let brokeAt = 0;
  await using server = await startServer(async (request, response) => {
    if (request.method === "GET" && request.headers["last-event-id"] === undefined)
      return void response.writeHead(405).end();
    if (request.method === "GET") {
      resumes.push({ at: performance.now(), id: request.headers["last-event-id"] });
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (resumes.length === 1) return void response.end("id: 2\ndata: \n\n");
      return void response.end(`id: 3\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: 2, result: { ok: true } })}\n\n`);
    }
    const { id, method } = await readJson(request);
    if (method === "initialize")
      return sendJson(
        response,
        200,
        { jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25" } },
        { "mcp-session-id": "s1" },
      );
    if (id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("retry: 150\nid: 1\ndata: \n\n", () => {
      brokeAt = performance.now();
      response.end();
    });
  });
  await using peer = await (await connect(server.url)).initialize();
  expect(await peer.request("tools/call", { name: "slow" })).toMatchObject({ id: 2, result: { ok: true } });
  expect(resumes.map(({ id }) => id)).toEqual(["1", "2"]);
  expect(resumes[0]!.at - brokeAt).toBeGreaterThanOrEqual(140);
});

test("fails only the request if its response stream without event ids ends before the answer", async () => {
  await using server = await startServer(async (request, response) => {
    const { id, method } = await readJson(request);
    if (method === "initialize")
      return sendJson(response, 200, { jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25" } });
    if (method === "ping") return sendJson(response, 200, { jsonrpc: "2.0", id, result: {} });
    if (method === undefined || id === undefined)
      return void response.writeHead(method === undefined ? 405 : 202).end();
    response.writeHead(200, { "content-type": "text/event-stream" }).end('data: {"jsonrpc":"2.0","id"');
  });
  await using peer = await (await connect(server.url)).initialize();
  const failure = await failureOf(peer.request("tools/call", { name: "x" }));
  expect(failure).toMatchObject({ kind: "unavailable", message: expect.stringContaining("before the answer") });
  expect(failure.details ?? {}).not.toHaveProperty("sent");
  expect(await peer.request("ping")).toMatchObject({ result: {} });
});

test("opens the standing stream again after the last event, and reports that", async () => {
  const gets: (string | string[] | undefined)[] = [];
  await using server = await startServer(async (request, response) => {
    if (request.method === "GET") {
      gets.push(request.headers["last-event-id"]);
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (gets.length === 1)
        return void response.end(
          'retry: 20\nid: e1\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n',
        );
      return void response.flushHeaders();
    }
    const { id, method } = await readJson(request);
    if (method === "initialize")
      return sendJson(response, 200, { jsonrpc: "2.0", id, result: { protocolVersion: "2025-06-18" } });
    response.writeHead(202).end();
  });
  await using peer = await (await connect(server.url)).initialize();
  await expect.poll(() => peer.resumed).toBe(1);
  expect(gets).toEqual([undefined, "e1"]);
});

test("ends the connection if the standing stream reports a lost session", async () => {
  let isGone = false;
  await using server = await startServer(async (request, response) => {
    if (request.method === "GET") {
      if (isGone) return void response.writeHead(404).end();
      isGone = true;
      return void response.writeHead(200, { "content-type": "text/event-stream" }).end();
    }
    const { id, method } = await readJson(request);
    if (method === "initialize")
      return sendJson(
        response,
        200,
        { jsonrpc: "2.0", id, result: { protocolVersion: "2025-06-18" } },
        { "mcp-session-id": "s1" },
      );
    response.writeHead(202).end();
  });
  await using peer = await (await connect(server.url)).initialize();
  expect(await peer.closed).toMatchObject({ kind: "unavailable", details: { sessionLost: true } });
});

test("ends a connection with a standing stream if the server is permanently unreachable", async () => {
  const server = await startLegacy();
  await using peer = await (await connect(server.url)).initialize();
  await expect.poll(() => server.seen.some(({ method }) => method === "GET")).toBe(true);
  await server.close();
  expect(await peer.closed).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("refused the connection"),
  });
});

test("sends headers that match the body with a modern request", async () => {
  await using server = await startModern();
  await using peer = await connect(server.url);
  expect(await peer.request("server/discover", modernParams())).toMatchObject({
    result: { supportedVersions: ["2026-07-28"] },
  });
  peer.transport.setProtocolVersion("2026-07-28");
  const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
  const reply = await peer.request("tools/call", modernParams({ name: "regional", arguments: { region: "Zürich" } }), {
    inputSchema,
  });
  expect(reply).toMatchObject({ result: { content: [{ text: '{"region":"Zürich"}' }] } });
  expect(server.seen.at(-1)?.headers).toMatchObject({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "regional",
    "mcp-param-region": "=?base64?WsO8cmljaA==?=",
  });
});

test("passes a header mismatch to the caller as a protocol error", async () => {
  await using server = await startModern();
  await using peer = await connect(server.url);
  peer.transport.setProtocolVersion("2026-07-28");
  expect(
    await peer.request("tools/call", modernParams({ name: "regional", arguments: { region: "eu" } })),
  ).toMatchObject({ error: { code: -32020 } });
});

test("accepts an unknown method of the modern era as an answer although its status is 404", async () => {
  await using server = await startModern();
  await using peer = await connect(server.url);
  peer.transport.setProtocolVersion("2026-07-28");
  expect(await peer.request("no/such", modernParams())).toMatchObject({ error: { code: -32601 } });
});

test("opens no standing stream and ends no session on a modern connection", async () => {
  await using server = await startModern({ dual: true });
  const peer = await connect(server.url);
  peer.transport.setProtocolVersion("2026-07-28");
  await peer.request("tools/list", modernParams());
  await peer.transport.close();
  expect(server.seen.map(({ method }) => method)).toEqual(["POST"]);
});

test("closes the response stream of a cancelled request", async () => {
  let onGone = (): void => {};
  const gone = new Promise<void>((resolve) => {
    onGone = resolve;
  });
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
    response.on("close", onGone);
  });
  await using peer = await connect(server.url);
  const controller = new AbortController();
  const work = failureOf(peer.request("tools/call", modernParams({ name: "x" }), { signal: controller.signal }));
  await expect.poll(() => server.seen.length).toBe(1);
  controller.abort();
  expect(await work).toMatchObject({ kind: "cancelled" });
  await gone;
});

test("passes on the members of a batch one by one", async () => {
  await using server = await startServer(async (request, response) => {
    const { id } = await readJson(request);
    sendJson(response, 200, [
      { jsonrpc: "2.0", method: "notifications/message", params: {} },
      { jsonrpc: "2.0", id, result: {} },
    ]);
  });
  await using peer = await connect(server.url);
  await peer.request("ping");
  expect(peer.received.map(({ message, related }) => [message["method"], related])).toEqual([
    ["notifications/message", 1],
    [undefined, 1],
  ]);
});

test("sends nothing after close", async () => {
  await using server = await startLegacy();
  const peer = await (await connect(server.url)).initialize();
  await peer.transport.close();
  expect(await failureOf(peer.request("tools/list"))).toMatchObject({ kind: "unavailable", details: { sent: false } });
});
