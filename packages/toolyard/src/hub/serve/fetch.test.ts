import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../core/json/json.ts";
import { createHub, type LibraryHub } from "../create-hub.ts";
import type { ServedFetch } from "./fetch.ts";

let hub: LibraryHub;
let served: ServedFetch;
let aborted = 0;
let begun: () => void = () => {};

beforeEach(async () => {
  aborted = 0;
  hub = await createHub({
    variables: {},
    settings: { server: { max_body_bytes: 200_000 } },
    registerTools: (own) => {
      own.registerTool(
        "echo",
        ({ text }) => text,
        { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
        "Echoes a text",
      );
      own.registerTool(
        "count",
        async (_args, context) => {
          for (let at = 1; at <= 3; at += 1) await context.progress(at, 3);
          return "done";
        },
        { type: "object" },
        "Tells its progress",
      );
      own.registerTool(
        "wait",
        (_args, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              aborted += 1;
              reject(new Error("given up"));
            });
            begun();
          }),
        { type: "object" },
        "Waits until it is given up",
      );
    },
  });
  served = await hub.serveFetch();
});

afterEach(async () => {
  await hub.close();
});

const URL_HERE = "http://localhost/mcp";
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};

function post(
  body: unknown,
  headers: Record<string, string> = {},
  extra: { signal?: AbortSignal; url?: string } = {},
): Request {
  return new Request(extra.url ?? URL_HERE, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(body),
    ...(extra.signal && { signal: extra.signal }),
  });
}

function modern(
  name: string,
  args: JsonObject,
  meta: JsonObject = {},
  extra: { signal?: AbortSignal; url?: string } = {},
): Request {
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: args, _meta: { ...ENVELOPE, ...meta } },
  };
  return post(body, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name }, extra);
}

test("answers a modern call with a standard `Response`", async () => {
  const response = await served.fetch(modern("echo", { text: "grüße" }));
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(await response.json()).toMatchObject({
    id: 1,
    result: { content: [{ type: "text", text: "grüße" }], resultType: "complete" },
  });
});

test("gives a legacy client a session, and ends the session", async () => {
  const start = await served.fetch(
    post({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    }),
  );
  const session = { "mcp-session-id": start.headers.get("mcp-session-id")!, "mcp-protocol-version": "2025-11-25" };
  expect(await start.json()).toMatchObject({ result: { serverInfo: { name: "toolyard" } } });
  expect((await served.fetch(post({ jsonrpc: "2.0", method: "notifications/initialized" }, session))).status).toBe(202);
  const called = await served.fetch(
    post({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "hi" } } }, session),
  );
  expect(await called.json()).toMatchObject({ id: 2, result: { content: [{ text: "hi" }] } });
  expect((await served.fetch(new Request(URL_HERE, { method: "DELETE", headers: session }))).status).toBe(200);
  expect((await served.fetch(post({ jsonrpc: "2.0", id: 3, method: "ping" }, session))).status).toBe(404);
});

test("sends progress as a stream of events before the answer", async () => {
  const response = await served.fetch(modern("count", {}, { progressToken: "p" }));
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const text = await response.text();
  expect(text.split("notifications/progress")).toHaveLength(4);
  expect(text.trimEnd().endsWith("}}")).toBe(true);
});

test("passes large bodies in both directions, and refuses a body over the limit", async () => {
  const text = "x".repeat(150_000);
  expect(await (await served.fetch(modern("echo", { text }))).json()).toMatchObject({
    result: { content: [{ text }] },
  });
  expect((await served.fetch(modern("echo", { text: text + text }))).status).toBe(413);
});

test("cancels the call of an aborted request, and does not start a request that is aborted already", async () => {
  const controller = new AbortController();
  const isBegun = new Promise<void>((resolve) => (begun = resolve));
  const answer = served.fetch(modern("wait", {}, {}, { signal: controller.signal }));
  await isBegun;
  controller.abort(new Error("enough"));
  await expect(answer).rejects.toThrow("enough");
  await expect.poll(() => aborted).toBe(1);
  await expect(served.fetch(modern("wait", {}, {}, { signal: controller.signal }))).rejects.toThrow("enough");
});

test("checks hosts and origins as the hub's port does", async () => {
  expect((await served.fetch(modern("echo", { text: "a" }, {}, { url: "http://evil.test/mcp" }))).status).toBe(403);
  const foreign = modern("echo", { text: "a" });
  const withOrigin = new Request(foreign, {
    headers: { ...Object.fromEntries(foreign.headers), origin: "https://evil.test" },
  });
  expect((await served.fetch(withOrigin)).status).toBe(403);
  expect((await served.fetch(new Request("http://localhost/healthz"))).status).toBe(200);
  expect((await served.fetch(new Request("http://localhost/nowhere"))).status).toBe(404);
});

test("a closed hub answers no requests", async () => {
  await served.close();
  const answered = await served.fetch(modern("echo", { text: "a" })).then(
    ({ status }) => status,
    () => 503,
  );
  expect(answered).toBe(503);
});

test("`fetch` serves requests that a server of node:http passes on", async () => {
  const server = createServer(async (incoming, outgoing) => {
    const response = await served.fetch(
      new Request(`http://${incoming.headers.host}${incoming.url}`, {
        method: incoming.method ?? "GET",
        headers: incoming.headers as Record<string, string>,
        ...(incoming.method === "POST" && {
          body: Readable.toWeb(incoming) as unknown as NonNullable<RequestInit["body"]>,
          duplex: "half" as const,
        }),
      }),
    );
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body) Readable.fromWeb(response.body as ReadableStream).pipe(outgoing);
    else outgoing.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const response = await fetch(modern("echo", { text: "through" }, {}, { url }));
    expect(await response.json()).toMatchObject({ result: { content: [{ text: "through" }] } });
  } finally {
    server.closeAllConnections();
    await new Promise((done) => void server.close(done));
  }
});
