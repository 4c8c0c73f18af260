import type { RequestListener } from "node:http";
import { afterEach, expect, test } from "vitest";
import { startServer, type RunningServer } from "../../../../test/fixtures/http-servers.ts";
import { OutboundClient, retryAfterMs, type OutboundOptions, type OutboundRequest } from "./outbound-client.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function serve(listener: RequestListener): Promise<RunningServer> {
  const server = await startServer(listener, { path: "/" });
  opened.push(server);
  return server;
}

function open(options: Partial<OutboundOptions> = {}): OutboundClient {
  const client = new OutboundClient({ userAgent: "tester/1", environment: {}, ...options });
  opened.push(client);
  return client;
}

const ask = (client: OutboundClient, url: string, more: Partial<OutboundRequest> = {}) =>
  client.request({ service: "Somebody", url: new URL(url), timeoutMs: 5000, maxBytes: 1000, reach: "origin", ...more });

test("returns the whole answer with any status", async () => {
  const server = await serve((_request, response) => void response.writeHead(418, { "retry-after": "2" }).end("short"));
  const response = await ask(open(), server.url, { headers: { "x-key": "k" } });
  expect([response.status, response.body.toString(), retryAfterMs(response, 0)]).toEqual([418, "short", 2000]);
  expect(server.seen[0]?.headers).toMatchObject({
    "user-agent": "tester/1",
    "x-key": "k",
    "accept-encoding": "identity",
  });
});

test.each([
  [307, "POST", "body"],
  [308, "POST", "body"],
  [301, "GET", ""],
  [302, "GET", ""],
  [303, "GET", ""],
])("after status %i, the next request is a %s", async (status, method, body) => {
  let received = "";
  const server = await serve((request, response) => {
    if (request.url === "/") return void response.writeHead(status, { location: "/next" }).end();
    request.on("data", (chunk: Buffer) => (received += chunk.toString())).on("end", () => response.end("there"));
  });
  expect((await ask(open(), server.url, { method: "POST", body: "body" })).body.toString()).toBe("there");
  expect([server.seen[1]?.method, received]).toEqual([method, body]);
});

test.each([
  "http://127.0.0.1:9/",
  "http://localhost:9/",
  "http://[::ffff:10.0.0.1]/",
  "http://metadata.google.internal/",
])("S10: rejects %s if only the public internet is allowed", async (url) => {
  await expect(ask(open(), url, { reach: "public" })).rejects.toMatchObject({
    failure: { kind: "denied", message: expect.not.stringContaining(new URL(url).host) as string },
  });
});

test("S10: rejects any scheme but http and https", async () => {
  await expect(ask(open(), "file:///etc/passwd")).rejects.toMatchObject({ failure: { kind: "denied" } });
});

test("uses a proxy for remote hosts, and not for this machine", async () => {
  const proxy = await serve((_request, response) => void response.end("by proxy"));
  const server = await serve((_request, response) => void response.end("straight"));
  const client = open({ environment: { HTTP_PROXY: proxy.url } });
  expect((await ask(client, "http://search.test/q?a=1")).body.toString()).toBe("by proxy");
  expect(proxy.seen[0]?.url).toBe("http://search.test/q?a=1");
  expect((await ask(client, server.url)).body.toString()).toBe("straight");
});

test("sends no request after it was closed", async () => {
  const client = open();
  await client.close();
  await expect(ask(client, "http://127.0.0.1:9/")).rejects.toMatchObject({
    failure: { kind: "unavailable", retryable: false },
  });
});
