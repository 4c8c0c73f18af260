// The result of a tool call is the same value on every surface.
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HubMCPBinding, LocalMCPBinding, StandardMCPBinding } from "../../packages/toolyard/src/bindings.ts";
import { MCPClient } from "../../packages/toolyard/src/client.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { MCPManager } from "../../packages/toolyard/src/manager.ts";
import { Yard } from "./yard.ts";

const SERVER = [process.execPath, fileURLToPath(new URL("rag/library-server.mjs", import.meta.url))];
const logger = SILENT_LOGGER;

let yard: Yard;
const open: AsyncDisposable[] = [];
const kept = <T extends AsyncDisposable>(one: T): T => {
  open.push(one);
  return one;
};

beforeEach(() => {
  yard = new Yard();
  vi.stubEnv("TOOLYARD_HOME", yard.path("home"));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one[Symbol.asyncDispose]()));
  vi.unstubAllEnvs();
  await yard[Symbol.asyncDispose]();
});

function folder(name: string, text: string, more: object = {}): void {
  const file = text.startsWith("export ") ? `${name}.mjs` : `${name}.py`;
  yard.folder.write(`folders/${name}/${file}`, text);
  const metadata = { name, description: `Tool ${name}.`, input_schema: { type: "object" }, ...more };
  yard.folder.write(`folders/${name}/${name}.mcp.json`, JSON.stringify(metadata));
}

/** Returns the value, or the failure, that each surface returns for a call. */
async function surfaces(tool: string, args: JsonObject = {}): Promise<Readonly<Record<string, unknown>>> {
  await yard.open({
    folders: { tools_path: yard.path("folders") },
    mcp: { stdio_servers: { library: { command: SERVER } } },
  });
  const endpoint = await yard.endpoint();
  const post = async (path: string, body: object): Promise<{ status: number; body: JsonObject }> => {
    const response = await fetch(new URL(path, endpoint), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  };
  const settings = {
    folders: { tools_path: yard.path("folders") },
    mcp: { stdio_servers: { library: { command: SERVER } } },
  };
  const port = Number(new URL(endpoint).port);
  const line = { host: "127.0.0.1", port, path: "/mcp?tool_mode=show_all", name: "Yard MCP" };
  const client = kept(new MCPClient(`${endpoint}?tool_mode=show_all`, {}, { logger }));
  await client.start();
  const wire = `${tool.replace("::", "__")}`;
  return {
    rest: await post(`/api/tools/${encodeURIComponent(wire)}`, args),
    jsonrpc: (await post("/jsonrpc", { jsonrpc: "2.0", id: 1, method: wire, params: args })).body,
    mcp: (await (await yard.mcp()).call(wire, args)).result,
    hub: await kept(new HubMCPBinding({ settings, logger })).executeTool(tool, args),
    manager: await kept(new MCPManager({ [wire]: line }, { logger })).callTool(wire, args),
    client: await client.callTool(wire, args).catch((error: unknown) => ({ threw: String(error) })),
  };
}

const DATA = `
import dataclasses, enum, collections, datetime

class Colour(enum.Enum):
    RED = "red"

class Level(enum.IntEnum):
    HIGH = 3

@dataclasses.dataclass
class Harbour:
    name: str
    depth: float
    colour: Colour = Colour.RED

class Model:
    """As pydantic 1."""
    __fields__ = {"name": None}
    def __init__(self, name):
        self.name = name
    def dict(self):
        return {"name": self.name, "colour": Colour.RED}

class Dumped:
    """As pydantic 2."""
    def model_dump(self, mode="python"):
        return {"mode": mode, "inner": Harbour("Brest", float("nan"))}

Point = collections.namedtuple("Point", "x y")

GIVES = {
    "enum": lambda: Colour.RED,
    "int enum": lambda: Level.HIGH,
    "dataclass": lambda: Harbour("Brest", 12.5),
    "pydantic 1": lambda: Model("Brest"),
    "pydantic 2": lambda: Dumped(),
    "nested": lambda: {"list": [Harbour("Brest", float("inf"))], Colour.RED: {Level.HIGH}, "tuple": Point(1, 2)},
    "class": lambda: Harbour,
}

def execute(params):
    return GIVES[params["give"]]()
`;

describe("L10: data objects of Python are returned as their data", () => {
  const harbour = { name: "Brest", depth: 12.5, colour: "red" };
  test.each([
    ["enum", "red"],
    ["int enum", 3],
    ["dataclass", harbour],
    ["pydantic 1", { name: "Brest", colour: "red" }],
    ["pydantic 2", { mode: "json", inner: { ...harbour, depth: null } }],
    ["nested", { list: [{ ...harbour, depth: null }], red: [3], tuple: [1, 2] }],
    ["class", expect.stringContaining("Harbour")],
  ])("%s", async (give, output) => {
    folder("data", DATA);
    for (const run of [undefined, { mode: "warm" }]) {
      folder("data", DATA, run ? { run } : {});
      const binding = kept(new LocalMCPBinding({ tools_folder_path: yard.path("folders"), logger }));
      expect(await binding.executeTool("data", { give })).toEqual({ output, status_code: 200 });
    }
  });
});

describe("L10: null is null on every surface", () => {
  test.each([
    ["Python's None", "def execute(params):\n    return None\n"],
    ["a function without return", "def execute(params):\n    pass\n"],
    ["null", "export const execute = () => null;"],
    ["undefined", "export const execute = () => undefined;"],
    ["an async None", "async def execute(params):\n    return None\n"],
  ])("%s", async (_what, text) => {
    folder("nothing", text);
    expect(await surfaces("nothing")).toMatchObject({
      rest: { status: 200, body: null },
      jsonrpc: { result: null },
      mcp: { content: [] },
      hub: { output: null, status_code: 200 },
      manager: null,
      client: null,
    });
  });
});

describe("L11: {error, status_code} of a folder tool is a failure on every surface", () => {
  test.each([
    ["def execute(params):\n    return {'error': 'no such harbour', 'status_code': 404}\n", 404],
    ["export const execute = () => ({ error: 'no such harbour', status_code: 418 });", 418],
  ])("%j", async (text, status) => {
    folder("harbour", text);
    expect(await surfaces("harbour")).toMatchObject({
      rest: { status, body: { error: { kind: "tool_error", message: "no such harbour" } } },
      jsonrpc: { error: { code: -32000, message: expect.stringContaining("no such harbour") } },
      mcp: { isError: true, content: [{ type: "text", text: "no such harbour" }] },
      hub: { error: "no such harbour", status_code: status },
      manager: { error: "no such harbour" },
      client: { threw: expect.stringContaining("no such harbour") },
    });
  });

  test.each([
    "{'error': 'x'}",
    "{'error': 'x', 'status_code': 200}",
    "{'error': 'x', 'status_code': 600}",
    "{'error': 1, 'status_code': 404}",
    "{'error': 'x', 'status_code': 404.5}",
    "[{'error': 'x', 'status_code': 404}]",
  ])("the value %s is not a failure", async (value) => {
    folder("value", `def execute(params):\n    return ${value}\n`);
    const binding = kept(new LocalMCPBinding({ tools_folder_path: yard.path("folders"), logger }));
    expect(await binding.executeTool("value", {})).toMatchObject({ status_code: 200 });
  });
});

describe("L11: a timeout that a tool raises has status 504", () => {
  test.each([
    ["def execute(params):\n    raise TimeoutError('API timeout')\n", {}],
    ["def execute(params):\n    raise TimeoutError('API timeout')\n", { run: { mode: "warm" } }],
    ["import asyncio\nasync def execute(params):\n    raise asyncio.TimeoutError('API timeout')\n", {}],
    ["class Late(TimeoutError): pass\ndef execute(params):\n    raise Late('API timeout')\n", {}],
    ["class ReadTimeout(Exception): pass\ndef execute(params):\n    raise ReadTimeout('API timeout')\n", {}],
    ["import subprocess\ndef execute(params):\n    raise subprocess.TimeoutExpired('x', 5)\n", {}],
    ["export const execute = () => { throw new DOMException('API timeout', 'TimeoutError'); };", {}],
    [
      "export const execute = () => { throw Object.assign(new Error('API timeout'), { name: 'ConnectTimeout' }); };",
      {},
    ],
  ])("%j %j", async (text, more) => {
    folder("late", text, more);
    const binding = kept(new LocalMCPBinding({ tools_folder_path: yard.path("folders"), logger }));
    expect(await binding.executeTool("late", {})).toMatchObject({
      error: expect.stringMatching(/^Tool execution failed: .*(?:API timeout|timed out)/),
      status_code: 504,
    });
  });

  test.each(["ValueError('timeout')", "KeyError('TimeoutError')", "RuntimeError('late')"])(
    "another exception (%s) has status 500",
    async (error) => {
      folder("late", `def execute(params):\n    raise ${error}\n`);
      const binding = kept(new LocalMCPBinding({ tools_folder_path: yard.path("folders"), logger }));
      expect(await binding.executeTool("late", {})).toMatchObject({ status_code: 500 });
    },
  );

  test("REST answers such a timeout with status 504", async () => {
    folder("late", "def execute(params):\n    raise TimeoutError('API timeout')\n");
    expect(await surfaces("late")).toMatchObject({ rest: { status: 504 }, hub: { status_code: 504 } });
  });
});

test("L10: JSON text of a server without structured content is the same value on every surface", async () => {
  const value = { sum: 3 };
  expect(await surfaces("library::add_numbers", { a: 1, b: 2 })).toMatchObject({
    rest: { body: value },
    jsonrpc: { result: value },
    hub: { output: value, status_code: 200 },
    manager: value,
    client: value,
  });
  const binding = kept(new StandardMCPBinding({ initial_servers: { library: { command: SERVER } }, logger }));
  expect(await binding.executeTool("library::add_numbers", { a: 1, b: 2 })).toEqual({
    output: value,
    status_code: 200,
  });
});

test("L10: a function's text that looks like JSON stays text on every surface", async () => {
  folder("text", "def execute(params):\n    return '42'\n");
  expect(await surfaces("text")).toMatchObject({
    rest: { body: "42" },
    jsonrpc: { result: "42" },
    hub: { output: "42", status_code: 200 },
  });
});
