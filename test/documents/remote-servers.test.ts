import { afterEach, beforeEach, expect, test } from "vitest";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import {
  startLegacy,
  startModern,
  startServer,
  startSse,
  type LegacyServer,
  type RunningServer,
} from "../fixtures/http-servers.ts";
import type { McpSession } from "./mcp-session.ts";
import { textsOf, Yard } from "./yard.ts";

type Remote = NonNullable<NonNullable<HubConfig["mcp"]>["remote_servers"]>[number];

let yard: Yard;
const servers: RunningServer[] = [];

beforeEach(() => {
  yard = new Yard();
});
afterEach(async () => {
  await yard[Symbol.asyncDispose]();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function running<S extends RunningServer>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  servers.push(server);
  return server;
}

async function open(remote: Remote | readonly Remote[], more: HubConfig = {}): Promise<McpSession> {
  await yard.open({ ...more, mcp: { remote_servers: [remote].flat() as Remote[] } });
  return yard.mcp();
}

/** Opens a hub with these `[[mcp.remote_servers]]` entries, written as in the documents. */
async function openToml(toml: string): Promise<McpSession> {
  await yard.open({}, { config: yard.folder.write("toolyard.toml", toml) });
  return yard.mcp();
}

/** Returns a port without a listener. */
async function freePort(): Promise<number> {
  const server = await startLegacy();
  await server.close();
  return server.port;
}

test("T30: namespace, url, token and tool_visibility of [[mcp.remote_servers]] connect a server", async () => {
  const { url } = await running(startLegacy({ token: "bearer-token" }));
  const client = await openToml(
    `[[mcp.remote_servers]]\nnamespace = "remote"\nurl = "${url}"\ntoken = "bearer-token"\n` +
      `tool_visibility = "native"\n`,
  );
  expect(await client.names()).toContain("remote__echo");
  expect(await client.text("remote__echo", { text: "hi" })).toBe("hi");
});

test("T30: with a wrong token its tools are not offered, and the status names the credentials", async () => {
  const { url } = await running(startLegacy({ token: "bearer-token" }));
  const client = await open({ namespace: "remote", url, token: "wrong-token" });
  expect(await client.names()).toEqual([]);
  const status = yard.hub.sources().find(({ source }) => source.id === "remote")?.status;
  expect(status?.state).toBe("needs_authorisation");
  expect(JSON.stringify(status)).not.toContain("wrong-token");
});

test("T31: tools/list contains the tools of a native remote", async () => {
  const { url } = await running(startLegacy());
  expect(await (await open({ namespace: "remote", url, tool_visibility: "native" })).names()).toContain("remote__echo");
});

test("T31: only search finds tools of an ondemand remote, which make the hub list its discovery tools", async () => {
  const { url } = await running(startLegacy());
  const client = await open({ namespace: "remote", url, tool_visibility: "ondemand" });
  expect(await client.names()).toEqual(["execute_tool", "tool_search"]);
  expect(await client.search("remote__echo")).toContain("remote__echo");
});

test("T31: an ondemand remote without tools does not make the hub list its discovery tools", async () => {
  expect(
    await (
      await open({ namespace: "remote", url: `http://127.0.0.1:${await freePort()}/mcp`, tool_visibility: "ondemand" })
    ).names(),
  ).toEqual([]);
});

test("T32: connects remotes at start, before any request for their tools", async () => {
  const server = await running(startLegacy());
  await yard.open({ mcp: { remote_servers: [{ namespace: "remote", url: server.url }] } });
  await expect.poll(() => server.sessions.size, { interval: 5 }).toBe(1);
  await expect
    .poll(() => yard.hub.sources().find(({ source }) => source.id === "remote")?.status.state, { interval: 5 })
    .toBe("ready");
});

test("T32: a remote that is not configured is unavailable", async () => {
  const { url } = await running(startLegacy());
  const client = await open({ namespace: "remote", url, enabled: false });
  expect(await client.names({ "x-mcp-tool-mode": "show_all" })).not.toContain("remote__echo");
  expect((await client.call("remote__echo", { text: "x" })).error?.code).toBe(-32602);
});

test("C19: uses a remote that is down at start once it is up", async () => {
  const port = await freePort();
  const client = await open({ namespace: "late", host: "127.0.0.1", port });
  expect(await client.names()).toEqual([]);
  await running(startLegacy({ port }));
  await expect.poll(() => client.names()).toContain("late__echo");
  expect(await client.text("late__echo", { text: "now" })).toBe("now");
});

test("C19: lists a remote again after its list changed", async () => {
  const { url } = await running(startLegacy());
  const client = await open({ namespace: "remote", url });
  await client.text("remote__grow");
  await expect.poll(() => client.names()).toContain("remote__grown-0");
});

test("C19: a call to an unreachable remote fails within its time limit, and the hub continues", async () => {
  yard.module("text", 'hub.registerTool("text.ping", () => "pong");');
  const client = await open(
    { namespace: "gone", host: "127.0.0.1", port: await freePort() },
    { modules: { paths: [yard.path("mods")] } },
  );
  expect((await client.call("gone__echo")).result).toMatchObject({
    isError: true,
    _meta: { "toolyard/kind": "unavailable" },
  });
  expect(await client.text("text.ping")).toBe("pong");
});

test("C15: host and port become http://host:port/mcp", async () => {
  const { port } = await running(startLegacy());
  expect(await (await open({ namespace: "w", host: "127.0.0.1", port })).text("w__echo", { text: "x" })).toBe("x");
});

test("C15: the path can be configured", async () => {
  const server = await running(startSse());
  expect(
    await (
      await open({ namespace: "w", host: "127.0.0.1", port: server.port, path: "/sse" })
    ).text("w__echo", { text: "x" }),
  ).toBe("x");
});

test("C15: refuses a duplicate address", async () => {
  await expect(open({ namespace: "w", host: "127.0.0.1", url: "http://127.0.0.1/mcp" })).rejects.toThrow(
    "cannot be combined",
  );
});

test("C21: several remotes of both transports and eras work together", async () => {
  const [streamable, sse, modern] = [
    await running(startLegacy()),
    await running(startSse()),
    await running(startModern()),
  ];
  const client = await open([
    { namespace: "a", url: streamable.url },
    { namespace: "b", url: sse.url },
    { namespace: "c", url: modern.url },
  ]);
  for (const name of ["a", "b", "c"]) expect(await client.text(`${name}__echo`, { text: name })).toBe(name);
});

test("C21: reports a remote that is not an MCP server, and serves the others", async () => {
  const bad = await running(
    startServer((_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>")),
  );
  const good = await running(startLegacy());
  const client = await open([
    { namespace: "bad", url: bad.url },
    { namespace: "good", url: good.url },
  ]);
  expect(await client.text("good__echo", { text: "x" })).toBe("x");
  const status = yard.hub.sources().find(({ source }) => source.id === "bad")?.status;
  expect(status?.state).not.toBe("ready");
  expect(status?.lastError).toBeDefined();
});

const LINES = {
  get_current_datetime: "datetime-mcp",
  search_ddgs: "ddgs-mcp",
  get_weather: "weather-mcp",
  geocode: "geocoding-mcp",
} as const;

/** Starts a server with one tool, as in a line of document M's registry. */
function startOneTool(name: string): Promise<RunningServer> {
  return startServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (text === "") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params?: { arguments?: object } };
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name, version: "1" } },
      "tools/list": { tools: [{ name, inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: JSON.stringify({ from: name, ...params?.arguments }) }] },
    };
    const answer = results[method]
      ? { result: results[method] }
      : { error: { code: -32601, message: "Method not found" } };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
}

test("M2: get_current_datetime, search_ddgs, get_weather and geocode respond at their addresses", async () => {
  const lines = await Promise.all(
    Object.entries(LINES).map(async ([tool, namespace]): Promise<Remote> => ({
      namespace,
      host: "127.0.0.1",
      port: (await running(startOneTool(tool))).port,
    })),
  );
  const client = await open(lines);
  for (const tool of Object.keys(LINES))
    expect(JSON.parse(await client.text(tool, { location: "Paris" }))).toEqual({ from: tool, location: "Paris" });
});

test("M2: a tool without a registry line is unknown", async () => {
  const client = await open({
    namespace: "weather-mcp",
    host: "127.0.0.1",
    port: (await running(startOneTool("get_weather"))).port,
  });
  const { error } = await client.call("get_wether", { location: "Paris" });
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("get_weather") });
});

test("L60: lists and calls a remote server on Streamable HTTP", async () => {
  const { url } = await running(startLegacy());
  const client = await open({ namespace: "remote_server", url });
  expect(await client.text("remote_server__echo", { text: "there" })).toBe("there");
});

test("L60: a server that stops during a call gives a failed call, not a hang", async () => {
  const server: LegacyServer = await running(startLegacy());
  const client = await open({ namespace: "remote_server", url: server.url });
  await client.text("remote_server__echo", { text: "there" });
  await server.close();
  const { result } = await client.call("remote_server__echo", { text: "gone" });
  expect(result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "unavailable" } });
  expect(textsOf(result)[0]).toContain(`127.0.0.1:${server.port}`);
});

test("L61: sends an API key in X-API-Key or the configured header", async () => {
  const server = await running(startLegacy());
  const client = await open({ namespace: "keyed", url: server.url, auth: { type: "api_key", key: "k-123456" } });
  await client.text("keyed__echo", { text: "x" });
  expect(server.seen.every(({ headers }) => headers["x-api-key"] === "k-123456")).toBe(true);
});

test("L61: refuses credentials in the URL, and a server without any address", async () => {
  await expect(
    yard.open({ mcp: { remote_servers: [{ namespace: "a", url: "http://me:secret@127.0.0.1/mcp" }] } }),
  ).rejects.toThrow("Put credentials into");
  await expect(yard.open({ mcp: { remote_servers: [{ namespace: "a" }] } })).rejects.toThrow("`url` or `host`");
});

test("L62: discovery sends tools/list and execution tools/call to the server's url", async () => {
  const server = await running(startOneTool("add_numbers"));
  const client = await open({ namespace: "calc", url: server.url });
  expect(await client.names()).toEqual(["calc__add_numbers"]);
  expect(JSON.parse(await client.text("calc__add_numbers", { a: 1 }))).toEqual({ from: "add_numbers", a: 1 });
  expect(server.seen.every(({ url }) => url === "/mcp")).toBe(true);
});

test("L62: a protocol error of the server reaches the caller with its code", async () => {
  const { url } = await running(startLegacy());
  const client = await open({ namespace: "calc", url });
  expect((await client.call("calc__not_there")).error?.code).toBe(-32602);
});
