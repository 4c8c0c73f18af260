import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import type { McpSession } from "./mcp-session.ts";
import { Yard } from "./yard.ts";

const SERVER = [process.execPath, fileURLToPath(new URL("rag/library-server.mjs", import.meta.url))];

let yard: Yard;

beforeEach(() => {
  yard = new Yard();
});
afterEach(() => yard[Symbol.asyncDispose]());

async function open(settings: HubConfig = {}): Promise<McpSession> {
  await yard.open(settings);
  const client = await yard.mcp();
  await client.names();
  return client;
}

const calculator: HubConfig = { mcp: { stdio_servers: { calc_server: { command: SERVER, namespace: "calc" } } } };

const SPELLINGS = [
  "add_numbers",
  "calc__add_numbers",
  "calc::add_numbers",
  "calc.add_numbers",
  "calc/add_numbers",
  "calc_server::add_numbers",
  "calc_server__add_numbers",
  "calc_server.add_numbers",
  "mcp__calc__add_numbers",
  "mcp__toolyard__calc__add_numbers",
];

test("C3: tools/call and execute_tool accept ten spellings of one tool", async () => {
  const client = await open(calculator);
  for (const [n, name] of SPELLINGS.entries()) {
    expect(JSON.parse(await client.text(name, { a: n, b: 2 }))).toEqual({ sum: n + 2 });
    expect(JSON.parse(await client.text("execute_tool", { name, arguments: { a: n, b: 3 } }))).toEqual({ sum: n + 3 });
  }
});

test.each([
  "calc___add_numbers",
  "calc:add_numbers",
  "calc_add_number",
  "other::add_numbers",
  "::add_numbers",
  "calc::",
])("C3: %s is not an accepted spelling", async (name) => {
  yard.module("m", 'hub.registerTool("calc.add_numbers", () => 1);');
  expect((await (await open({ modules: { paths: [yard.path("mods")] } })).call(name, { a: 1, b: 2 })).error?.code).toBe(
    -32602,
  );
});

test("C3: a model's name for a tool with a dot resolves to the tool", async () => {
  yard.module("text", 'hub.registerTool("text.upper", ({ word }) => word.toUpperCase());');
  const client = await open({ modules: { paths: [yard.path("mods")] } });
  for (const name of ["text.upper", "text_upper", "text::upper", "text__upper", "text/upper", "upper"])
    expect(await client.text(name, { word: "a" })).toBe("A");
});

test("C3: splits at the first separator of a known namespace, so that a::b::c works", async () => {
  yard.folder.write("server.mjs", SERVER_WITH_ODD_NAME);
  const client = await open({
    mcp: { stdio_servers: { a: { command: [process.execPath, yard.path("server.mjs")] } } },
  });
  expect(await client.text("a::b::c")).toBe("b::c was called");
});

const SERVER_WITH_ODD_NAME = `
import { createInterface } from "node:readline";
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") say(id, { protocolVersion: "2025-06-18", capabilities: { tools: {} },
    serverInfo: { name: "odd", version: "1" } });
  else if (method === "tools/list") say(id, { tools: [{ name: "b::c", inputSchema: { type: "object" } }] });
  else if (method === "tools/call") say(id, { content: [{ type: "text", text: params.name + " was called" }] });
  else if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id,
    error: { code: -32601, message: "no" } }) + "\\n");
});
`;

test("C3: a name that matches two tools is an error that lists both", async () => {
  const client = await open({ mcp: { stdio_servers: { one: { command: SERVER }, two: { command: SERVER } } } });
  const { error } = await client.call("add_numbers", { a: 1, b: 2 });
  expect(error).toMatchObject({ code: -32602, data: { candidates: ["one__add_numbers", "two__add_numbers"] } });
  expect((await client.call("execute_tool", { name: "add_numbers" })).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("two__add_numbers"),
  });
});

test("C3: every listed name is valid in MCP, for any tool name", async () => {
  yard.folder.write("tools/odd/tool.toml", 'name = "größe in €"\ndescription = "d"\nscript = "run.sh"\n');
  yard.folder.write("tools/odd/run.sh", "echo measured");
  const client = await open({ scripts: { tools_path: yard.path("tools") } });
  const [name] = await client.names();
  expect(name).toMatch(/^[A-Za-z0-9_.-]{1,128}$/u);
  expect(await client.text(name!)).toBe("measured");
  expect(await client.text("größe in €")).toBe("measured");
});

test("C3: lists names with the configured separator, and accepts the other separators", async () => {
  const client = await open({ ...calculator, catalog: { separator: "." } });
  expect(await client.names()).toContain("calc.add_numbers");
  expect(JSON.parse(await client.text("calc__add_numbers", { a: 1, b: 1 }))).toEqual({ sum: 2 });
});

async function openClash(): Promise<McpSession> {
  yard.module("m", 'hub.registerTool("same", () => "module");');
  yard.script("same", "", "echo script");
  yard.folder.write("folders/same/same.mcp.json", JSON.stringify({ name: "same", description: "d", input_schema: {} }));
  yard.folder.write("folders/same/same.mjs", 'export const execute = () => "folder";');
  return open({
    modules: { paths: [yard.path("mods")] },
    scripts: { tools_path: yard.path("tools") },
    folders: { tools_path: yard.path("folders") },
  });
}

test("C28: order of precedence of a name across sources: modules, scripts, folders", async () => {
  expect(await (await openClash()).text("same")).toBe("module");
});

test("C28: tools with an overridden name stay callable by their full names, which are listed", async () => {
  const client = await openClash();
  expect(await client.names()).toEqual(["folders__same", "same", "scripts__same"]);
  expect(await client.text("scripts__same")).toBe("script");
  expect(await client.text("folders::same")).toBe("folder");
});

test("C28: of two tool folders with one name the first by path wins, and the second is reported", async () => {
  yard.folder.write("tools/a/tool.toml", 'name = "same"\ndescription = "From a."\nscript = "run.sh"\n');
  yard.folder.write("tools/a/run.sh", "echo a");
  yard.folder.write("tools/b/tool.toml", 'name = "same"\ndescription = "From b."\nscript = "run.sh"\n');
  yard.folder.write("tools/b/run.sh", "echo b");
  const client = await open({ scripts: { tools_path: yard.path("tools") } });
  expect(await client.tools()).toMatchObject([{ name: "same", description: "From a." }]);
  expect(await client.text("same")).toBe("a");
  expect(yard.problems("scripts")).toEqual([
    "b: not offered: the name `same` is taken by `a`, which comes first; rename one of them",
  ]);
});

test("C28: in one source the last registration wins, with the specified warning", async () => {
  yard.module("a", 'hub.registerTool("x.same", () => "one");');
  yard.module("b", 'hub.registerTool("x.same", () => "two");');
  expect(await (await open({ modules: { paths: [yard.path("mods")] } })).text("x.same")).toBe("two");
  expect(yard.lines).toContain("warning Tool x.same already registered. Overwriting.");
});

test.each(["tool_search", "execute_tool", "execute_code", "meta.mine"])(
  "C29: a script tool called %s is refused with a diagnostic",
  async (name) => {
    yard.folder.write("tools/mine/tool.toml", `name = "${name}"\ndescription = "d"\nscript = "run.sh"\n`);
    yard.folder.write("tools/mine/run.sh", "echo mine");
    const client = await open({ scripts: { tools_path: yard.path("tools") } });
    expect(await client.names()).toEqual([]);
    expect(yard.problems("scripts")).toEqual([expect.stringContaining(name)]);
  },
);

test("C29: accepts a reserved name in a namespace", async () => {
  yard.module("m", 'hub.registerTool("tool_searcher", () => "fine");');
  expect(await (await open({ modules: { paths: [yard.path("mods")] } })).text("tool_searcher")).toBe("fine");
});
