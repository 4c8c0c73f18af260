import type { RequestListener } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { sendJson, startServer, type RunningServer } from "../../../../test/fixtures/http-servers.ts";
import { createHttpSource, type HttpSource, type HttpSourceOptions } from "./http-source.ts";

const opened: (RunningServer | HttpSource)[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function open(
  listener: RequestListener,
  options: Partial<HttpSourceOptions> = {},
): Promise<{ source: HttpSource; server: RunningServer }> {
  const server = await startServer(listener, { path: "" });
  const source = createHttpSource({
    service: "Example",
    url: server.url,
    userAgent: "tests/1",
    environment: {},
    ...options,
  });
  opened.push(server, source);
  return { source, server };
}

const echo: RequestListener = (request, response) => sendJson(response, 200, { url: request.url });

describe("requests", () => {
  test("requests a path below the base, keeps path and query, and identifies itself", async () => {
    const { server } = await open(echo);
    const source = createHttpSource({
      service: "Example",
      url: `${server.url}/base/?key=k`,
      userAgent: "tests/1",
      environment: {},
    });
    opened.push(source);
    expect(await source.getJson("/search", { q: "a b&c", none: undefined })).toEqual({
      url: "/base/search?key=k&q=a+b%26c",
    });
    expect(server.seen[0]!.headers).toMatchObject({ "user-agent": "tests/1", accept: "application/json" });
  });

  test("refuses an invalid address immediately", () => {
    expect(() => createHttpSource({ service: "Example", url: "ftp://example", userAgent: "tests/1" })).toThrow(
      "The address of Example must begin with http:// or https://",
    );
  });

  test("answers a repeated request from the cache until the entry expires or is displaced", async () => {
    const { source, server } = await open(echo, { cacheMs: 60_000, cacheEntries: 1 });
    await source.getJson("a");
    await source.getJson("a");
    expect(server.seen).toHaveLength(1);
    await source.getJson("b");
    await source.getJson("a");
    expect(server.seen).toHaveLength(3);
  });

  test("S10: a redirect to another host is not followed", async () => {
    const { source } = await open(
      (_request, response) => void response.writeHead(302, { location: "http://127.0.0.1:9/" }).end(),
    );
    await expect(source.getJson("a")).rejects.toMatchObject({
      failure: { kind: "unavailable", message: expect.stringContaining("redirects to another host") },
    });
  });
});

describe("rate limit", () => {
  test("C43: sends one request per second, in order of arrival, and rejects more than may wait", async () => {
    const waits: number[] = [];
    const release: (() => void)[] = [];
    const clock = {
      now: () => 0,
      wait: (ms: number) => new Promise<void>((done) => (waits.push(ms), release.push(done))),
    };
    const { source, server } = await open(echo, { intervalMs: 1000, maxWaiting: 2, clock });
    await source.getJson("0");
    const waiting = [source.getJson("1"), source.getJson("2")];
    await expect(source.getJson("3")).rejects.toMatchObject({
      failure: { kind: "limited", message: expect.stringContaining("2 wait already") },
    });
    expect(waits).toEqual([1000, 2000]);
    for (const [index, next] of waiting.entries()) {
      release[index]!();
      await next;
    }
    expect(server.seen.map(({ url }) => url)).toEqual(["/0", "/1", "/2"]);
  });

  test("C43: sends no request during the pause after a 429", async () => {
    let now = 0;
    const clock = { now: () => now, wait: () => Promise.resolve() };
    const { source, server } = await open(
      (_request, response) => sendJson(response, 429, {}, { "retry-after": "30" }),
      { clock },
    );
    await expect(source.getJson("a")).rejects.toMatchObject({ failure: { kind: "limited", retryAfterMs: 30_000 } });
    await expect(source.getJson("b")).rejects.toMatchObject({
      failure: { kind: "limited", message: expect.stringContaining("requires a pause") },
    });
    expect(server.seen).toHaveLength(1);
    now = 30_001;
    await expect(source.getJson("b")).rejects.toMatchObject({ failure: { kind: "limited" } });
    expect(server.seen).toHaveLength(2);
  });
});

describe("invalid answers", () => {
  test.each<[string, RequestListener, Partial<HttpSourceOptions>, string, string]>([
    [
      "a fault of the service",
      (_request, response) => sendJson(response, 503, {}),
      {},
      "unavailable",
      "Example failed (HTTP 503)",
    ],
    [
      "its own words",
      (_request, response) => sendJson(response, 400, { reason: "No\n such place" }),
      { reasonOf: (body) => (body as { reason: string }).reason },
      "malformed",
      "Example does not accept the request (HTTP 400): No such place",
    ],
    ["no JSON", (_request, response) => void response.end("<html>"), {}, "malformed", "is not JSON"],
    ["JSON that breaks off", (_request, response) => void response.end('{"a":'), {}, "malformed", "is not JSON"],
    ["nothing", (_request, response) => void response.end(), {}, "malformed", "is not JSON"],
    [
      "too much",
      (_request, response) => sendJson(response, 200, "x".repeat(5000)),
      { maxBytes: 1000 },
      "too_large",
      "more than",
    ],
    [
      "a connection that closes",
      (request) => void request.socket.destroy(),
      {},
      "unavailable",
      "closed the connection",
    ],
    ["silence", () => {}, { timeoutMs: 50 }, "timeout", "no complete answer within 50 ms"],
    [
      "half an answer",
      (_request, response) => void response.writeHead(200).write("{"),
      { timeoutMs: 50 },
      "timeout",
      "no complete answer within 50 ms",
    ],
  ])("C43: %s is a failure, and is not cached", async (_what, listener, options, kind, words) => {
    let isWell = false;
    const { source } = await open((...exchange) => (isWell ? echo : listener)(...exchange), {
      cacheMs: 60_000,
      ...options,
    });
    await expect(source.getJson("a")).rejects.toMatchObject({
      failure: { kind, message: expect.stringContaining(words) },
    });
    isWell = true;
    await expect.poll(() => source.getJson("a")).toEqual({ url: "/a" });
  });

  test("a cancelled caller ends the request", async () => {
    const caller = new AbortController();
    let resolve = (): void => {};
    const closed = new Promise<void>((done) => void (resolve = done));
    const { source } = await open((request) => {
      request.socket.once("close", () => resolve());
      caller.abort();
    });
    await expect(source.getJson("a", {}, caller.signal)).rejects.toMatchObject({ failure: { kind: "cancelled" } });
    await closed;
  });

  test("a server that does not exist is unavailable", async () => {
    const { source, server } = await open(echo);
    await server.close();
    await expect(source.getJson("a")).rejects.toMatchObject({
      failure: { kind: "unavailable", message: expect.stringContaining("refused the connection") },
    });
  });
});
