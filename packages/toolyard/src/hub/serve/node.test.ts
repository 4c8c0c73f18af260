import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHub, type LibraryHub } from "../create-hub.ts";
import type { NodeHandler } from "./node.ts";

interface Signal {
  readonly promise: Promise<void>;
  resolve(): void;
}

function signal(): Signal {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

let hub: LibraryHub;
let handler: NodeHandler;
let begun: Signal;
let aborted: Signal;
let release: () => void;
let server: Server | undefined;

beforeEach(async () => {
  begun = signal();
  aborted = signal();
  hub = await createHub({
    variables: {},
    settings: { rest: { enabled: true }, server: { max_body_bytes: 2000 }, logging: { level: "error" } },
    registerTools: (own) => {
      own.registerTool("echo", ({ text }) => text, {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
      });
      own.registerTool("wait", (_args, context) => {
        begun.resolve();
        context.signal.addEventListener("abort", () => aborted.resolve());
        return new Promise((resolve) => (release = () => resolve("released")));
      });
    },
  });
  handler = hub.nodeHandler();
});

afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  await hub.close();
});

async function listen(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function post(url: string, body: string, leaving?: AbortSignal): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body, ...(leaving ? { signal: leaving } : {}) });
}

/** Simulates a framework's body parser, which runs before the handler. */
async function readAll(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

const ECHO = '{"text": "some words"}';

test("a caller that disconnects before its handler runs delays neither other calls nor close", async () => {
  const given = signal();
  const url = await listen((request, response) => {
    response.on("close", () => {
      handler(request, response);
      given.resolve();
    });
    begun.resolve();
  });
  const leaving = new AbortController();
  const asking = post(`${url}/api/tools/echo`, ECHO, leaving.signal);
  await begun.promise;
  leaving.abort();
  await Promise.all([expect(asking).rejects.toThrow(), given.promise]);
  const closing = hub.close().then(() => "closed");
  const grace = new Promise((resolve) => setTimeout(() => resolve("waited"), 4000).unref());
  expect(await Promise.race([closing, grace])).toBe("closed");
});

test("node:http: answers every path with the same checks as the hub's own port", async () => {
  const url = await listen(handler);
  expect(await (await post(`${url}/api/tools/echo`, ECHO)).text()).toContain("some words");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  expect((await post(`${url}/api/tools/echo`, JSON.stringify({ text: "x".repeat(3000) }))).status).toBe(413);
  expect((await fetch(`${url}/mcp`, { headers: { origin: "https://evil.example" } })).status).toBe(403);
});

test.each([
  ["parsed", (bytes: Buffer): unknown => JSON.parse(String(bytes))],
  ["as bytes", (bytes: Buffer): unknown => bytes],
  ["as text", String],
])("accepts a body that a parser has read as %s, within the same limit", async (_, parse) => {
  const url = await listen(async (request, response) => {
    handler(Object.assign(request, { body: parse(await readAll(request)) }), response);
  });
  expect(await (await post(`${url}/api/tools/echo`, ECHO)).text()).toContain("some words");
  expect((await post(`${url}/api/tools/echo`, JSON.stringify({ text: "x".repeat(3000) }))).status).toBe(413);
});

test("passes a request for another path to the next handler, and serves requests below a router's path", async () => {
  const url = await listen((request, response) => {
    // Express changes `url` and keeps `originalUrl`.
    const originalUrl = request.url;
    request.url = request.url!.replace("/tools", "") || "/";
    if (originalUrl === "/mcp") request.url = "/";
    handler(Object.assign(request, { originalUrl }), response, () => void response.end("the program's"));
  });
  expect(await (await fetch(`${url}/elsewhere`)).text()).toBe("the program's");
  expect(await (await post(`${url}/tools/api/tools/echo`, ECHO)).text()).toContain("some words");
  const initialize = {
    jsonrpc: "2.0",
    id: 7,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  };
  const greeted = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify(initialize),
  });
  expect(greeted.headers.get("mcp-session-id")).toEqual(expect.any(String));
});

test("cancels the call of a caller that disconnects; close waits for other calls and refuses new ones", async () => {
  const url = await listen(handler);
  const leaving = new AbortController();
  const left = post(`${url}/api/tools/wait`, "{}", leaving.signal);
  await begun.promise;
  leaving.abort();
  await expect(left).rejects.toThrow();
  await aborted.promise;

  begun = signal();
  const waiting = post(`${url}/api/tools/wait`, "{}");
  await begun.promise;
  const closing = handler.close();
  expect((await post(`${url}/api/tools/echo`, ECHO)).status).toBe(503);
  release();
  expect(await (await waiting).text()).toContain("released");
  await closing;
});

test("the error for a wrong request type names the type and the method that accepts it", async () => {
  const served = await hub.serveFetch();
  const standard = new Request("http://localhost/mcp");
  const wrong = handler as (request: unknown, response?: unknown) => void;
  const fetching = served.fetch as unknown as (request: unknown) => Promise<Response>;
  expect(() => wrong(standard)).toThrow(
    "hub.nodeHandler() takes Node's request and response, and was given a standard Request: " +
      "give it to `fetch` of `await hub.serveFetch()`.",
  );
  expect(() => wrong({ req: { raw: standard } })).toThrow("a context of Hono: give `context.req.raw` to `fetch`");
  expect(() => wrong("GET /mcp")).toThrow("was given a value of type string");
  let given: readonly [IncomingMessage, ServerResponse];
  const url = await listen((request, response) => {
    given = [request, response];
    response.end();
  });
  await fetch(url);
  expect(() => wrong(given[0])).toThrow("was given no response: pass both");
  await expect(fetching(given![0])).rejects.toThrow(
    "takes a standard Request, and was given Node's request: give request and response to `hub.nodeHandler()`.",
  );
  await expect(fetching({ raw: given![0] })).rejects.toThrow("Fastify's request: give request and reply to");
  await expect(fetching({ req: { raw: standard } })).rejects.toThrow("give `context.req.raw` to");
  expect((await served.fetch(standard)).status).toBeLessThan(500);
});

test("throws synchronously for an invalid `[server]`", async () => {
  const wrong = await createHub({ variables: {}, settings: { server: { host: "0.0.0.0" } } });
  expect(() => wrong.nodeHandler()).toThrow("token");
  await wrong.close();
});
