// Members that a client's serialiser writes as `null`, at every endpoint: `params`, `arguments`, `cursor`, and `error`
// next to the answer to a server request.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { PipeWire } from "../fixtures/raw/pipe-wire.ts";
import { onWire, openLegacy, type RawEndpoint } from "../fixtures/raw/raw-endpoint.ts";
import { SseWire } from "../fixtures/raw/sse-wire.ts";
import { serveHub, type ServedHub } from "../fixtures/served-hub.ts";
import { fixture } from "../fixtures/upstreams/harness.ts";
import { modernParams } from "../fixtures/transport-peer.ts";
import { ServeChild } from "../support/serve-child.ts";

const SETTINGS: HubConfig = { mcp: { stdio_servers: { odd: { command: [process.execPath, fixture("odd"), "{}"] } } } };
/** Values that PHP and some serialisers write for an absent value. */
const NOTHING = [null, []];

let hub: ServedHub;
let pipe: ServedHub;
let workers: ServeChild;
beforeAll(async () => {
  [hub, pipe, workers] = await Promise.all([
    serveHub(SETTINGS, "HTTP"),
    serveHub(SETTINGS, "stdio"),
    ServeChild.start({ config: { ...SETTINGS, catalog: { cold_wait: 30_000 } }, args: ["--workers", "2"] }),
  ]);
});
afterAll(async () => {
  await Promise.all([hub[Symbol.asyncDispose](), pipe[Symbol.asyncDispose](), workers[Symbol.asyncDispose]()]);
});

function startPipe(): PipeWire {
  const { command, args, env } = pipe.command!;
  return new PipeWire({ command: [command, ...args], env });
}

const at = (path: string): string => new URL(path, hub.url).href;
const toWorkers = (): string => new URL("/mcp", workers.url).href;

const LEGACY: [string, () => Promise<RawEndpoint>][] = [
  ["MCP on HTTP", () => openLegacy(new HttpWire(hub.url!, "legacy"))],
  ["MCP on HTTP with workers", () => openLegacy(new HttpWire(toWorkers(), "legacy"))],
  ["HTTP+SSE", () => openLegacy(new SseWire(at("/sse")))],
  ["stdio", () => openLegacy(startPipe())],
];

const textOf = ({ result }: JsonObject): string =>
  ((result as JsonObject | undefined)?.["content"] as JsonObject[] | undefined)?.[0]?.["text"] as string;

describe.each(LEGACY)("a legacy client on %s", (_, open) => {
  test("can send empty params, arguments and cursors, which count as absent", async () => {
    await using endpoint = await open();
    for (const [at, nothing] of NOTHING.entries()) {
      expect(await endpoint.ask({ id: `ping ${at}`, method: "ping", params: nothing })).toMatchObject({ result: {} });
      const listed = await endpoint.ask({ id: `list ${at}`, method: "tools/list", params: nothing });
      expect(listed).toMatchObject({ result: { tools: expect.any(Array) } });
      const params = { name: "odd__fine", arguments: null, _meta: null };
      expect(textOf(await endpoint.ask({ id: `call ${at}`, method: "tools/call", params }))).toBe("fine");
      await endpoint.tell({ method: "notifications/roots/list_changed", params: nothing });
      await endpoint.tell({ method: "notifications/unknown", params: nothing });
    }
    const first = await endpoint.ask({ id: "page", method: "prompts/list", params: { cursor: null } });
    expect(first).toMatchObject({ result: { prompts: expect.any(Array) } });
  });

  test("can answer a server request with an empty `error`, and the result counts", async () => {
    await using endpoint = await open();
    for (const [at, error] of [null, {}, false, "", []].entries()) {
      const result = { action: "accept", content: { at } };
      endpoint.answer = { result, error };
      const params = { name: "odd__ask", arguments: {} };
      const reply = await endpoint.ask({ id: at, method: "tools/call", params });
      expect(JSON.parse(textOf(reply)), JSON.stringify(error)).toEqual(result);
    }
  });

  test("declines a server request with an error next to a `result` of null", async () => {
    await using endpoint = await open();
    endpoint.answer = { result: null, error: { code: -32001, message: "no time" } };
    const reply = await endpoint.ask({ id: 1, method: "tools/call", params: { name: "odd__ask" } });
    expect(textOf(reply)).toContain("no time");
  });

  test("gets an error for params that are a list with members, and for arguments that are not an object", async () => {
    await using endpoint = await open();
    expect(
      await endpoint.ask({ id: 1, method: "tools/call", params: { name: "odd__fine", arguments: [] } }),
    ).toMatchObject({ error: { code: -32602 } });
    expect(await endpoint.ask({ id: 2, method: "tools/list", params: { cursor: 5 } })).toMatchObject({
      error: { code: -32602 },
    });
  });
});

test("from a modern client, arguments of null and a cursor of null count as absent", async () => {
  for (const endpoint of [onWire(new HttpWire(hub.url!, "modern")), onWire(startPipe())]) {
    const call = { id: 1, method: "tools/call", params: modernParams({ name: "odd__fine", arguments: null }) };
    expect(textOf(await endpoint.ask(call))).toBe("fine");
    const listed = await endpoint.ask({ id: 4, method: "tools/list", params: modernParams({ cursor: null }) });
    expect(listed).toMatchObject({ result: { tools: expect.any(Array) } });
    await endpoint[Symbol.asyncDispose]();
  }
});

/** The status and body of a POST. */
async function post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const accept = path.startsWith("/api") ? "application/json" : "application/json, text/event-stream";
  const headers = { "content-type": "application/json", accept };
  const response = await fetch(at(path), { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

test("the JSON-RPC dialect treats params of null and [] as absent, with any id or without one", async () => {
  for (const params of NOTHING) {
    const call = { jsonrpc: "2.0", method: "odd__fine", params };
    expect(await post("/jsonrpc", { ...call, id: 1 })).toMatchObject({ status: 200, body: { id: 1, result: "fine" } });
    expect(await post("/jsonrpc", { ...call, id: null })).toMatchObject({ status: 200, body: { result: "fine" } });
    expect(await post("/jsonrpc", call)).toEqual({ status: 202, body: undefined });
  }
  expect(await post("/jsonrpc", { jsonrpc: "2.0", id: 1, method: "odd__fine", params: [1] })).toMatchObject({
    status: 400,
    body: { error: { code: -32600 } },
  });
});

test("REST treats a body of null and [] as no arguments, and refuses a list with members", async () => {
  for (const body of NOTHING)
    expect(await post("/api/tools/odd__fine", body)).toMatchObject({ status: 200, body: "fine" });
  expect(await post("/api/tools/odd__fine", [1])).toMatchObject({ status: 400 });
});

test("answers a ping before `initialize`, also with params of null, and refuses other requests", async () => {
  expect(await post("/mcp", { jsonrpc: "2.0", id: 7, method: "ping", params: null })).toEqual({
    status: 200,
    body: { jsonrpc: "2.0", id: 7, result: {} },
  });
  expect(await post("/mcp", { jsonrpc: "2.0", id: 7, method: "ping" })).toMatchObject({ status: 200 });
  expect(await post("/mcp", { jsonrpc: "2.0", id: 7, method: "tools/list" })).toMatchObject({ status: 400 });
  await using endpoint = onWire(startPipe());
  expect(await endpoint.ask({ id: 1, method: "ping", params: null })).toMatchObject({ result: {} });
});
