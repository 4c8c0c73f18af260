// Programs of the documents in Python: clients of the hub, and servers for it. They use the standard library only.
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MyCustomMCPBinding } from "../../examples/bindings/my_custom_mcp.ts";
import { RemoteMCPBinding, StandardMCPBinding } from "../../packages/toolyard/src/bindings.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { Desk, exitOf, MAIN, ROOT, seen, textOf } from "../cli/harness.ts";

const PROGRAMS = join(ROOT, "test/documents/python");
const logger = SILENT_LOGGER;
let desk: Desk;
const open: AsyncDisposable[] = [];

beforeEach(async () => void (desk = await Desk.create()));
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one[Symbol.asyncDispose]()));
  await desk[Symbol.asyncDispose]();
});

function kept<T extends AsyncDisposable>(one: T): T {
  open.push(one);
  return one;
}

/** Runs a program to its end and returns its output. */
async function python(name: string, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const child = desk.startCommand(["python3", join(PROGRAMS, name), ...args]);
  child.stdin!.end();
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!), exitOf(child)]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe("a client in Python", () => {
  const HERON = `import os

def execute(params):
    if "pink" in params["species"]:
        raise LookupError("no pink heron in " + os.environ["MARSH"])
    return {"count": len(params["species"]), "marsh": os.environ["MARSH"]}
`;
  const ABOUT = {
    name: "heron",
    description: "Counts herons",
    input_schema: {
      type: "object",
      properties: { species: { type: "array", items: { type: "string" } } },
      required: ["species"],
    },
    env: { pass: ["MARSH"] },
  };

  test("L3, L7, L10, L11, R3, R8, R10: calls the hub's tools through a custom binding", async () => {
    await desk.write("tools/heron/heron.py", HERON);
    await desk.write("tools/heron/heron.mcp.json", JSON.stringify(ABOUT));
    const config = await desk.write(
      "toolyard.toml",
      '[folders]\ntools_path = "tools"\n[builtin]\nmeta_tools = false\nexecute_code = false\n',
    );
    const told = await python("stdio_programs.py", process.execPath, MAIN, "serve", "--stdio", "--config", config);
    expect(told).toEqual({
      revision: "2024-11-05",
      tools: { heron: ["species"] },
      counted: { output: { count: 2, marsh: "Camargue" }, status_code: 200 },
      failed: { error: expect.stringContaining("no pink heron in Camargue"), status_code: 500 },
      lacking: { error: expect.stringContaining("species"), status_code: 400 },
      unknown: { error: expect.stringContaining("Unknown tool: stork"), status_code: 404 },
      code: 0,
    });
  });

  test("G26, G30, G33, G60, G62: uses the core's dialect over HTTP, including errors", async () => {
    await desk.write(
      "src/marsh/mcp.py",
      `def count(birds):
    if not birds:
        raise RuntimeError("the marsh is empty")
    return {"birds": len(birds)}

def register_tools(mcp_instance):
    schema = {"type": "object", "properties": {"birds": {"type": "array"}}, "required": ["birds"]}
    mcp_instance.register_tool("marsh.count", count, schema, "Counts birds")
    mcp_instance.register_resource("marsh://{name}", lambda uri, name: {"uri": uri, "name": name}, "A marsh")
`,
    );
    const server = desk.start(["core", "server", "--transport", "http", "--port", "0"]);
    const [, address] = await seen(server.stderr!, /Starting MCP server on HTTP (http:\/\/127\.0\.0\.1:[1-9]\d*)/);
    const told = await python("core_client.py", address!);
    expect(told).toMatchObject({
      version: "1.0-gnn",
      tools: ["marsh.count"],
      resources: ["marsh://{name}"],
      count: [200, { jsonrpc: "2.0", id: 7, result: { birds: 2 } }],
      wrong: [400, { id: "w", error: { code: -32602 } }],
      lacking: [400, { id: "l", error: { code: -32602, message: "Missing required parameter: birds" } }],
      unknown: [404, { id: 0, error: { code: -32601, data: "Tool 'marsh.drain' not found." } }],
      failed: [
        500,
        { id: "f", error: { code: -32000, message: "Error executing tool 'marsh.count': the marsh is empty" } },
      ],
      resource: [200, { id: 9, result: { uri: "marsh://camargue", name: "camargue" } }],
      broken: [400, { id: null, error: { code: -32700, message: "Parse error" } }],
    });
  });
});

describe("a server in Python", () => {
  const calc = (more: object = {}) => ({ command: ["python3", "calc_server.py"], cwd: desk.path("marsh"), ...more });

  test("L50, L51, L52, L53: runs on stdio with its alias, folder and variables", async () => {
    await cp(PROGRAMS, desk.path("marsh"), { recursive: true });
    const binding = kept(
      new StandardMCPBinding({ initial_servers: { reed_calc: calc({ env: { UNIT: "reeds" } }) }, logger }),
    );
    const names = (await binding.discover_tools()).map(({ name }) => name);
    expect(names.toSorted()).toEqual(["reed_calc::divide", "reed_calc::multiply"]);
    expect(await binding.execute_tool("reed_calc::multiply", { a: 6, b: 7 })).toEqual({
      output: { value: 42, unit: "reeds", at: "marsh" },
      status_code: 200,
    });
    expect(await binding.execute_tool("reed_calc::divide", { a: 1, b: 0 })).toMatchObject({
      error: expect.stringContaining("division by zero"),
      status_code: 500,
    });
    expect(await binding.execute_tool("reed_calc::multiply", { a: "six", b: 7 })).toMatchObject({ status_code: 400 });
  });

  test("L54: is added and removed while the program runs", async () => {
    await cp(PROGRAMS, desk.path("marsh"), { recursive: true });
    const binding = kept(new StandardMCPBinding({ initial_servers: {}, logger }));
    const names = async () => (await binding.discover_tools({ force_refresh: true })).map(({ name }) => name);
    expect(await names()).toEqual([]);
    const { command, cwd } = calc();
    expect(await binding.add_server("late", command, { cwd })).toBe(true);
    expect(await names()).toEqual(["late::multiply", "late::divide"]);
    expect(await binding.remove_server("late")).toBe(true);
    expect(await names()).toEqual([]);
    expect(await binding.execute_tool("late::divide", { a: 1, b: 1 })).toMatchObject({ status_code: 404 });
  });

  test("L14: is used on plain HTTP through a program's custom binding", async () => {
    const binding = new MyCustomMCPBinding({ api_endpoint: await services() });
    expect(await binding.discover_tools()).toMatchObject([{ name: "cut", input_schema: { required: ["reed"] } }]);
    expect(await binding.execute_tool("cut", { reed: "common" })).toEqual({
      output: { cut: "common" },
      status_code: 200,
    });
    expect(await binding.execute_tool("cut", { reed: "rare" })).toEqual({
      error: "the reed is protected",
      status_code: 403,
    });
  });

  test("L60, L61, L62: is used on HTTP with a key, at its address", async () => {
    const server_url = `${await services()}/mcp`;
    const remote = (key: string): RemoteMCPBinding =>
      kept(
        new RemoteMCPBinding({
          server_url,
          alias: "reeds",
          auth_config: { type: "api_key", key, header_name: "X-Reed-Key" },
          logger,
        }),
      );
    const binding = remote("marsh-key");
    expect((await binding.discover_tools()).map(({ name }) => name)).toEqual(["reeds::cut"]);
    expect(await binding.execute_tool("reeds::cut", { reed: "common" })).toMatchObject({ status_code: 200 });
    expect(await binding.execute_tool("reeds::cut", { reed: "rare" })).toMatchObject({
      error: expect.stringContaining("the reed is protected"),
      status_code: 500,
    });
    expect(await remote("another").discover_tools()).toEqual([]);
  });

  async function services(): Promise<string> {
    const child = desk.startCommand(["python3", join(PROGRAMS, "services.py")]);
    return (await seen(child.stdout!, /^(http:\S+)$/m))[1]!;
  }
});
