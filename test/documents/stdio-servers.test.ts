import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { isAlive } from "../support/tool-folder.ts";
import type { McpSession } from "./mcp-session.ts";
import { textsOf, Yard } from "./yard.ts";

const SERVER = fileURLToPath(new URL("rag/library-server.mjs", import.meta.url));
const COMMAND = [process.execPath, SERVER];

type Servers = NonNullable<NonNullable<HubConfig["mcp"]>["stdio_servers"]>;

let yard: Yard;

beforeEach(() => {
  yard = new Yard();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await yard[Symbol.asyncDispose]();
});

async function open(servers: Servers, more: HubConfig = {}): Promise<McpSession> {
  await yard.open({ ...more, mcp: { stdio_servers: servers } });
  return yard.mcp();
}

interface Where {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pid: number;
}

async function where(client: McpSession, alias = "library"): Promise<Where> {
  return JSON.parse(await client.text(`${alias}__where`)) as Where;
}

/** Returns the messages that the hub wrote to the server. */
function recorded(file: string): readonly JsonObject[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonObject);
}

async function record(): Promise<{ client: McpSession; messages: () => readonly JsonObject[]; file: string }> {
  const file = yard.path("record.jsonl");
  const client = await open({ library: { command: [...COMMAND, `record=${file}`] } });
  return { client, file, messages: () => recorded(file) };
}

test("L50: starts each of several servers as a subprocess, and calls it", async () => {
  const client = await open({ one: { command: COMMAND }, two: { command: COMMAND } });
  const [one, two] = [await where(client, "one"), await where(client, "two")];
  expect(one.pid).not.toBe(two.pid);
  expect([isAlive(one.pid), isAlive(two.pid)]).toEqual([true, true]);
});

test("L50: a server that cannot start reports why and does not affect others", async () => {
  const client = await open({ bad: { command: ["toolyard-no-such-program"] }, good: { command: COMMAND } });
  expect(await client.names()).toContain("good__where");
  const bad = yard.hub.sources().find(({ source }) => source.id === "bad");
  expect(bad?.status.lastError).toContain("toolyard-no-such-program");
  expect(bad?.tools).toBe(0);
});

test("L51: an entry has a command, and may have cwd and env", async () => {
  yard.folder.write("work/x", "");
  const client = await open({
    library: { command: COMMAND, cwd: yard.path("work"), env: { MISTRAL_API_KEY: "key-of-test" } },
  });
  const { cwd, env } = await where(client);
  expect(cwd).toBe(yard.path("work"));
  expect(env["MISTRAL_API_KEY"]).toBe("key-of-test");
});

test("L51: refuses a server without a command, and names its entry", async () => {
  await expect(open({ library: { command: [] } as unknown as Servers[string] })).rejects.toThrow("library");
});

test("L52: merges the lists of all servers, with the alias as a prefix of each name", async () => {
  const names = await (await open({ one: { command: COMMAND }, two: { command: COMMAND } })).names();
  expect(names).toEqual(expect.arrayContaining(["one__search_chunks", "two__search_chunks"]));
  expect(names.length).toBe(12);
});

test("L52: an uninitialised server contributes nothing and delays no other server", async () => {
  const client = await open({ slow: { command: [...COMMAND, "silent"] }, good: { command: COMMAND } });
  const names = await client.names();
  expect(names.filter((name) => name.startsWith("slow"))).toEqual([]);
  expect(names).toContain("good__where");
});

test("L53: splits the alias off the name, and calls that server", async () => {
  const client = await open({ my_calc_server: { command: COMMAND }, other: { command: COMMAND } });
  expect(JSON.parse(await client.text("my_calc_server::add_numbers", { a: 1, b: 2 }))).toEqual({ sum: 3 });
});

test("L53: an unknown alias is an unknown tool, with near names", async () => {
  const client = await open({ my_calc_server: { command: COMMAND } });
  const { error } = await client.call("my_calk_server::add_numbers", { a: 1, b: 2 });
  expect(error?.code).toBe(-32602);
  expect(error?.message).toContain("my_calc_server__add_numbers");
});

test("L54: the next list has a server that was added at run time", async () => {
  const client = await open({});
  expect(await client.names()).toEqual([]);
  await yard.hub.addServer("calc", { command: COMMAND });
  expect(await client.names()).toContain("calc__add_numbers");
  expect(JSON.parse(await client.text("calc::add_numbers", { a: 2, b: 2 }))).toEqual({ sum: 4 });
});

test("L54: removing a server ends its process and removes its names", async () => {
  const client = await open({});
  await yard.hub.addServer("calc", { command: COMMAND });
  const { pid } = await where(client, "calc");
  expect(await yard.hub.removeServer("calc")).toBe(true);
  expect(isAlive(pid)).toBe(false);
  expect(await client.names()).toEqual([]);
  expect((await client.call("calc::add_numbers")).error?.code).toBe(-32602);
});

test("L54: does not remove an unknown server", async () => {
  await open({});
  expect(await yard.hub.removeServer("calc")).toBe(false);
});

test("L63: a missing program disables only its source, with a clear message", async () => {
  yard.script("fine");
  yard.folder.write(
    "tools/needs/tool.toml",
    'name = "needs"\ndescription = "d"\ncommand = ["toolyard-no-such-program"]\n',
  );
  const client = await open(
    { absent: { command: ["toolyard-no-such-program"] } },
    { scripts: { tools_path: yard.path("tools") } },
  );
  expect(JSON.parse(await client.text("fine", { a: 1 }))).toEqual({ a: 1 });
  expect(textsOf((await client.call("needs")).result)[0]).toContain("toolyard-no-such-program");
});

test("R1: the server is a subprocess with JSON-RPC, whose tools are offered", async () => {
  const { client, messages } = await record();
  expect(await client.names()).toContain("library__search_chunks");
  expect(messages().every((message) => message["jsonrpc"] === "2.0")).toBe(true);
});

test("R1: a server that exits is restarted; it ends with the hub", async () => {
  const client = await open({ library: { command: COMMAND } });
  const first = await where(client);
  expect((await client.call("library__exit")).result).toMatchObject({ isError: true });
  const second = await where(client);
  expect(second.pid).not.toBe(first.pid);
  expect(isAlive(first.pid)).toBe(false);
});

test("R2: merges the server's variables into those that every child gets", async () => {
  const { env } = await where(
    await open({ library: { command: COMMAND, env: { MISTRAL_API_KEY: "key-of-test", HOME: "/own/home" } } }),
  );
  expect(env).toMatchObject({ MISTRAL_API_KEY: "key-of-test", HOME: "/own/home", PATH: process.env["PATH"] });
});

test("R2: passes other variables only if the settings name them", async () => {
  vi.stubEnv("TEST_PASSED", "yes");
  vi.stubEnv("TEST_KEPT", "no");
  const { env } = await where(await open({ library: { command: COMMAND, inherit_env: ["TEST_PASSED"] } }));
  expect([env["TEST_PASSED"], env["TEST_KEPT"]]).toEqual(["yes", undefined]);
});

test("R3: opens the three pipes before the handshake", async () => {
  const client = await open({ library: { command: [...COMMAND, "chatty"] } });
  await client.names();
  const status = () => yard.hub.sources().find(({ source }) => source.id === "library")!.status;
  expect(status().state).toBe("ready");
  await expect.poll(() => status().stderr?.at(-1)).toContain("loading model 1999");
});

test("R3: a server without a handshake is not ready, and its tools are not offered", async () => {
  const client = await open({ library: { command: [...COMMAND, "silent"], connect_timeout: "200ms" } });
  expect(await client.names()).toEqual([]);
  expect(yard.hub.sources().find(({ source }) => source.id === "library")?.status.state).not.toBe("ready");
});

test("R4: closing ends the subprocess and waits for it", async () => {
  const client = await open({ library: { command: COMMAND } });
  const { pid } = await where(client);
  await yard.hub.close();
  expect(isAlive(pid)).toBe(false);
});

test("R4: closing before a start, or twice, is safe", async () => {
  await open({ library: { command: COMMAND, enabled: false } });
  await yard.hub.close();
  await expect(yard.hub.close()).resolves.toBeUndefined();
});

test("R6: a call passes the tool's name and arguments, and returns its result", async () => {
  const { client, messages } = await record();
  const found = JSON.parse(
    await client.text("library__search_chunks", {
      query: "What is nominalism?",
      limit: 5,
      author_filter: "Charles Sanders Peirce",
    }),
  ) as JsonObject;
  expect(found).toMatchObject({ total_count: 1, results: [{ author: "Charles Sanders Peirce", similarity: 0.9 }] });
  expect(messages().at(-1)).toMatchObject({
    method: "tools/call",
    params: {
      name: "search_chunks",
      arguments: { query: "What is nominalism?", limit: 5, author_filter: "Charles Sanders Peirce" },
    },
  });
});

test("R6: does not call a tool that the server does not list", async () => {
  const { client, messages } = await record();
  await client.names();
  expect((await client.call("library__search_chunk", { query: "x" })).error?.code).toBe(-32602);
  expect(messages().some(({ method }) => method === "tools/call")).toBe(false);
});

test("R7: initialize sends version, capabilities and client, and accepts 2024-11-05", async () => {
  const { client, messages } = await record();
  await client.names();
  expect(messages().find(({ method }) => method === "initialize")).toMatchObject({
    id: expect.any(Number),
    params: {
      protocolVersion: expect.any(String),
      capabilities: {},
      clientInfo: { name: "toolyard", version: expect.any(String) },
    },
  });
  const { status } = yard.hub.sources().find(({ source }) => source.id === "library")!;
  expect(status).toMatchObject({ state: "ready", info: { revision: "2024-11-05" } });
});

test("R8: notifications/initialized, without an id, follows the response to initialize", async () => {
  const { client, messages } = await record();
  await client.names();
  const all = messages();
  const at = all.findIndex(({ method }) => method === "initialize");
  expect(all[at + 1]).toMatchObject({ method: "notifications/initialized" });
  expect(all[at + 1]).not.toHaveProperty("id");
});

test("R9: requests tools/list, and shows name, description and inputSchema", async () => {
  const { client, messages } = await record();
  const tool = (await client.tools()).find(({ name }) => name === "library__search_chunks");
  expect(tool).toMatchObject({
    description: "Search for text chunks using semantic similarity",
    inputSchema: {
      type: "object",
      required: ["query"],
      properties: {
        query: { type: "string" },
        limit: { type: "integer", default: 10 },
        author_filter: { type: "string" },
      },
    },
  });
  expect(messages().some(({ method }) => method === "tools/list")).toBe(true);
});

test("R10: the response to tools/call is content with the tool's JSON as text", async () => {
  const { result } = await (await open({ library: { command: COMMAND } })).call("library__add_numbers", { a: 1, b: 2 });
  expect(result?.["content"]).toEqual([{ type: "text", text: '{"sum":3}' }]);
});

test("R10: invalid arguments never reach the server", async () => {
  const { client, messages } = await record();
  await client.names();
  const before = messages().length;
  expect(textsOf((await client.call("library__search_chunks", { limit: 5 })).result)[0]).toContain(
    "Missing required parameter: query",
  );
  expect(messages().length).toBe(before);
});

test("R11: request ids are unique and increase", async () => {
  const { client, messages } = await record();
  await Promise.all(Array.from({ length: 20 }, (_, n) => client.call("library__add_numbers", { a: n, b: 0 })));
  const ids = messages().flatMap(({ id }) => (id === undefined ? [] : [id as number]));
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  expect(ids.length).toBeGreaterThan(20);
});

test("R13: each message to the server is exactly one line, with any arguments", async () => {
  const { client, file } = await record();
  const query = "two\nlines\r\nand \u2028 more";
  expect(JSON.parse(await client.text("library__search_chunks", { query }))).toMatchObject({
    results: [{ text: query }],
  });
  const lines = readFileSync(file, "utf8").split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.every((line) => (JSON.parse(line) as JsonObject)["jsonrpc"] === "2.0")).toBe(true);
});

test("R14: over 64 KiB on stderr before the first reply do not block the session, and are available", async () => {
  const client = await open({ library: { command: [...COMMAND, "chatty"] } }, { logging: { level: "debug" } });
  expect(JSON.parse(await client.text("library__add_numbers", { a: 1, b: 2 }))).toEqual({ sum: 3 });
  expect(yard.hub.sources().find(({ source }) => source.id === "library")?.status.stderr?.length).toBeGreaterThan(0);
  expect(yard.log.whole).toContain("loading model");
});

test("R15: a tool can have a longer time limit than the default", async () => {
  const client = await open({ library: { command: COMMAND, timeout: "100ms", tool_timeouts: { parse_pdf: "10s" } } });
  expect(JSON.parse(await client.text("library__parse_pdf", { pdf_path: "a.pdf", ms: 400 }))).toMatchObject({
    success: true,
  });
});

test("R15: other calls end at the default time limit", async () => {
  const client = await open({ library: { command: COMMAND, timeout: "100ms" } });
  const { result } = await client.call("library__parse_pdf", { pdf_path: "a.pdf", ms: 5000 });
  expect(result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "timeout" } });
});

test("R16: a call without a response ends at its timeout, and the server stays usable", async () => {
  const client = await open({ library: { command: COMMAND, timeout: "200ms", tool_timeouts: { add_numbers: "10s" } } });
  const { result } = await client.call("library__hang");
  expect(result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "timeout" } });
  expect(JSON.parse(await client.text("library__add_numbers", { a: 1, b: 1 }))).toEqual({ sum: 2 });
});

test("R16: stops waiting for a server that does not start in time", async () => {
  const client = await open({ library: { command: [...COMMAND, "silent"], connect_timeout: "200ms" } });
  const { result } = await client.call("library__add_numbers", { a: 1, b: 1 });
  expect(result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "unavailable" } });
});

test("R17: repeats a message that never reached a crashed server; other messages fail immediately", async () => {
  const client = await open({ library: { command: COMMAND } });
  const dying = client.call("library__exit");
  expect((await dying).result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "unavailable" } });
  expect(JSON.parse(await client.text("library__add_numbers", { a: 1, b: 1 }))).toEqual({ sum: 2 });
});

test("R17: limits retries: a server that cannot start is reported as a failure", async () => {
  const client = await open({ library: { command: ["toolyard-no-such-program"] } });
  const { result } = await client.call("library__add_numbers", { a: 1, b: 1 });
  expect(result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "unavailable" } });
});

test("R18: search_chunks, the first target, responds; calls are logged at debug without values", async () => {
  const client = await open({ library: { command: COMMAND } });
  expect(JSON.parse(await client.text("library__search_chunks", { query: "sentinel-query" }))).toMatchObject({
    total_count: 1,
    limit: 10,
  });
  expect(yard.lines.some((line) => line.startsWith("debug "))).toBe(true);
  expect(yard.log.whole).not.toContain("sentinel-query");
});

test("R18: refuses search_chunks without its query, and logs only the outcome code", async () => {
  const client = await open({ library: { command: COMMAND } });
  expect((await client.call("library__search_chunks", { author_filter: "sentinel-author" })).result?.["isError"]).toBe(
    true,
  );
  expect(yard.log.whole).toMatch(/A call failed\. .*"kind":"invalid_params"/u);
  expect(yard.log.whole).not.toContain("sentinel-author");
});

test("C18: requests the list only after initialized, and again for a new connection", async () => {
  const { client, messages } = await record();
  await client.names();
  const methods = messages().map(({ method }) => String(method));
  expect(methods.indexOf("tools/list")).toBeGreaterThan(methods.indexOf("notifications/initialized"));
  expect(existsSync(yard.path("record.jsonl"))).toBe(true);
});

test("C18: lists have pages only if configured, and cursors lead through all pages", async () => {
  const client = await open({ library: { command: COMMAND } }, { server: { page_size: 4 } });
  const first = (await client.request("tools/list")).result!;
  expect((first["tools"] as unknown[]).length).toBe(4);
  const second = (await client.request("tools/list", { cursor: first["nextCursor"] })).result!;
  expect((second["tools"] as unknown[]).length).toBe(2);
  expect(second).not.toHaveProperty("nextCursor");
});

test("C18: refuses an unknown cursor", async () => {
  const client = await open({ library: { command: COMMAND } }, { server: { page_size: 4 } });
  expect((await client.request("tools/list", { cursor: "nonsense" })).error?.code).toBe(-32602);
});
