import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KINDS } from "../../packages/toolyard/src/core/calls/kinds.ts";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { WITHOUT_WAITING_MS } from "../fixtures/cpu-time.ts";
import type { McpSession, SessionOptions } from "./mcp-session.ts";
import { textsOf, Yard } from "./yard.ts";

const SERVER = [process.execPath, fileURLToPath(new URL("rag/library-server.mjs", import.meta.url))];

let yard: Yard;

beforeEach(() => {
  yard = new Yard();
});
afterEach(() => yard[Symbol.asyncDispose]());

const MODULE = `
  hub.registerTool("t.echo", (args) => args);
  hub.registerTool("t.fails", () => { throw new Error("boom"); });
  hub.registerTool("t.says", () => ({ content: [{ type: "text", text: "own words" }], isError: true, extra: 1 }));
  hub.registerTool("t.slow", (_args, { signal }) => new Promise((_, no) => signal.addEventListener("abort",
    () => no(new Error("ended")))), {}, "", { timeout: "100ms" });
  hub.registerTool("t.add", ({ a, b }) => a + b, { type: "object",
    properties: { a: { type: "integer", minimum: 1 }, b: { type: "integer", default: 5 } }, required: ["a"] });
  hub.registerTool("t.strict", (args) => args, { type: "object", properties: { a: {} }, additionalProperties: false });
  hub.registerTool("t.tuple", (args) => args, { $schema: "http://json-schema.org/draft-07/schema#", type: "object",
    properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false } } });
  hub.registerTool("t.big", () => "x".repeat(5000), {}, "", { max_result_bytes: 1000 });
  hub.registerTool("t.outer", async (_args, { call }) => call("t.slow"), {}, "", { timeout: "5s" });
  hub.registerResource("r://{id}", () => null);
`;

async function open(options: SessionOptions = {}, settings: HubConfig = {}): Promise<McpSession> {
  yard.module("t", MODULE);
  await yard.open({ modules: { paths: [yard.path("mods")] }, ...settings });
  return yard.mcp(options);
}

test.each(["2025-06-18", "2025-11-25", "2026-07-28"])(
  "C8: on %s a tool that throws is a result with isError and the tool's message",
  async (revision) => {
    const { result } = await (await open({ revision })).call("t.fails");
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "Error executing tool 't.fails': boom" }],
      _meta: { "toolyard/kind": "tool_error" },
    });
  },
);

test("C8: a tool's isError is passed on unchanged, and -32603 is only for faults of the hub", async () => {
  const { result, error } = await (await open()).call("t.says");
  expect(error).toBeUndefined();
  expect(result).toEqual({ content: [{ type: "text", text: "own words" }], isError: true, extra: 1 });
});

test.each(["2025-06-18", "2025-11-25", "2026-07-28"])(
  "C9: on %s an unknown tool is -32602 with up to three similar names",
  async (revision) => {
    const { error } = await (await open({ revision })).call("t.ecko");
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("Unknown tool: t.ecko"),
      data: { near: ["t.echo"] },
    });
  },
);

test("C9: execute_tool reports an unknown name with isError and the specified hint", async () => {
  const { result } = await (await open()).call("execute_tool", { name: "t.ecko" });
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: "Tool not found: t.ecko. Use tool_search to discover available tools. Similar tools: t.echo." }],
  });
});

test("C9: a program gets an outcome of kind unknown_tool", async () => {
  await open();
  expect(await yard.hub.call("t.ecko")).toMatchObject({ ok: false, kind: "unknown_tool" });
});

test.each([
  ["2024-11-05", -32002],
  ["2025-11-25", -32002],
  ["2026-07-28", -32602],
])("C10: on %s a missing resource is %i", async (revision, code) => {
  const client = await open({ revision });
  expect((await client.request("resources/read", { uri: "r://none" })).error).toMatchObject({
    code,
    data: { uri: "r://none" },
  });
  expect((await client.request("resources/read", { uri: "nobody://x" })).error?.code).toBe(code);
});

test("C36: each outcome code has its form on every surface", () => {
  const rows = Object.entries(KINDS).map(([kind, { mcp, jsonrpc, http, status, exit }]) => [
    kind,
    mcp,
    jsonrpc,
    http,
    status,
    exit,
  ]);
  expect(rows).toEqual([
    ["tool_error", "isError", -32000, 500, 500, 1],
    ["unknown_tool", -32602, -32601, 404, 404, 3],
    ["ambiguous", -32602, -32602, 409, 409, 3],
    ["invalid_params", "by-revision", -32602, 400, 400, 2],
    ["denied", "isError", -32000, 403, 403, 1],
    ["limited", "isError", -32000, 429, 429, 1],
    ["too_large", "isError", -32000, 413, 413, 1],
    ["unavailable", "isError", -32000, 503, 503, 4],
    ["needs_authorisation", "isError", -32000, 502, 502, 4],
    ["timeout", "isError", -32000, 504, 504, 5],
    ["cancelled", "silence", -32000, 499, 499, 130],
    ["malformed", "isError", -32000, 502, 502, 1],
    ["internal", -32603, -32603, 500, 500, 70],
  ]);
});

test.each([
  ["t.fails", {}, "tool_error"],
  ["t.slow", {}, "timeout"],
  ["t.add", { a: "x" }, "invalid_params"],
  ["t.big", {}, "too_large"],
  ["t.nobody", {}, "unknown_tool"],
])("C36: %s %j is a failure of kind %s with a message, and never throws", async (tool, args, kind) => {
  await open();
  expect(await yard.hub.call(tool, args)).toMatchObject({
    ok: false,
    kind,
    message: expect.any(String),
    retryable: expect.any(Boolean),
  });
});

test("C36: a successful call is ok with its value and content", async () => {
  await open();
  expect(await yard.hub.call("t.echo", { a: 1 })).toEqual({
    ok: true,
    result: { content: [{ type: "text", text: '{"a":1}' }], structuredContent: { a: 1 } },
  });
});

test.each(["2024-11-05", "2025-03-26", "2025-06-18"])("C37: on %s invalid arguments are -32602", async (revision) => {
  expect((await (await open({ revision })).call("t.add", { a: "x" })).error).toMatchObject({
    code: -32602,
    data: { "toolyard/kind": "invalid_params" },
  });
});

test.each(["2025-11-25", "2026-07-28"])(
  "C37: since %s invalid arguments are a result with isError that names path and expectation",
  async (revision) => {
    const { result } = await (await open({ revision })).call("t.add", { a: 0 });
    expect(result?.["isError"]).toBe(true);
    expect(textsOf(result)[0]).toMatch(/a.*1/u);
  },
);

test("C37: defaults are added before the tool gets the arguments", async () => {
  expect(await (await open()).text("t.add", { a: 1 })).toBe("6");
});

test("C37: refuses additional members only if the schema forbids them", async () => {
  const client = await open();
  expect(JSON.parse(await client.text("t.echo", { any: 1 }))).toEqual({ any: 1 });
  const { result } = await client.call("t.strict", { a: 1, b: 2 });
  expect(result?.["isError"]).toBe(true);
  expect(textsOf(result)[0]).toContain("b");
});

test("C37: checks a draft-07 schema by the rules of draft-07", async () => {
  const client = await open();
  expect(JSON.parse(await client.text("t.tuple", { pair: ["a", 1] }))).toEqual({ pair: ["a", 1] });
  expect((await client.call("t.tuple", { pair: ["a", "b"] })).result?.["isError"]).toBe(true);
  expect((await client.call("t.tuple", { pair: ["a", 1, 2] })).result?.["isError"]).toBe(true);
});

test("C37: invalid arguments start no process", async () => {
  yard.script("touch", '[parameters.a]\ntype = "string"\nrequired = true\n', "echo ran > ran.txt");
  const client = await open({}, { scripts: { tools_path: yard.path("tools") } });
  expect((await client.call("touch")).result?.["isError"]).toBe(true);
  yard.script("look", "", "ls ../touch");
  expect(await client.text("look")).not.toContain("ran.txt");
  await client.call("touch", { a: "x" });
  expect(await client.text("look")).toContain("ran.txt");
});

test("C20: ends a tool with its process at its time limit", async () => {
  yard.script("stuck", 'timeout = "200ms"\n', "echo $$ > pid; exec sleep 60");
  const client = await open({}, { scripts: { tools_path: yard.path("tools") } });
  expect((await client.call("stuck")).result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "timeout" } });
  yard.script("alive", "", "kill -0 $(cat ../stuck/pid) 2>/dev/null && echo yes || echo no");
  await expect.poll(() => client.text("alive")).toBe("no");
});

test("C20: the caller's deadline shortens that of nested calls, which end before the outer call", async () => {
  await open();
  const begun = performance.now();
  expect(await yard.hub.call("t.outer", {}, { timeoutMs: 60_000 })).toMatchObject({ ok: false });
  expect(await yard.hub.call("t.outer", {}, { timeoutMs: 30 })).toMatchObject({ ok: false, kind: "timeout" });
  expect(performance.now() - begun).toBeLessThan(WITHOUT_WAITING_MS);
});

test("C45: does not repeat a call that was sent to a server that crashed", async () => {
  const client = await open({}, { mcp: { stdio_servers: { library: { command: SERVER } } } });
  await client.text("library__where");
  const outcome = await yard.hub.call("library::exit");
  expect(outcome).toMatchObject({ ok: false, kind: "unavailable" });
  expect(outcome).not.toHaveProperty("attempts");
});

test("C45: a new child serves the next call", async () => {
  const client = await open({}, { mcp: { stdio_servers: { library: { command: SERVER } } } });
  await client.call("library__exit");
  expect(JSON.parse(await client.text("library__add_numbers", { a: 1, b: 2 }))).toEqual({ sum: 3 });
});
