import { afterEach, expect, test } from "vitest";
import {
  readJson,
  startLegacy,
  startModern,
  startServer,
  startSse,
} from "../../../../../../test/fixtures/http-servers.ts";
import { failureOf, modernParams, Peer } from "../../../../../../test/fixtures/transport-peer.ts";
import { AutoHttpTransport, type KnownTransport } from "./auto.ts";
import { HttpClient } from "../../../outbound/client/http-client.ts";
import { HttpSseTransport } from "./http-sse.ts";

const clients: HttpClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

function optionsFor(url: string) {
  const headers = { authorization: "Bearer s3cret" };
  const client = new HttpClient({
    label: "far",
    url: new URL(url),
    headers,
    caFiles: [],
    connectTimeoutMs: 2000,
    maxConnections: 8,
  });
  clients.push(client);
  return { client, maxMessageBytes: 100_000, maxMessageParts: 10_000, idleMs: 5000, reopenDelayMs: 20 };
}

test("C21: lists, calls, receives progress and answers requests of a server of 2024-11-05", async () => {
  await using server = await startSse();
  await using peer = await new Peer(new HttpSseTransport(optionsFor(server.url))).open();
  await peer.initialize();
  expect(await peer.request("tools/list")).toMatchObject({ result: { tools: expect.any(Array) } });
  await peer.request("tools/call", { name: "steps", arguments: { count: 3 }, _meta: { progressToken: 1 } });
  expect(peer.received.filter(({ message }) => message["method"] === "notifications/progress")).toHaveLength(3);
  const answer = peer.request("tools/call", { name: "ask", arguments: {} });
  const { message } = await peer.waitFor((one) => one["method"] === "elicitation/create");
  await peer.transport.send({ jsonrpc: "2.0", id: message["id"] as number, result: { action: "decline" } });
  expect(JSON.stringify(await answer)).toContain("decline");
  expect(server.seen.every(({ headers }) => headers["authorization"] === "Bearer s3cret")).toBe(true);
});

test("ends the connection when the stream ends", async () => {
  const server = await startSse();
  await using peer = await new Peer(new HttpSseTransport(optionsFor(server.url))).open();
  await server.close();
  expect(await peer.closed).toMatchObject({ kind: "unavailable" });
  expect(await failureOf(peer.request("ping"))).toMatchObject({ kind: "unavailable", details: { sent: false } });
});

test("ends the connection if the stream ends right after it named its endpoint", async () => {
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    setImmediate(() => response.end("event: endpoint\ndata: /messages\n\n"));
  });
  await using peer = await new Peer(new HttpSseTransport(optionsFor(server.url))).open();
  expect(await peer.closed).toMatchObject({ kind: "unavailable" });
  expect(await failureOf(peer.request("ping"))).toMatchObject({ kind: "unavailable", details: { sent: false } });
});

test("S10: rejects an endpoint on another server before anything is posted there", async () => {
  await using other = await startServer((_request, response) => void response.writeHead(202).end());
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(`event: endpoint\ndata: ${other.url}\n\n`);
  });
  const peer = new Peer(new HttpSseTransport(optionsFor(server.url)));
  expect(await failureOf(peer.open())).toMatchObject({ kind: "malformed" });
  expect(other.seen).toEqual([]);
});

test("reports the status of an address without an event stream", async () => {
  await using server = await startServer((_request, response) => void response.writeHead(404).end());
  expect(await failureOf(new Peer(new HttpSseTransport(optionsFor(server.url))).open())).toMatchObject({
    kind: "unavailable",
    details: { status: 404 },
  });
});

test("ends the connection if the server forgot the session, and reports the refused message as not sent", async () => {
  await using server = await startServer(async (request, response) => {
    if (request.method === "POST") return void response.writeHead(404).end("Session not found");
    response.writeHead(200, { "content-type": "text/event-stream" }).write("event: endpoint\ndata: /messages?s=1\n\n");
  });
  await using peer = await new Peer(new HttpSseTransport(optionsFor(server.url))).open();
  expect(await failureOf(peer.request("ping"))).toMatchObject({ kind: "unavailable", details: { sent: false } });
  expect(await peer.closed).toMatchObject({ details: { sessionLost: true } });
});

test("C21: switches to HTTP+SSE and remembers that if a POST is refused", async () => {
  await using server = await startSse();
  const framing: KnownTransport = {};
  const options = optionsFor(server.url);
  await using peer = await new Peer(new AutoHttpTransport(options, framing)).open();
  expect(await failureOf(peer.request("server/discover", modernParams()))).toMatchObject({ details: { status: 404 } });
  await peer.initialize();
  expect(await peer.request("tools/call", { name: "echo", arguments: { text: "old" } })).toMatchObject({
    result: { content: [{ text: "old" }] },
  });
  expect(peer.transport.describe()).toMatchObject({ framing: "http+sse" });
  expect(framing.known).toBe("sse");

  const posts = server.seen.filter(({ url }) => url === "/sse").length;
  await using second = await new Peer(new AutoHttpTransport(options, framing)).open();
  await second.initialize();
  expect(server.seen.filter(({ url }) => url === "/sse")).toHaveLength(posts + 1);
});

test("uses the newer protocol after a newer server has replaced the old one", async () => {
  await using server = await startLegacy();
  const framing: KnownTransport = { known: "sse" };
  await using peer = await new Peer(new AutoHttpTransport(optionsFor(server.url), framing)).open();
  await peer.initialize();
  expect(peer.transport.describe()).toMatchObject({ framing: "streamable-http" });
  expect(framing.known).toBe("streamable");
});

test("never requests HTTP+SSE from a modern server", async () => {
  await using server = await startModern();
  await using peer = await new Peer(new AutoHttpTransport(optionsFor(server.url), {})).open();
  expect(await peer.request("server/discover", modernParams())).toMatchObject({
    result: { supportedVersions: ["2026-07-28"] },
  });
  expect(server.seen.map(({ method }) => method)).toEqual(["POST"]);
});

test("fails with the first refusal if the server supports neither transport", async () => {
  await using server = await startServer(async (request, response) => {
    await readJson(request);
    response.writeHead(request.method === "POST" ? 405 : 404).end();
  });
  await using peer = await new Peer(new AutoHttpTransport(optionsFor(server.url), {})).open();
  expect(await failureOf(peer.initialize())).toMatchObject({
    kind: "unavailable",
    retryable: false,
    details: { status: 405 },
  });
});
