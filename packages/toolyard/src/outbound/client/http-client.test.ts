import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect as connectTcp } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { listen, sendJson, startServer, type RunningServer } from "../../../../../test/fixtures/http-servers.ts";
import { failureOf } from "../../../../../test/fixtures/transport-peer.ts";
import { discard, readText } from "./body.ts";
import { HttpClient, type HttpClientOptions, type OutgoingRequest } from "./http-client.ts";

const clients: HttpClient[] = [];

afterEach(closeClients);

async function closeClients(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.close()));
}

function createClient(url: string, options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = new HttpClient({
    label: "far",
    url: new URL(url),
    headers: {},
    caFiles: [],
    connectTimeoutMs: 2000,
    maxConnections: 4,
    ...options,
  });
  clients.push(client);
  return client;
}

const post: OutgoingRequest = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: "{}",
  signal: new AbortController().signal,
  idleMs: 5000,
};

async function ask(client: HttpClient, request: Partial<OutgoingRequest> = {}): Promise<string> {
  const { signal } = post;
  const response = await client.request({ ...post, ...request });
  return `${response.status} ${await readText(response.body, { place: client.place, maxBytes: 1000, signal })}`;
}

test("follows a redirect within the server with the same method, body and credentials", async () => {
  await using server = await startServer(async (request, response) => {
    if (request.url === "/mcp") return void response.writeHead(307, { location: "/mcp/" }).end();
    let body = "";
    for await (const chunk of request) body += String(chunk);
    response.end(`${request.method} ${body} ${request.headers.authorization}`);
  });
  expect(await ask(createClient(server.url, { headers: { authorization: "Bearer s3cret" } }))).toBe(
    "200 POST {} Bearer s3cret",
  );
});

test("S10: does not follow a redirect to another server, and sends it no credentials or arguments", async () => {
  await using other = await startServer((_request, response) => void response.end("{}"));
  await using server = await startServer(
    (_request, response) => void response.writeHead(307, { location: `${other.url}?key=1` }).end(),
  );
  const failure = await failureOf(ask(createClient(server.url, { headers: { authorization: "Bearer s3cret" } })));
  expect(failure).toMatchObject({ kind: "unavailable", retryable: false, details: { sent: false } });
  expect(failure.message).toContain(`redirects to ${other.url}, which is another server`);
  expect(other.seen).toEqual([]);
});

test.each(["ftp://example.org/x", "file:///etc/passwd", "http://"])(
  "S10: rejects a redirect to %s",
  async (location) => {
    await using server = await startServer((_request, response) => void response.writeHead(302, { location }).end());
    expect(await failureOf(ask(createClient(server.url)))).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("cannot be used"),
    });
  },
);

test("S10: limits the number of redirects", async () => {
  await using server = await startServer(
    (_request, response) => void response.writeHead(308, { location: "/mcp" }).end(),
  );
  expect(await failureOf(ask(createClient(server.url)))).toMatchObject({
    message: expect.stringContaining("more than 3 times"),
  });
  expect(server.seen).toHaveLength(4);
});

test("M5: reports a refused connection with server, address and advice, as not sent", async () => {
  const server = await startServer(() => {});
  await server.close();
  expect(await failureOf(ask(createClient(`${server.url}?key=s3cret`)))).toMatchObject({
    kind: "unavailable",
    retryable: true,
    message: `\`far\` at 127.0.0.1:${server.port} refused the connection. Start the server, or correct \`url\`.`,
    details: { sent: false },
  });
});

test("M5: ends with a timeout if the server sends nothing", async () => {
  await using server = await startServer(() => {});
  expect(await failureOf(ask(createClient(server.url), { idleMs: 50 }))).toMatchObject({ kind: "timeout" });
});

test("reports a connection reset within the answer as unavailable, and possibly executed", async () => {
  await using server = await startServer((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("{", () => response.socket?.resetAndDestroy());
  });
  const failure = await failureOf(ask(createClient(server.url)));
  expect(failure).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("before the answer was complete"),
  });
  expect(failure.details).toBeUndefined();
});

test("fails as malformed if the answer is not HTTP", async () => {
  const { createServer } = await import("node:net");
  const server = createServer((socket) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const failure = await failureOf(ask(createClient(`http://127.0.0.1:${port}/mcp`)));
  server.close();
  expect(failure).toMatchObject({ kind: "malformed" });
});

test("rejects an aborted request with the reason of the abort", async () => {
  await using server = await startServer(() => {});
  const controller = new AbortController();
  const work = failureOf(ask(createClient(server.url), { signal: controller.signal }));
  await expect.poll(() => server.seen.length).toBe(1);
  controller.abort(new Error("enough"));
  expect(await work).toMatchObject({ kind: "cancelled", cause: expect.objectContaining({ message: "enough" }) });
});

test("keeps connections and uses them again", async () => {
  let connections = 0;
  const server = createHttpServer((request, response) => {
    request.resume();
    sendJson(response, 200, {});
  });
  server.on("connection", () => {
    connections += 1;
  });
  await using running = await listen(server);
  const client = createClient(running.url);
  for (let call = 0; call < 20; call += 1) await ask(client);
  expect(connections).toBeLessThan(4);
});

test("discards the rest of an unwanted body up to a limit", async () => {
  await using server = await startServer((_request, response) => void response.end(Buffer.alloc(10_000_000)));
  const response = await createClient(server.url).request(post);
  const closed = new Promise((resolve) => response.body.onceOver(() => resolve(undefined)));
  discard(response.body);
  await closed;
  expect(response.body.isDestroyed).toBe(true);
});

test("omits the query, and path segments that may be keys, from a displayed URL", () => {
  const client = createClient("https://hooks.test/api/mcp/s/NDk3ZjQyMTktYjA0/streamable-endpoint?key=s3cret");
  expect(client.endpoint).toBe("https://hooks.test/api/mcp/s/…/streamable-endpoint");
});

async function startProxy(target: RunningServer): Promise<RunningServer & { readonly tunnels: string[] }> {
  const tunnels: string[] = [];
  const server = createHttpServer((request, response) =>
    response.end(`proxied ${request.method} ${request.url} ${request.headers["proxy-authorization"] ?? ""}`),
  );
  server.on("connect", (request, socket) => {
    tunnels.push(request.url ?? "");
    const onward = connectTcp(target.port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
    socket.on("close", () => onward.destroy());
  });
  return { ...(await listen(server, { path: "" })), tunnels };
}

test("sends plain HTTP through a proxy without a tunnel, with the proxy's credentials", async () => {
  await using target = await startServer(() => {});
  await using proxy = await startProxy(target);
  const withUser = proxy.url.replace("://", "://user:pass@");
  expect(await ask(createClient("http://tools.test/mcp?a=1", { proxy: withUser }))).toBe(
    "200 proxied POST http://tools.test/mcp?a=1 Basic dXNlcjpwYXNz",
  );
});

const tlsFile = (name: string): string =>
  fileURLToPath(new URL(`../../../../../test/fixtures/tls/${name}`, import.meta.url));

function startTlsServer(): Promise<RunningServer> {
  const server = createTlsServer(
    { key: readFileSync(tlsFile("server.key")), cert: readFileSync(tlsFile("server.crt")) },
    (request, response) => {
      request.resume();
      response.end("secure");
    },
  );
  return listen(server, { scheme: "https" });
}

test("sends HTTPS through a tunnel of the proxy, and still verifies the certificate", async () => {
  await using target = await startTlsServer();
  await using proxy = await startProxy(target);
  const url = `https://localhost:${target.port}/mcp`;
  expect(await ask(createClient(url, { proxy: proxy.url, caFiles: [tlsFile("ca.crt")] }))).toBe("200 secure");
  expect(proxy.tunnels).toEqual([`localhost:${target.port}`]);
  expect(await failureOf(ask(createClient(url, { proxy: proxy.url })))).toMatchObject({
    message: expect.stringContaining("cannot be verified"),
  });
  await closeClients();
});

test("names the proxy in the failure if the proxy refuses", async () => {
  const server = createHttpServer();
  server.on("connect", (_request, socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n"));
  await using proxy = await listen(server, { path: "" });
  const failure = await failureOf(ask(createClient("https://tools.test/mcp", { proxy: proxy.url })));
  expect(failure).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("behind a proxy"),
    details: { sent: false },
  });
});

test("accepts a certificate of a private CA that is configured", async () => {
  await using server = await startTlsServer();
  expect(await ask(createClient(server.url, { caFiles: [tlsFile("ca.crt")] }))).toBe("200 secure");
});

test("rejects a certificate without a trusted issuer before anything is sent", async () => {
  await using server = await startTlsServer();
  expect(await failureOf(ask(createClient(server.url)))).toMatchObject({
    kind: "unavailable",
    retryable: false,
    message: expect.stringContaining("name its file in `ca`"),
    details: { sent: false },
  });
});

describe("when the environment disables certificate verification", () => {
  beforeEach(() => void vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0"));
  afterEach(() => void vi.unstubAllEnvs());

  test("still verifies certificates", async () => {
    await using server = await startTlsServer();
    const failure = await failureOf(ask(createClient(server.url)));
    expect(failure).toMatchObject({ kind: "unavailable", details: { sent: false } });
    expect(failure.message).toContain("Verification cannot be turned off");
    expect(await ask(createClient(server.url, { caFiles: [tlsFile("ca.crt")] }))).toBe("200 secure");
  });

  test("still verifies certificates through a proxy", async () => {
    await using target = await startTlsServer();
    await using proxy = await startProxy(target);
    const url = `https://localhost:${target.port}/mcp`;
    const failure = await failureOf(ask(createClient(url, { proxy: proxy.url })));
    expect(failure.message).toContain("cannot be verified");
    expect(await ask(createClient(url, { proxy: proxy.url, caFiles: [tlsFile("ca.crt")] }))).toBe("200 secure");
    await closeClients();
  });
});

test("names the option, but not the path, of a missing CA file", async () => {
  const failure = await failureOf(ask(createClient("https://127.0.0.1:1/mcp", { caFiles: ["/no/such/file.crt"] })));
  expect(failure.message).toBe("`far` at 127.0.0.1:1 cannot be verified: its `ca` file cannot be read.");
});
