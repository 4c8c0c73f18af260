import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { request as sendRequest, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import {
  listen,
  startLegacy,
  startModern,
  startServer,
  startSse,
  sendJson,
} from "../../../../../test/fixtures/http-servers.ts";
import type { ServerRequest, CallNotification } from "../../core/calls/call.ts";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { Deadline } from "../../core/calls/deadline.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import type { Provider, ResolvedCall } from "../../core/sources/provider.ts";
import { createHttpProvider } from "./http-provider.ts";
import { resolveRemoteServer, type RemoteServerConfig } from "./options.ts";

const providers: Provider[] = [];

afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
});

function open(options: RemoteServerConfig, environment: Record<string, string> = {}): Provider {
  const source = { id: "far", kind: "http", namespace: "far", order: 0 } as const;
  const provider = createHttpProvider({
    source,
    options: resolveRemoteServer(options),
    environment,
    hideFor: () => {},
    logger: SILENT_LOGGER,
  });
  providers.push(provider);
  provider.open();
  return provider;
}

interface CallOptions {
  readonly notifications?: CallNotification[];
  readonly connection?: string;
  readonly era?: "legacy" | "modern";
  readonly meta?: JsonObject;
  readonly timeoutMs?: number;
  ask?(ask: ServerRequest): Promise<JsonObject>;
}

async function call(
  provider: Provider,
  name: string,
  args: JsonObject = {},
  options: CallOptions = {},
): Promise<Outcome> {
  const tool = (await provider.listing()).tools.find((record) => record.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const {
    notifications = [],
    connection,
    era,
    meta = {},
    timeoutMs = 10_000,
    ask = () => Promise.reject(new Error("nobody to ask")),
  } = options;
  const deadline = new Deadline({ idleMs: timeoutMs, totalMs: timeoutMs });
  const resolved: ResolvedCall = {
    id: "call-1",
    endpoint: "test",
    method: "tools/call",
    target: name,
    params: {},
    arguments: args,
    meta,
    principal: LOCAL_PRINCIPAL,
    mode: "all",
    client: { capabilities: { elicitation: {} }, ...(connection !== undefined && { connection }), ...(era && { era }) },
    signal: deadline.signal,
    deadline,
    wants: { progress: true },
    notify: (notification) => void notifications.push(notification),
    ask,
    relaysInput: false,
    record: { type: "tool", tool },
  };
  const outcome = await provider.call(resolved);
  deadline.clear();
  return outcome;
}

const says = (text: string): object => ({ ok: true, result: { content: [{ type: "text", text }] } });

async function names(provider: Provider): Promise<string[]> {
  return (await provider.listing()).tools.map((tool) => tool.name);
}

test("C15: connects to Streamable HTTP at /mcp if only host and port are configured", async () => {
  await using server = await startLegacy();
  const provider = open({ host: "127.0.0.1", port: server.port });
  expect(await call(provider, "echo", { text: "hi" })).toMatchObject(says("hi"));
  expect(server.seen.every(({ url }) => url === "/mcp")).toBe(true);
});

test("T30: sends the token to its server as a bearer token, and shows it nowhere", async () => {
  await using server = await startLegacy({ token: "s3cret" });
  const provider = open({ url: server.url, token: "s3cret", tool_visibility: "ondemand" });
  expect(await call(provider, "echo", { text: "in" })).toMatchObject(says("in"));
  expect(JSON.stringify([provider.status(), await provider.listing()])).not.toContain("s3cret");
});

test("L61: sends an API key in its configured header", async () => {
  await using server = await startLegacy();
  await call(open({ url: server.url, auth: { type: "api_key", key: "k1" } }), "echo", { text: "" });
  await call(open({ url: server.url, auth: { type: "api_key", key: "k2", header: "X-Weather-Key" } }), "echo", {
    text: "",
  });
  expect(server.seen[0]?.headers["x-api-key"]).toBe("k1");
  expect(server.seen.at(-1)?.headers["x-weather-key"]).toBe("k2");
});

test("reports a server that requires a sign-in as such, and a call reports where to sign in", async () => {
  const signIn = "https://far.test/.well-known/oauth-protected-resource";
  await using server = await startServer((request, response) => {
    request.resume();
    sendJson(response, 401, {}, { "www-authenticate": `Bearer resource_metadata="${signIn}"` });
  });
  const provider = open({ url: server.url, token: "s3cret" });
  expect(await names(provider)).toEqual([]);
  expect(provider.status()).toMatchObject({ state: "needs_authorisation", lastError: expect.stringContaining(signIn) });
  expect(JSON.stringify(provider.status())).not.toContain("s3cret");
});

const eras: [string, string, () => Promise<AsyncDisposable & { url: string }>][] = [
  ["a legacy server with sessions", "legacy", () => startLegacy()],
  ["a legacy server without sessions", "legacy", () => startLegacy({ mode: "stateless", json: true })],
  ["a server of both eras", "modern", () => startModern({ dual: true })],
  ["a modern server", "modern", () => startModern()],
  ["a server of 2024-11-05", "legacy", () => startSse()],
];

test.each(eras)("L60: detects and calls %s (%s era)", async (_, era, start) => {
  await using server = await start();
  const provider = open({ url: server.url });
  expect(await call(provider, "echo", { text: "hello" })).toMatchObject(says("hello"));
  expect(provider.status()).toMatchObject({ state: "ready", info: { era } });
});

test("sends arguments that a modern server requires in headers", async () => {
  await using server = await startModern();
  const provider = open({ url: server.url });
  expect(await call(provider, "regional", { region: "Zürich" })).toMatchObject(says('{"region":"Zürich"}'));
  expect(server.seen.at(-1)?.headers["mcp-param-region"]).toBe("=?base64?WsO8cmljaA==?=");
});

test("lists the tools again and repeats the call after a header mismatch", async () => {
  let annotation: object = {};
  const bodies: string[] = [];
  await using server = await startServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id, method } = JSON.parse(text) as { id: number; method: string };
    const answer = (result: object): void =>
      sendJson(response, 200, { jsonrpc: "2.0", id, result: { resultType: "complete", ...result } });
    bodies.push(method);
    if (method === "server/discover") return answer({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
    if (method === "tools/list")
      return answer({
        tools: [{ name: "go", inputSchema: { type: "object", properties: { to: { type: "string", ...annotation } } } }],
      });
    if (request.headers["mcp-param-to"] === "Rome") return answer({ content: [{ type: "text", text: "gone" }] });
    sendJson(response, 400, { jsonrpc: "2.0", id, error: { code: -32020, message: "Header mismatch" } });
  });
  const provider = open({ url: server.url });
  await names(provider);
  annotation = { "x-mcp-header": "To" };
  expect(await call(provider, "go", { to: "Rome" }, { era: "modern" })).toMatchObject(says("gone"));
  expect(bodies.filter((method) => method !== "subscriptions/listen").slice(-4)).toEqual([
    "tools/list",
    "tools/call",
    "tools/list",
    "tools/call",
  ]);
});

test("resumes a stream that its server closes before the answer, as 2025-11-25 allows", async () => {
  const stored: { id: string; stream: string; message: unknown }[] = [];
  const eventStore = {
    storeEvent: async (stream: string, message: unknown) => {
      const id = `${stream}_${stored.length}`;
      stored.push({ id, stream, message });
      return id;
    },
    replayEventsAfter: async (lastId: string, { send }: { send(id: string, message: never): Promise<void> }) => {
      const last = stored.findIndex(({ id }) => id === lastId);
      const { stream = "" } = stored[last] ?? {};
      for (const event of stored.slice(last + 1))
        if (event.stream === stream) await send(event.id, event.message as never);
      return stream;
    },
  };
  await using server = await startLegacy({ eventStore });
  const provider = open({ url: server.url });
  expect(await call(provider, "exit-stream")).toMatchObject(says("after the break"));
  expect(server.seen.some(({ method, headers }) => method === "GET" && headers["last-event-id"] !== undefined)).toBe(
    true,
  );
});

test("S11: sends the server no data of a caller except what the protocol requires", async () => {
  await using server = await startModern();
  const provider = open({ url: server.url, headers: { "X-Team": "blue" } });
  await call(provider, "echo", { text: "x" }, { meta: { "example.com/trace": "1" } });
  const known =
    /^(host|connection|user-agent|content-type|content-length|accept|mcp-protocol-version|mcp-method|mcp-name|x-team)$/;
  expect(server.seen.flatMap(({ headers }) => Object.keys(headers)).filter((name) => !known.test(name))).toEqual([]);
});

test("delivers progress before the answer, including the last step, in 50 of 50 calls", async () => {
  await using server = await startLegacy();
  const provider = open({ url: server.url });
  for (let round = 0; round < 50; round += 1) {
    const notifications: CallNotification[] = [];
    expect(await call(provider, "steps", { count: 3 }, { notifications })).toMatchObject(says("done"));
    expect(notifications.map(({ params }) => params["progress"])).toEqual([1, 2, 3]);
  }
});

test("sends a server request to the caller of the causing call", async () => {
  await using server = await startLegacy();
  const provider = open({ url: server.url });
  const asking = (name: string): Promise<Outcome> =>
    call(provider, "ask", {}, { ask: async () => ({ action: "accept", content: { name } }) });
  const [first, second] = await Promise.all([asking("Ada"), asking("Grace")]);
  expect(JSON.stringify(first)).toContain("Ada");
  expect(JSON.stringify(second)).toContain("Grace");
});

test("reconnects within the same call to a restarted server that forgot the session", async () => {
  const first = await startLegacy({ json: true });
  const provider = open({ url: first.url });
  await call(provider, "echo", { text: "before" });
  await first.close();
  await closedSocketsNoticed(first.port);
  await using _second = await startLegacy({ json: true, port: first.port });
  expect(await call(provider, "echo", { text: "after" })).toMatchObject(says("after"));
});

test("repeats each of many concurrent calls to a restarted server once", async () => {
  const first = await startLegacy();
  const provider = open({ url: first.url });
  await call(provider, "echo", { text: "before" });
  await first.close();
  await closedSocketsNoticed(first.port);
  await using second = await startLegacy({ port: first.port });
  const texts = Array.from({ length: 20 }, (_, index) => `call ${index}`);
  const outcomes = await Promise.all(texts.map((text) => call(provider, "echo", { text })));
  expect(outcomes).toMatchObject(texts.map(says));
  expect(second.sessions.size).toBe(1);
});

test("C19: uses a server that was unreachable at the start as soon as it is reachable", async () => {
  const gone = await startLegacy();
  await gone.close();
  const provider = open({ url: gone.url });
  const appeared = new Promise<void>((resolve) => void provider.events.changed.on(resolve));
  expect(await names(provider)).toEqual([]);
  expect(provider.status()).toMatchObject({
    state: "down",
    lastError: expect.stringContaining("refused the connection"),
  });
  await using _server = await startLegacy({ port: gone.port });
  await appeared;
  expect(await call(provider, "echo", { text: "here" })).toMatchObject(says("here"));
});

test("M5: reports an unreachable server with its name, its address and advice", async () => {
  const server = await startLegacy({ mode: "stateless", json: true });
  const provider = open({ url: `${server.url}?key=s3cret`, token: "t0ken" });
  await call(provider, "echo", { text: "" });
  await server.close();
  await closedSocketsNoticed(server.port);
  const outcome = await call(provider, "echo", { text: "" });
  expect(outcome).toMatchObject({
    ok: false,
    kind: "unavailable",
    message: `\`far\` at 127.0.0.1:${server.port} refused the connection. Start the server, or correct \`url\`.`,
  });
  expect(JSON.stringify(outcome)).not.toMatch(/s3cret|t0ken/);
});

test("M5: ends a call without an answer at its deadline", async () => {
  let isSilent = false;
  await using server = await startLegacy({ mode: "stateless", json: true });
  await using front = await startServer(async (request, response) => {
    if (isSilent) return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = await fetch(server.url, {
      method: "POST",
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks),
    });
    response
      .writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" })
      .end(await answer.text());
  });
  const provider = open({ url: front.url });
  await call(provider, "echo", { text: "" });
  isSilent = true;
  expect(await call(provider, "echo", { text: "" }, { timeoutMs: 100 })).toMatchObject({ ok: false, kind: "timeout" });
});

test("fails only the call that is refused temporarily; others continue on the same connection", async () => {
  let isBusy = false;
  let release = (): void => {};
  await using server = await startServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id, method } = JSON.parse(text) as { id?: number; method: string };
    if (method === "server/discover")
      return sendJson(response, 400, { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
    if (method === "initialize")
      return sendJson(
        response,
        200,
        {
          jsonrpc: "2.0",
          id,
          result: {
            protocolVersion: "2025-11-25",
            capabilities: { tools: {} },
            serverInfo: { name: "a", version: "1" },
          },
        },
        { "mcp-session-id": "s1" },
      );
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/list")
      return sendJson(response, 200, {
        jsonrpc: "2.0",
        id,
        result: { tools: [{ name: "work", inputSchema: { type: "object" } }] },
      });
    if (isBusy) return void response.writeHead(503, { "retry-after": "1" }).end();
    isBusy = true;
    release = () =>
      sendJson(response, 200, { jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "worked" }] } });
  });
  const provider = open({ url: server.url });
  const long = call(provider, "work");
  await expect.poll(() => isBusy).toBe(true);
  expect(await call(provider, "work")).toMatchObject({ ok: false, kind: "unavailable", retryAfterMs: 1000 });
  release();
  expect(await long).toMatchObject(says("worked"));
});

test("with isolation = session, gives each caller's connection its own session", async () => {
  await using server = await startLegacy();
  const provider = open({ url: server.url, isolation: "session" });
  await Promise.all(["a", "b"].map((connection) => call(provider, "echo", { text: connection }, { connection })));
  // The third session is the hub's own, for the lists.
  expect(server.sessions.size).toBe(3);
  provider.release?.("a");
  await expect.poll(() => server.sessions.size).toBe(2);
});

test("uses HTTP+SSE from the first message with transport = sse", async () => {
  await using server = await startSse();
  const provider = open({ url: server.url, transport: "sse" });
  expect(await call(provider, "echo", { text: "old" })).toMatchObject(says("old"));
  expect(server.seen.filter(({ method, url }) => method === "POST" && url === "/sse")).toEqual([]);
});

test("uses no fallback with transport = streamable", async () => {
  await using server = await startSse();
  const provider = open({ url: server.url, transport: "streamable" });
  expect(await names(provider)).toEqual([]);
  expect(provider.status()).toMatchObject({
    state: "down",
    lastError: expect.stringContaining("offers no MCP at this address (HTTP 404)"),
  });
});

/** Returns a listener that forwards all requests to the server on this port of 127.0.0.1. */
function forwardTo(port: number): RequestListener {
  return (request, response) => {
    const onward = sendRequest(
      {
        host: "127.0.0.1",
        port,
        method: request.method,
        path: new URL(request.url ?? "/", "http://x").pathname,
        headers: request.headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  };
}

test("reaches a server through a proxy of the environment", async () => {
  await using server = await startLegacy();
  await using proxy = await startServer(forwardTo(server.port), { path: "" });
  const provider = open({ url: "http://tools.test/mcp" }, { HTTP_PROXY: proxy.url });
  expect(await call(provider, "echo", { text: "far away" })).toMatchObject(says("far away"));
  expect(proxy.seen.every(({ url }) => url === "http://tools.test/mcp")).toBe(true);
});

test("reaches a server with a private CA only if the CA is configured", async () => {
  const file = (name: string): string =>
    fileURLToPath(new URL(`../../../../../test/fixtures/tls/${name}`, import.meta.url));
  await using plain = await startLegacy();
  await using server = await listen(
    createTlsServer(
      { key: readFileSync(file("server.key")), cert: readFileSync(file("server.crt")) },
      forwardTo(plain.port),
    ),
    { scheme: "https" },
  );
  expect(await call(open({ url: server.url, ca: file("ca.crt") }), "echo", { text: "safe" })).toMatchObject(
    says("safe"),
  );
  const stranger = open({ url: server.url });
  expect(await names(stranger)).toEqual([]);
  expect(stranger.status()).toMatchObject({
    state: "down",
    lastError: expect.stringContaining("certificate that cannot be verified"),
  });
});

test("keeps several servers independent of each other", async () => {
  await using good = await startLegacy();
  await using silent = await startServer((request) => void request.resume());
  const slow = open({ url: silent.url });
  const provider = open({ url: good.url });
  expect(await call(provider, "echo", { text: "fast" })).toMatchObject(says("fast"));
  expect(slow.status().state).toBe("starting");
});

test("closing ends the session on the server", async () => {
  await using server = await startLegacy();
  const provider = open({ url: server.url });
  await call(provider, "echo", { text: "" });
  await provider.close();
  expect(server.sessions.size).toBe(0);
  expect(provider.status().state).toBe("closed");
});

// The sockets' other ends are in this process and close in later turns of the event loop.
/** Waits until this process has noticed that no connection to the port is left, which takes time on a busy machine. */
async function closedSocketsNoticed(port: number): Promise<void> {
  const handles = (process as unknown as { _getActiveHandles(): { readonly remotePort?: number }[] })._getActiveHandles;
  await expect.poll(() => handles().some(({ remotePort }) => remotePort === port)).toBe(false);
  await nextTurn();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

test("the official everything server gives the same results over HTTP as over stdio", async () => {
  const port = await freePort();
  const script = fileURLToPath(
    new URL("../../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
  );
  const child = spawn(process.execPath, [script, "streamableHttp"], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    await new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
      child.stderr.on("data", (chunk) => String(chunk).includes("listening") && resolve());
    });
    const provider = open({ host: "127.0.0.1", port });
    expect(await call(provider, "echo", { message: "hi" })).toMatchObject(says("Echo: hi"));
    const notifications: CallNotification[] = [];
    await call(provider, "trigger-long-running-operation", { duration: 0.2, steps: 4 }, { notifications });
    expect(notifications.filter(({ method }) => method === "notifications/progress")).toHaveLength(4);
    expect((await provider.listing()).prompts.length).toBeGreaterThan(0);
  } finally {
    const gone = new Promise((resolve) => void child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }
});
