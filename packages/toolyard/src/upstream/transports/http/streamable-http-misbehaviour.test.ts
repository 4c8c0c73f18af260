import type { RequestListener } from "node:http";
import { afterEach, expect, test } from "vitest";
import { readJson, sendJson, startLegacy, startServer } from "../../../../../../test/fixtures/http-servers.ts";
import { failureOf, modernParams, Peer } from "../../../../../../test/fixtures/transport-peer.ts";
import type { Fail } from "../../../core/calls/outcome.ts";
import { HttpClient } from "../../../outbound/client/http-client.ts";
import { retryAfterMs } from "../../../outbound/client/retry-after.ts";
import { StreamableHttpTransport } from "./streamable-http.ts";

const clients: HttpClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

const SECRET = "s3cret";

function connect(url: string): Promise<Peer> {
  const headers = { authorization: `Bearer ${SECRET}` };
  const client = new HttpClient({
    label: "far",
    url: new URL(`${url}?key=${SECRET}`),
    headers,
    caFiles: [],
    connectTimeoutMs: 2000,
    maxConnections: 4,
  });
  clients.push(client);
  return new Peer(
    new StreamableHttpTransport({
      client,
      maxMessageBytes: 100_000,
      maxMessageParts: 1_000_000,
      idleMs: 5000,
      reopenDelayMs: 20,
    }),
  ).open();
}

/** Returns the failure of one call to a server with this behaviour. */
async function callTo(listener: RequestListener): Promise<Fail> {
  await using server = await startServer(listener);
  await using peer = await connect(server.url);
  return await failureOf(peer.request("tools/call", modernParams({ name: "x", arguments: {} })));
}

function answering(status: number, headers: Record<string, string> = {}, body = ""): RequestListener {
  return (request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  };
}

const sse = { "content-type": "text/event-stream" };
const json = { "content-type": "application/json" };
const challenge =
  'Bearer error="invalid_token", resource_metadata="https://far.test/.well-known/oauth-protected-resource", ' +
  'scope="tools:read"';

const table: [string, RequestListener, object][] = [
  [
    "401 with a challenge",
    answering(401, { "www-authenticate": challenge }),
    {
      kind: "needs_authorisation",
      retryable: false,
      details: {
        status: 401,
        sent: false,
        signIn: "https://far.test/.well-known/oauth-protected-resource",
        scope: "tools:read",
      },
    },
  ],
  ["401 without a challenge", answering(401), { kind: "needs_authorisation", details: { status: 401, sent: false } }],
  [
    "401 with a protocol error",
    answering(401, json, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"who?"}}'),
    { kind: "needs_authorisation" },
  ],
  [
    "401 that names a strange place to sign in",
    answering(401, { "www-authenticate": 'Bearer resource_metadata="javascript:alert(1)"' }),
    { kind: "needs_authorisation", details: { status: 401, sent: false } },
  ],
  ["403", answering(403), { kind: "needs_authorisation", details: { status: 403, sent: false } }],
  [
    "404",
    answering(404, {}, "<h1>Not found</h1>"),
    { kind: "unavailable", retryable: false, details: { status: 404, sent: false } },
  ],
  ["413", answering(413), { kind: "too_large", details: { status: 413, sent: false } }],
  [
    "429 with Retry-After",
    answering(429, { "retry-after": "7" }),
    { kind: "limited", retryable: true, retryAfterMs: 7000, details: { status: 429, sent: false } },
  ],
  [
    "429 with a protocol error",
    answering(429, json, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"slow down"}}'),
    { kind: "limited" },
  ],
  [
    "503 with Retry-After",
    answering(503, { "retry-after": "2" }),
    { kind: "unavailable", retryAfterMs: 2000, details: { status: 503, sent: false } },
  ],
  ["500", answering(500), { kind: "unavailable", details: { status: 500 } }],
  ["204", answering(204), { kind: "malformed" }],
  ["202", answering(202), { kind: "malformed" }],
  [
    "HTML",
    answering(200, { "content-type": "text/html" }, "<h1>hello</h1>"),
    { kind: "malformed", message: expect.stringContaining("`text/html`") },
  ],
  ["JSON that is none", answering(200, json, '{"jsonrpc":"2.0",'), { kind: "malformed" }],
  [
    "JSON that answers something else",
    answering(200, json, '{"jsonrpc":"2.0","id":99,"result":{}}'),
    { kind: "malformed" },
  ],
  [
    "JSON that nests for ever",
    answering(200, json, `{"jsonrpc":"2.0","id":1,"result":{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`),
    { kind: "malformed" },
  ],
  [
    "JSON over the bound",
    answering(200, json, `"${"x".repeat(200_000)}"`),
    { kind: "too_large", details: { maxBytes: 100_000 } },
  ],
  [
    "an event over the bound",
    answering(200, sse, `data: ${"x".repeat(200_000)}\n\n`),
    { kind: "too_large", details: { maxBytes: 100_000 } },
  ],
  ["an event stream that ends without an answer", answering(200, sse, ": nothing\n\n"), { kind: "unavailable" }],
  [
    "an event stream that ends in the middle of an event",
    answering(200, sse, 'data: {"jsonrpc":"2.0","id":1,'),
    { kind: "unavailable" },
  ],
  ["an event stream that is no JSON", answering(200, sse, "data: hello\n\n"), { kind: "unavailable" }],
  [
    "the stream of HTTP+SSE",
    answering(200, sse, "event: endpoint\ndata: /messages\n\n"),
    { kind: "unavailable", message: expect.stringContaining("HTTP+SSE") },
  ],
];

test.each(table)("M5: reports %s as one clear failure without a secret", async (_, listener, expected) => {
  const failure = await callTo(listener);
  expect(failure).toMatchObject(expected);
  expect(failure.message).toMatch(/^`far` at 127\.0\.0\.1:\d+ /);
  expect(JSON.stringify(failure)).not.toContain(SECRET);
});

test("rejects an answer of 50 MB as soon as the limit is exceeded, and does not read the rest", async () => {
  let written = 0;
  const failure = await callTo((request, response) => {
    request.resume();
    response.writeHead(200, json);
    const chunk = Buffer.alloc(64 * 1024, "x");
    const write = (): void => {
      while (written < 50_000_000 && !response.destroyed) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", write);
      }
      response.end();
    };
    write();
  });
  expect(failure.kind).toBe("too_large");
  expect(written).toBeLessThan(20_000_000);
});

test("fails a request whose response is reset half-way, and serves the next one", async () => {
  let isFirst = true;
  await using server = await startServer(async (request, response) => {
    const { id } = await readJson(request);
    if (!isFirst) return sendJson(response, 200, { jsonrpc: "2.0", id, result: {} });
    isFirst = false;
    response.writeHead(200, sse);
    response.write("data: {", () => response.socket?.resetAndDestroy());
  });
  await using peer = await connect(server.url);
  expect(await failureOf(peer.request("ping"))).toMatchObject({ kind: "unavailable" });
  expect(await peer.request("ping")).toMatchObject({ result: {} });
});

test("fails a request that is never answered at the inactivity limit, or at the caller's own", async () => {
  await using server = await startServer((request) => void request.resume());
  await using peer = await connect(server.url);
  expect(await failureOf(peer.request("ping", {}, { idleMs: 20 }))).toMatchObject({ kind: "timeout" });
});

test("completes a request although its stream stays open after the answer", async () => {
  await using server = await startServer(async (request, response) => {
    const { id } = await readJson(request);
    response.writeHead(200, sse).write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n\n`);
  });
  await using peer = await connect(server.url);
  await peer.transport.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(peer.received).toHaveLength(1);
});

test("reports noise on a stream and still receives the answer", async () => {
  await using server = await startServer(async (request, response) => {
    const { id } = await readJson(request);
    response
      .writeHead(200, sse)
      .end(
        ": hello\n\nevent: other\ndata: x\n\ndata: oops\n\n" +
          `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n\n`,
      );
  });
  await using peer = await connect(server.url);
  expect(await peer.request("ping")).toMatchObject({ result: {} });
  expect(peer.noise).toEqual([{ kind: "not-json", message: expect.any(String), sample: "oops" }]);
});

test("delivers the matching answer on a stream even if an answer with an unknown id precedes it", async () => {
  await using server = await startServer(async (request, response) => {
    const { id } = await readJson(request);
    const reply = (answered: unknown): string =>
      `data: ${JSON.stringify({ jsonrpc: "2.0", id: answered, result: {} })}\n\n`;
    response.writeHead(200, sse).end(reply(77) + reply(id));
  });
  await using peer = await connect(server.url);
  await peer.request("ping");
  expect(peer.received.map(({ message }) => message["id"])).toEqual([77, 1]);
});

test("authenticates with the configured token at a server that accepts no other", async () => {
  await using server = await startLegacy({ token: SECRET });
  await using _peer = await (await connect(server.url)).initialize();
  await using other = await startLegacy({ token: "another" });
  await using stranger = await connect(other.url);
  expect(await failureOf(stranger.initialize())).toMatchObject({ kind: "needs_authorisation" });
});

test("reads Retry-After as seconds or a date, up to a day", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(retryAfterMs("5", now)).toBe(5000);
  expect(retryAfterMs("Thu, 01 Jan 2026 00:00:09 GMT", now)).toBe(9000);
  expect(retryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0);
  expect(retryAfterMs("999999999", now)).toBe(86_400_000);
  expect(retryAfterMs("soon", now)).toBeUndefined();
});
