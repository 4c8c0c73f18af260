import { afterEach, beforeEach, expect, test } from "vitest";
import type { McpSession } from "../mcp-session.ts";
import { textsOf, Yard } from "../yard.ts";

let yard: Yard;

beforeEach(() => {
  yard = new Yard();
});
afterEach(() => yard[Symbol.asyncDispose]());

async function open(): Promise<McpSession> {
  await yard.open({ folders: { tools_path: yard.path("folders") } });
  return yard.mcp();
}

function tool(name: string, script: string, text: string): void {
  yard.folder.write(
    `folders/${name}/${name}.mcp.json`,
    JSON.stringify({
      name,
      description: `Tool ${name}.`,
      input_schema: { type: "object", properties: { x: { type: "number" } } },
    }),
  );
  yard.folder.write(`folders/${name}/${name}${script}`, text);
}

test("L30: a <tool_name>.py with execute and its <tool_name>.mcp.json form one tool", async () => {
  tool("double", ".py", "def execute(params):\n    return {'result': params['x'] * 2}\n");
  const client = await open();
  expect(await client.tools()).toMatchObject([
    {
      name: "double",
      description: "Tool double.",
      inputSchema: { type: "object", properties: { x: { type: "number" } } },
    },
  ]);
  expect(JSON.parse(await client.text("double", { x: 21 }))).toEqual({ result: 42 });
});

test.each([
  ["the script", "half/half.mcp.json", '{"name":"half","description":"d","input_schema":{}}'],
  ["the metadata", "half/half.py", "def execute(params): return {}"],
])("L30: without %s the tool is not offered", async (_, place, text) => {
  yard.folder.write(`folders/${place}`, text);
  expect(await (await open()).names()).toEqual([]);
  expect(yard.problems("folders")).toEqual([expect.stringContaining("is missing next to")]);
});

test("L30: a script without execute is not offered, and the message names the missing function", async () => {
  tool("empty", ".py", "value = 1\n");
  expect(await (await open()).names()).toEqual([]);
  expect(yard.problems("folders")).toEqual([expect.stringContaining("it has no function `execute(params)`")]);
});

test("L32: each sub-folder of tools_folder_path is scanned for every request", async () => {
  tool("one", ".mjs", "export const execute = () => 1;");
  const client = await open();
  expect(await client.names()).toEqual(["one"]);
  tool("two", ".mjs", "export const execute = () => 2;");
  expect(await client.names()).toEqual(["one", "two"]);
  expect(await client.text("two")).toBe("2");
});

test("L32: a folder inside a sub-folder is not a tool", async () => {
  yard.folder.write("folders/a/deep/deep.mcp.json", '{"name":"deep","description":"d","input_schema":{}}');
  yard.folder.write("folders/a/deep/deep.mjs", "export const execute = () => 1;");
  expect(await (await open()).names()).toEqual([]);
});

test.each([
  [".py", "def execute(params):\n    return {'got': params['x']}\n"],
  [".mjs", "export const execute = ({ x }) => ({ got: x });"],
  [".ts", "export async function execute({ x }: { x: number }): Promise<object> { return { got: x }; }"],
  [".js", "module.exports.execute = ({ x }) => ({ got: x });"],
])("L33: each call of a %s tool runs the current version of its execute", async (suffix, text) => {
  tool("it", suffix, text);
  const client = await open();
  expect(JSON.parse(await client.text("it", { x: 1 }))).toEqual({ got: 1 });
  yard.folder.write(`folders/it/it${suffix}`, text.replace("got", "now"));
  expect(JSON.parse(await client.text("it", { x: 1 }))).toEqual({ now: 1 });
});

test("L33: an exception of execute is the tool's failure, with its message and without a path", async () => {
  tool("bad", ".py", "def execute(params):\n    raise ValueError('too far')\n");
  const { result } = await (await open()).call("bad");
  expect(result?.["isError"]).toBe(true);
  expect(textsOf(result)[0]).toContain("ValueError: too far");
  expect(JSON.stringify(result)).not.toContain(yard.folder.path);
});

test("L34: a function with the parameter lollms_client_instance receives the instance", async () => {
  tool(
    "asks",
    ".py",
    "def execute(params, lollms_client_instance=None):\n    return {'has': lollms_client_instance is not None}\n",
  );
  expect(JSON.parse(await (await open()).text("asks"))).toEqual({ has: true });
});

test("L34: a function without the parameter for the client instance is called without it", async () => {
  tool(
    "plain",
    ".py",
    "import inspect\ndef execute(params, *, other=7):\n    return {'other': other, 'keys': sorted(params)}\n",
  );
  expect(JSON.parse(await (await open()).text("plain", { x: 1 }))).toEqual({ other: 7, keys: ["x"] });
});
