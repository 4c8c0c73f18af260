import { createServer } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../../packages/toolyard/src/index.ts";
import { listen, startLegacy, type RunningServer } from "../../fixtures/http-servers.ts";
import { ToolFolder } from "../../support/tool-folder.ts";

let home: ToolFolder;
const hubs: LibraryHub[] = [];
const servers: RunningServer[] = [];

beforeEach(() => void (home = new ToolFolder()));
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
  home[Symbol.dispose]();
});

async function freePort(): Promise<number> {
  const server = await listen(createServer());
  await server.close();
  return server.port;
}

const line = (alias: string, display_name: string, port: number, more: object = {}) => ({
  alias,
  display_name,
  host: "127.0.0.1",
  port,
  ...more,
});

async function open(remote_servers: readonly object[], more: object = {}): Promise<LibraryHub> {
  const hub = await createHub({
    settings: { mcp: { remote_servers }, ...more } as never,
    variables: { TOOLYARD_HOME: home.path },
    logger: SILENT_LOGGER,
  });
  hubs.push(hub);
  return hub;
}

async function comeUp(port: number): Promise<void> {
  servers.push(await startLegacy({ port }));
}

const unavailable = (name: string, port: number) => ({
  ok: false,
  kind: "unavailable",
  message: `${name} unavailable on port ${port}`,
  result: { isError: true, content: [{ type: "text", text: `{"error":"${name} unavailable on port ${port}"}` }] },
});

test("M4: a service that never started gives the specified object, also by its name without prefix", async () => {
  const [tides, jokes] = [await freePort(), await freePort()];
  const hub = await open([line("tides", "Tides MCP", tides), line("joke-mcp", "Joke MCP", jokes)]);
  for (const name of ["get_tides", "tides__get_tides", "tides.get_tides", "tides::whatever"])
    expect(await hub.call(name, {}), name).toMatchObject(unavailable("Tides MCP", tides));
  expect(await hub.call("get_joke", {})).toMatchObject(unavailable("Joke MCP", jokes));
});

test("M4: MCP, REST and execute_tool return the object of an unavailable service", async () => {
  const port = await freePort();
  const hub = await open([line("tides", "Tides MCP", port)], { server: { port: 0 } });
  const { endpoint } = await hub.serve();
  const client = new Client({ name: "caller", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint)));
  const told = {
    isError: true,
    content: [{ type: "text", text: `{"error":"Tides MCP unavailable on port ${port}"}` }],
  };
  expect(await client.callTool({ name: "get_tides", arguments: {} })).toMatchObject(told);
  expect(await client.callTool({ name: "execute_tool", arguments: { name: "get_tides" } })).toMatchObject(told);
  await client.close();
  const response = await fetch(new URL("/api/tools/get_tides", endpoint), { method: "POST" });
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { error: { message: `Tides MCP unavailable on port ${port}` } },
  ]);
});

test.each([
  ["by its bare name", "echo"],
  ["behind its prefix", "tides__echo"],
])("C19, M9: an unavailable service is tried again at the next call (%s), without a pause", async (_how, name) => {
  const port = await freePort();
  const hub = await open([line("tides", "Tides MCP", port)]);
  // Enough calls to open any circuit breaker, and for a long backoff.
  for (let call = 0; call < 8; call += 1) expect((await hub.call(name, { text: "hi" })).ok).toBe(false);
  await comeUp(port);
  expect(await hub.call(name, { text: "hi" })).toMatchObject({ ok: true, result: { content: [{ text: "hi" }] } });
});

test("C19, M9: a service that stopped and started again is tried again at the next call", async () => {
  const port = await freePort();
  await comeUp(port);
  const hub = await open([line("tides", "Tides MCP", port)]);
  expect(await hub.call("echo", { text: "1" })).toMatchObject({ ok: true });
  await servers.pop()!.close();
  for (let call = 0; call < 8; call += 1)
    expect(await hub.call("echo", { text: "2" })).toMatchObject(unavailable("Tides MCP", port));
  await comeUp(port);
  expect(await hub.call("echo", { text: "3" })).toMatchObject({ ok: true, result: { content: [{ text: "3" }] } });
});

test("M4: a typo in the name of an available tool is not reported as an unavailable service", async () => {
  const [tides, there] = [await freePort(), await freePort()];
  await comeUp(there);
  const hub = await open([line("tides", "Tides MCP", tides), line("far", "Far MCP", there)]);
  expect(await hub.call("far__ecko", { text: "hi" })).toMatchObject({ ok: false, kind: "unknown_tool" });
  expect(await hub.call("exit-streem")).toMatchObject({
    kind: "unknown_tool",
    details: { near: ["far__exit-stream"] },
  });
});

test("M4: names all unavailable services if the name has no prefix", async () => {
  const [tides, jokes] = [await freePort(), await freePort()];
  const hub = await open([line("tides", "Tides MCP", tides), line("jokes", "Joke MCP", jokes)]);
  const outcome = await hub.call("sum", {});
  expect(outcome).toMatchObject({ ok: false, kind: "unavailable" });
  expect(JSON.stringify(outcome)).toMatch(/Tides MCP unavailable on port \d+; Joke MCP unavailable on port \d+/);
});

test("M4: does not name the service to a caller without permission for it", async () => {
  const port = await freePort();
  const tokens = { guest: { token: "guest-token-guest-token", allow: ["other__*"] } };
  const hub = await open([line("tides", "Tides MCP", port)], { server: { port: 0, tokens } });
  const { endpoint } = await hub.serve();
  const response = await fetch(new URL("/api/tools/get_tides", endpoint), {
    method: "POST",
    headers: { authorization: "Bearer guest-token-guest-token" },
  });
  expect(response.status).toBe(403);
  expect(await response.text()).not.toContain("Tides");
});
