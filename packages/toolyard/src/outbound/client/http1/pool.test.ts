import { readFileSync } from "node:fs";
import type { LookupFunction } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { answerOf, startRaw, type RawServer } from "../../../../../../test/fixtures/raw-answers.ts";
import { Canceller } from "../../../core/calls/cancellation.ts";
import { readBytes } from "../body.ts";
import type { HttpResponse, TransportRequest } from "../sender.ts";
import { createHttp1Pool, type Http1Pool, type Http1PoolOptions } from "./pool.ts";

const pools: Http1Pool[] = [];

afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.destroy())));

type Options = Partial<Http1PoolOptions>;

async function poolOf(server: Pick<RawServer, "origin">, options: Options = {}): Promise<Http1Pool> {
  const pool = await createHttp1Pool({
    origin: server.origin,
    connectTimeoutMs: 20_000,
    maxConnections: 4,
    ...options,
  });
  pools.push(pool);
  return pool;
}

function send(
  pool: Http1Pool,
  origin: string,
  changes: Partial<TransportRequest> & { signal?: Canceller } = {},
): Promise<HttpResponse> {
  const { signal = new Canceller(), ...other } = changes;
  const silenceMs = 60_000;
  return pool.send({ origin, path: "/mcp", method: "POST", headers: {}, body: "{}", silenceMs, ...other }, signal);
}

/** Returns the body of the answer to one request. */
async function ask(pool: Http1Pool, origin: string, changes: Partial<TransportRequest> = {}): Promise<string> {
  return bodyOf(await send(pool, origin, changes));
}

async function bodyOf({ body }: Pick<HttpResponse, "body">): Promise<string> {
  const asItIs = (error: unknown): never => error as never;
  const tooLarge = (): never => asItIs(new Error("too large"));
  return (await readBytes(body, 100_000_000, { tooLarge, broken: asItIs })).toString();
}

/** Returns the code with which a promise rejects. */
const code = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => ({ value }),
    (error: { code?: string }) => error.code,
  );

test("sends a binary body unchanged", async () => {
  await using server = await startRaw({
    answer: ({ socket, body }) => socket.write(answerOf(Buffer.from(body, "latin1").toString("hex"))),
  });
  const pool = await poolOf(server);
  for (const bytes of [[], [0xff, 0x00, 0xc3, 0x28], [0x41, 0x42]])
    expect(await ask(pool, server.origin, { body: Uint8Array.from(bytes) })).toBe(Buffer.from(bytes).toString("hex"));
});

test("sends only its own head with each request on a kept connection", async () => {
  await using server = await startRaw({ answer: ({ socket }) => socket.write(answerOf("ok")) });
  const pool = await poolOf(server);
  const all: readonly Partial<TransportRequest>[] = [
    { headers: { "x-one": "a", "x-two": "b" } },
    { headers: { "x-one": "a", "x-two": "b" }, body: "longer" },
    { headers: { "x-one": "a", "x-two": "c" } },
    { headers: { "x-two": "c", "x-one": "a" } },
    { headers: { "x-two": "c" } },
    { headers: { "x-two": "c", "x-three": "" } },
    { headers: {}, path: "/other" },
    { headers: {}, path: "/other", method: "DELETE" },
  ];
  for (const changes of all) await ask(pool, server.origin, changes);
  const told = server.requests.map(({ head }) =>
    head.split("\r\n").filter((line) => !/^(?:host|connection):/.test(line)),
  );
  expect(told).toEqual([
    ["POST /mcp HTTP/1.1", "x-one: a", "x-two: b", "content-length: 2"],
    ["POST /mcp HTTP/1.1", "x-one: a", "x-two: b", "content-length: 6"],
    ["POST /mcp HTTP/1.1", "x-one: a", "x-two: c", "content-length: 2"],
    ["POST /mcp HTTP/1.1", "x-two: c", "x-one: a", "content-length: 2"],
    ["POST /mcp HTTP/1.1", "x-two: c", "content-length: 2"],
    ["POST /mcp HTTP/1.1", "x-two: c", "x-three: ", "content-length: 2"],
    ["POST /other HTTP/1.1", "content-length: 2"],
    ["DELETE /other HTTP/1.1", "content-length: 2"],
  ]);
});

test("rejects a header that must not be sent, also after a valid request", async () => {
  await using server = await startRaw({ answer: ({ socket }) => socket.write(answerOf("ok")) });
  const pool = await poolOf(server);
  await ask(pool, server.origin, { headers: { "x-one": "a" } });
  expect(await code(send(pool, server.origin, { headers: { "x-one": "a\r\nx-two: b" } }))).toBe("TOOLYARD_BAD_REQUEST");
  expect(await ask(pool, server.origin, { headers: { "x-one": "a" } })).toBe("ok");
  expect(server.requests).toHaveLength(2);
});

test("writes head and body of a request in one piece", async () => {
  await using server = await startRaw({ answer: ({ socket }) => socket.write(answerOf("ok")) });
  const pool = await poolOf(server);
  expect(await ask(pool, server.origin, { path: "/a?b=c", headers: { "x-one": "é" }, body: "ü" })).toBe("ok");
  const [{ head, body } = { head: "", body: "" }] = server.requests;
  expect(head.split("\r\n")).toEqual([
    "POST /a?b=c HTTP/1.1",
    `host: 127.0.0.1:${server.port}`,
    "connection: keep-alive",
    "x-one: é",
    "content-length: 2",
  ]);
  expect(Buffer.from(body, "latin1").toString()).toBe("ü");
});

test("sends no Content-Length for a request without a body", async () => {
  await using server = await startRaw({ answer: ({ socket }) => socket.write(answerOf("ok")) });
  const pool = await poolOf(server);
  expect(await ask(pool, server.origin, { method: "GET", body: undefined })).toBe("ok");
  expect(server.requests[0]?.head).not.toMatch(/content-length|transfer-encoding/i);
});

test.each([
  ["a line break in a value", { headers: { "x-one": "a\r\nx-two: b" } }],
  ["a character beyond Latin-1 in a value", { headers: { "x-one": "→" } }],
  ["a line break in a name", { headers: { "x-one\r\nx-two": "b" } }],
  ["a length of its own", { headers: { "content-length": "1" } }],
  ["a transfer encoding", { headers: { "transfer-encoding": "chunked" } }],
  ["another host", { headers: { host: "other.test" } }],
  ["a space in the path", { path: "/a HTTP/1.1" }],
  ["a line break in the path", { path: "/a\r\nx: y" }],
])("does not send a request with %s", async (_, changes) => {
  await using server = await startRaw({ answer: ({ socket }) => socket.write(answerOf("ok")) });
  const pool = await poolOf(server);
  expect(await code(send(pool, server.origin, changes as Partial<TransportRequest>))).toBe("TOOLYARD_BAD_REQUEST");
  expect(server.sockets).toHaveLength(0);
});

test("sends nothing to another origin", async () => {
  await using server = await startRaw({ answer: ({ socket }) => socket.write(answerOf("ok")) });
  const pool = await poolOf(server);
  expect(await code(send(pool, "http://other.test"))).toBe("TOOLYARD_CLOSED");
  expect(server.sockets).toHaveLength(0);
});

test("reuses connections, opens as many as needed up to the limit, and queues further requests", async () => {
  const waiting: (() => void)[] = [];
  await using server = await startRaw({
    answer: ({ socket, body }) => {
      if (body === "now") socket.write(answerOf(body));
      else waiting.push(() => socket.write(answerOf(body)));
    },
  });
  const pool = await poolOf(server, { maxConnections: 2 });
  for (let turn = 0; turn < 10; turn += 1) expect(await ask(pool, server.origin, { body: "now" })).toBe("now");
  expect(server.sockets).toHaveLength(1);
  const answers = ["a", "b", "c", "d"].map((body) => ask(pool, server.origin, { body }));
  await expect.poll(() => waiting.length).toBe(2);
  for (let turn = 0; turn < 4; turn += 1) {
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    waiting.shift()!();
  }
  expect(await Promise.all(answers)).toEqual(["a", "b", "c", "d"]);
  expect(server.sockets).toHaveLength(2);
});

test("limits queued requests, and rejects further requests as not sent", async () => {
  await using server = await startRaw({ answer: () => {} });
  const pool = await poolOf(server, { maxConnections: 1 });
  const signal = new Canceller();
  const all = Array.from({ length: 10_001 }, () => code(send(pool, server.origin, { signal })));
  expect(await code(send(pool, server.origin))).toBe("TOOLYARD_CROWDED");
  signal.abort(Object.assign(new Error("enough"), { code: "ENOUGH" }));
  expect(new Set(await Promise.all(all))).toEqual(new Set(["ENOUGH"]));
});

test("never sends a request that is cancelled in the queue, and sends the next one", async () => {
  let release = (): void => {};
  await using server = await startRaw({
    answer: ({ socket, body }) => {
      if (body === "first") release = () => void socket.write(answerOf(body));
      else socket.write(answerOf(body));
    },
  });
  const pool = await poolOf(server, { maxConnections: 1 });
  const first = ask(pool, server.origin, { body: "first" });
  await expect.poll(() => server.requests.length).toBe(1);
  const signal = new Canceller();
  const second = code(send(pool, server.origin, { body: "second", signal }));
  const third = ask(pool, server.origin, { body: "third" });
  signal.abort(new Error("enough"));
  await second;
  release();
  expect(await Promise.all([first, third])).toEqual(["first", "third"]);
  expect(server.requests.map(({ body }) => body)).toEqual(["first", "third"]);
});

test("keeps the connection if a request is cancelled before anything is written", async () => {
  await using server = await startRaw({ answer: ({ socket, body }) => socket.write(answerOf(body)) });
  const pool = await poolOf(server);
  await ask(pool, server.origin);
  const signal = new Canceller();
  const given = code(send(pool, server.origin, { body: "given up", signal }));
  signal.abort(new Error("enough"));
  await given;
  expect(await ask(pool, server.origin, { body: "next" })).toBe("next");
  expect(server.requests.map(({ body }) => body)).toEqual(["{}", "next"]);
});

test("closes the connection of a cancelled request that was written, and gives its answer to no other", async () => {
  await using server = await startRaw({
    answer: ({ socket, body }) => void (body === "slow" || socket.write(answerOf(body))),
  });
  const pool = await poolOf(server);
  const signal = new Canceller();
  const slow = code(send(pool, server.origin, { body: "slow", signal }));
  await expect.poll(() => server.requests.length).toBe(1);
  signal.abort(new Error("enough"));
  await slow;
  expect(await ask(pool, server.origin, { body: "next" })).toBe("next");
  expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1]);
  await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
});

test("closes a kept connection that receives bytes before a request, and ignores the bytes", async () => {
  await using server = await startRaw({ answer: ({ socket, body }) => socket.write(answerOf(body)) });
  const pool = await poolOf(server);
  await ask(pool, server.origin, { body: "first" });
  server.sockets[0]!.write(answerOf("poison"));
  await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
  expect(await ask(pool, server.origin, { body: "second" })).toBe("second");
});

test("closes the connection after the first of two answers in one piece", async () => {
  await using server = await startRaw({
    answer: ({ socket, body }) => socket.write(answerOf(body) + answerOf("poison")),
  });
  const pool = await poolOf(server);
  for (const body of ["a", "b", "c"]) expect(await ask(pool, server.origin, { body })).toBe(body);
  expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1, 2]);
});

test("closes the connection if a body follows an answer that must have none", async () => {
  await using server = await startRaw({
    answer: ({ socket }) => socket.write("HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\npoison"),
  });
  const pool = await poolOf(server);
  for (let turn = 0; turn < 2; turn += 1) expect(await ask(pool, server.origin)).toBe("");
  expect(server.sockets).toHaveLength(2);
});

/** Calls `first` and sends a request immediately, before the event loop polls again. */
function askRightAfter(first: () => void, work: () => Promise<string>): Promise<string> {
  return new Promise((resolve, reject) => {
    setTimeout(() => {
      first();
      work().then(resolve, reject);
    }, 1);
  });
}

test("does not use a response that arrived before its request", async () => {
  await using server = await startRaw({ answer: ({ socket, body }) => socket.write(answerOf(body)) });
  const pool = await poolOf(server);
  await ask(pool, server.origin, { body: "first" });
  const poison = (): void => void server.sockets[0]!.write(answerOf("poison"));
  expect(await askRightAfter(poison, () => ask(pool, server.origin, { body: "second" }))).toBe("second");
  expect(server.requests.map(({ body, connection }) => `${connection} ${body}`)).toEqual(["0 first", "1 second"]);
});

describe.each([
  ["sent at that moment", 4],
  ["queued for the connection", 1],
])("when an answer is complete, the next request, %s,", (_, maxConnections) => {
  /** Sends two requests. Calls `then` with the server at the moment when the first answer is complete. */
  async function askTwice(then: (server: RawServer) => void): Promise<{ second: string; carried: string[] }> {
    await using server = await startRaw({
      answer: ({ socket, body }) =>
        void socket.write(body === "first" ? answerOf("hello").slice(0, -5) : answerOf(body)),
    });
    const pool = await poolOf(server, { maxConnections });
    const { body } = await send(pool, server.origin, { body: "first" });
    const askSecond = (): Promise<string> => ask(pool, server.origin, { body: "second" });
    const waiting = maxConnections === 1 ? askSecond() : undefined;
    const second = await new Promise<string>((resolve, reject) => {
      const onEnd = (): void => {
        then(server);
        (waiting ?? askSecond()).then(resolve, reject);
      };
      body.read({ onData: () => {}, onEnd });
      server.sockets[0]!.write("hello");
    });
    return { second, carried: server.requests.map((one) => `${one.connection} ${one.body}`) };
  }

  test("does not get bytes that follow that answer", async () => {
    const { second, carried } = await askTwice(({ sockets }) => void sockets[0]!.write(answerOf("poison")));
    expect([second, carried]).toEqual(["second", ["0 first", "1 second"]]);
  });

  test("uses another connection if the server closes this one", async () => {
    const { second, carried } = await askTwice(({ sockets }) => void sockets[0]!.end());
    expect([second, carried]).toEqual(["second", ["0 first", "1 second"]]);
  });

  test("uses the same connection if no bytes follow", async () => {
    const { second, carried } = await askTwice(() => {});
    expect([second, carried]).toEqual(["second", ["0 first", "0 second"]]);
  });
});

test.each([
  ["204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\n", 2],
  ["204 in chunks", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", 2],
  ["304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\n\r\n", 2],
  ["204 with nothing", "HTTP/1.1 204 No Content\r\n\r\n", 1],
  ["204 with a length of 0", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", 1],
])("does not reuse the connection after %s, if parsers disagree about its body", async (_, answer, connections) => {
  await using server = await startRaw({ answer: ({ socket }) => socket.write(answer) });
  const pool = await poolOf(server);
  for (let turn = 0; turn < 2; turn += 1) expect(await ask(pool, server.origin)).toBe("");
  expect(server.sockets).toHaveLength(connections);
});

test("sends a request once over another connection if the kept one closed before the request was written", async () => {
  await using server = await startRaw({ answer: ({ socket, body }) => socket.write(answerOf(body)) });
  const pool = await poolOf(server);
  await ask(pool, server.origin, { body: "first" });
  const end = (): void => void server.sockets[0]!.destroy();
  expect(await askRightAfter(end, () => ask(pool, server.origin, { body: "second" }))).toBe("second");
  expect(server.requests.map(({ body, connection }) => `${connection} ${body}`)).toEqual(["0 first", "1 second"]);
});

test("never sends a written request again, for any end of its connection", async () => {
  await using server = await startRaw({
    answer: ({ socket, body }) => (body === "die" ? socket.destroy() : socket.write(answerOf(body))),
  });
  const pool = await poolOf(server);
  await ask(pool, server.origin);
  expect(await code(send(pool, server.origin, { body: "die" }))).toMatch(/^(?:TOOLYARD_CLOSED|ECONNRESET|EPIPE)$/);
  expect(server.requests.map(({ body }) => body)).toEqual(["{}", "die"]);
});

test("does not reuse a connection that the server does not keep", async () => {
  await using server = await startRaw({
    answer: ({ socket, body }) => socket.write(answerOf(body, "Connection: close\r\n")),
  });
  const pool = await poolOf(server);
  for (const body of ["a", "b"]) expect(await ask(pool, server.origin, { body })).toBe(body);
  expect(server.sockets).toHaveLength(2);
});

test.each([
  ["for long", "timeout=60", 1],
  ["for less than its margin", "timeout=2", 2],
])("reuses a connection that the server keeps %s", async (_, hint, connections) => {
  await using server = await startRaw({
    answer: ({ socket, body }) => socket.write(answerOf(body, `Keep-Alive: ${hint}\r\n`)),
  });
  const pool = await poolOf(server);
  for (const body of ["a", "b"]) expect(await ask(pool, server.origin, { body })).toBe(body);
  expect(server.sockets).toHaveLength(connections);
});

test("closes an idle connection after a time", async () => {
  await using server = await startRaw({ answer: ({ socket, body }) => socket.write(answerOf(body)) });
  const pool = await poolOf(server, { keepAliveMs: 20 });
  await ask(pool, server.origin);
  await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
  expect(await ask(pool, server.origin, { body: "next" })).toBe("next");
});

test("completes an answer without a length when its connection ends, but not one with a length", async () => {
  await using server = await startRaw({
    answer: ({ socket, body }) =>
      socket.end(body === "open" ? "HTTP/1.1 200 OK\r\n\r\nhello" : answerOf("hello").slice(0, -1)),
  });
  const pool = await poolOf(server);
  expect(await ask(pool, server.origin, { body: "open" })).toBe("hello");
  expect(await code(ask(pool, server.origin, { body: "short" }))).toBe("TOOLYARD_CLOSED");
});

test("accepts an answer before the whole request was sent, and does not reuse the connection", async () => {
  await using server = await startRaw({
    answer: ({ socket, body }) => socket.write(answerOf(body)),
    onConnection: (socket) => {
      if (server.sockets.length === 1) socket.once("data", () => socket.pause().write(answerOf("too much")));
    },
  });
  const pool = await poolOf(server);
  expect(await ask(pool, server.origin, { body: "x".repeat(50_000_000) })).toBe("too much");
  expect(await ask(pool, server.origin, { body: "next" })).toBe("next");
  expect(server.sockets).toHaveLength(2);
});

test("accepts a refusal that arrives before the whole request was sent, and closes the connection", async () => {
  const refusal = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 8\r\n\r\ntoo much";
  await using server = await startRaw({
    answer: () => {},
    // The unread part of the request turns the end into a reset.
    onConnection: (socket) => socket.once("data", () => void socket.pause().write(refusal, () => socket.destroy())),
  });
  const pool = await poolOf(server);
  const { status, body } = await send(pool, server.origin, { body: "x".repeat(20_000_000) });
  expect([status, await bodyOf({ body })]).toEqual([413, "too much"]);
  await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
});

test("limits inactivity before and within an answer; 0 is no limit", async () => {
  await using server = await startRaw({
    answer: ({ socket, body }) => {
      if (body === "head") socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
      if (body === "later") setTimeout(() => socket.write(answerOf("late")), 100);
    },
  });
  const pool = await poolOf(server);
  expect(await code(send(pool, server.origin, { body: "never", silenceMs: 20 }))).toBe("TOOLYARD_SILENT");
  expect(await code(ask(pool, server.origin, { body: "head", silenceMs: 200 }))).toBe("TOOLYARD_SILENT");
  expect(await ask(pool, server.origin, { body: "later", silenceMs: 0 })).toBe("late");
});

test("stops reading from the server while a body is not read, and later delivers the whole body", async () => {
  const large = "x".repeat(30_000_000);
  let isAllWritten = false;
  await using server = await startRaw({
    answer: ({ socket }) => {
      socket.write(answerOf(large), () => {
        isAllWritten = true;
      });
    },
  });
  const pool = await poolOf(server);
  const response = await send(pool, server.origin);
  await expect.poll(() => server.sockets[0]!.writableLength, { timeout: 20_000 }).toBeGreaterThan(0);
  expect(isAllWritten).toBe(false);
  expect((await bodyOf(response)).length).toBe(large.length);
  expect(isAllWritten).toBe(true);
});

test("rejects running and queued requests on closing, and sends nothing more", async () => {
  await using server = await startRaw({ answer: () => {} });
  const pool = await poolOf(server, { maxConnections: 1 });
  const both = [code(send(pool, server.origin)), code(send(pool, server.origin))];
  await expect.poll(() => server.requests.length).toBe(1);
  await pool.destroy();
  expect(await Promise.all([...both, code(send(pool, server.origin))])).toEqual(Array(3).fill("TOOLYARD_CLOSED"));
  expect(server.requests).toHaveLength(1);
});

test("resolves the name for each connection with the given lookup only", async () => {
  await using server = await startRaw({
    answer: ({ socket }) => socket.write(answerOf("ok", "Connection: close\r\n")),
  });
  const origin = `http://tools.test:${server.port}`;
  const asked: string[] = [];
  const answers = ["127.0.0.1"];
  const pool = await poolOf(
    { origin },
    {
      lookup: (name, { all }, callback) => {
        asked.push(name);
        const address = answers.shift();
        if (address === undefined)
          return callback(Object.assign(new Error("no public address"), { code: "REBOUND" }), "", 0);
        if (all) (callback as (error: null, found: object[]) => void)(null, [{ address, family: 4 }]);
        else callback(null, address, 4);
      },
    },
  );
  expect(await ask(pool, origin)).toBe("ok");
  expect(await code(send(pool, origin))).toBe("REBOUND");
  expect(asked).toEqual(["tools.test", "tools.test"]);
});

test.each(["http", "https"])("over %s, connects to the address that responds if a name has several", async (scheme) => {
  const tls = scheme === "https" && { key: tlsFile("server.key"), cert: tlsFile("server.crt") };
  await using server = await startRaw({
    answer: ({ socket, body }) => socket.write(answerOf(body)),
    ...(tls && { tls }),
  });
  const origin = `${scheme}://localhost:${server.port}`;
  const found = ["127.0.0.2", "::1", "127.0.0.1"].map((address) => ({
    address,
    family: address.includes(":") ? 6 : 4,
  }));
  const lookup: LookupFunction = (_name, _options, callback) =>
    (callback as (error: null, all: object[]) => void)(null, found);
  const pool = await poolOf({ origin }, { lookup, ca: [tlsFile("ca.crt")] });
  for (const body of ["a", "b".repeat(200_000)]) expect(await ask(pool, origin, { body })).toBe(body);
  expect(server.sockets).toHaveLength(1);
});

const tlsFile = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../../../test/fixtures/tls/${name}`, import.meta.url)), "utf8");

test("keeps TLS connections, and sends nothing to a server with an untrusted certificate", async () => {
  const tls = { key: tlsFile("server.key"), cert: tlsFile("server.crt") };
  await using server = await startRaw({ answer: ({ socket, body }) => socket.write(answerOf(body)), tls });
  const trusted = await poolOf(server, { ca: [tlsFile("ca.crt")] });
  for (const body of ["a", "b", "x".repeat(300_000)]) expect(await ask(trusted, server.origin, { body })).toBe(body);
  expect(server.sockets).toHaveLength(1);
  const untrusting = await poolOf(server);
  expect(await code(send(untrusting, server.origin))).toMatch(/^UNABLE_TO_|SELF_SIGNED/);
  expect(server.requests).toHaveLength(3);
});

test("fails within the time limit if a server accepts the connection but sends no TLS", async () => {
  await using server = await startRaw({ answer: () => {} });
  const origin = server.origin.replace("http:", "https:");
  const pool = await poolOf({ origin }, { connectTimeoutMs: 50 });
  expect(await code(send(pool, origin))).toBe("TOOLYARD_CONNECT_TIMEOUT");
});
