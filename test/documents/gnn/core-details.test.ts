import { chmod, mkdir, readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MCP, MCPInvalidParamsError, type MCPError } from "../../../packages/toolyard/src/core-server.ts";
import { LOCAL_PRINCIPAL } from "../../../packages/toolyard/src/core/calls/call.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../../packages/toolyard/src/index.ts";
import { Desk } from "../../cli/harness.ts";
import { ToolFolder } from "../../support/tool-folder.ts";
import { toolyardOf } from "../../../packages/toolyard/src/kernel/toolyard.ts";

let folder: ToolFolder;
const open: { close(): Promise<void> }[] = [];

beforeEach(() => void (folder = new ToolFolder()));
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  folder[Symbol.dispose]();
});

function core(logger = SILENT_LOGGER): MCP {
  const made = new MCP({ paths: [`${folder.path}/src`], variables: environment(), logger });
  open.push(made);
  return made;
}

const environment = () => ({ PATH: process.env["PATH"], TOOLYARD_HOME: `${folder.path}/home` });

async function hub(settings: object = {}): Promise<LibraryHub> {
  const made = await createHub({ settings: settings as never, variables: environment(), logger: SILENT_LOGGER });
  open.push(made);
  return made;
}

const EXPORT = `from toolyard import MCPInvalidParamsError

def export_tides(path, out="tides.json"):
    if path.endswith(".missing"):
        raise ValueError("Input tide file not found: " + path)
    if path.endswith(".range"):
        raise MCPInvalidParamsError("The range is negative", data={"path": path})
    if path.endswith(".broken"):
        raise RuntimeError("Failed to export tides: broken")
    return {"status": "success", "output_uri": "file://" + out}

def unread(mcp):
    try:
        return mcp.get_resource("waves://brest")
    except Exception as error:
        return str(error)

def about(mcp):
    def run():
        return {
            "tools": sorted(name for name in mcp.tool_registry if not name.startswith("meta.")),
            "resources": sorted(mcp.resource_registry),
            "modules": sorted(mcp.discovered_modules),
            "described": mcp.get_capabilities()["server_description"],
            "found": mcp.discover_modules(),
            "called": mcp.execute_tool("export.tides", {"path": "x"})["status"],
            "read": mcp.get_resource("tides://brest"),
            "unread": unread(mcp),
            "schema": mcp.tool_registry["export.tides"].schema["required"],
        }
    return run

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}

def register_tools(mcp):
    mcp.register_tool("export.tides", export_tides, SCHEMA, "Exports tides", invalid_params=ValueError)
    mcp.register_tool("export.plain", export_tides, SCHEMA, "The same, as it comes")
    mcp.register_resource("tides://{place}", lambda uri, place: {"tide": place}, "Tides of a place")
    mcp.register_tool("export.about", about(mcp), {}, "What the server has")
`;

const OTHER = `export function register_tools(mcp) {
  mcp.register_tool("other.one", () => 1);
  mcp.register_resource("other://{name}", (_uri, { name }) => ({ name }));
}`;

const STATUS = `def count(server, first):
    return {
        "discovered_modules_count": len(server.discovered_modules),
        "registered_tools_count": len(server.tool_registry),
        "registered_resources_count": len(server.resource_registry),
        "resources": sorted(server.resource_registry),
        "read": server.resource_registry["other://{name}"].retriever("other://moor"),
        "whole": server.get_capabilities()["server_description"],
        "first": first,
    }

def register_tools(mcp_instance):
    mcp_instance.register_tool("status.one", lambda n=5: {"n": n}, {}, "One")
    has = mcp_instance.get_capabilities()
    first = {
        "tools": [tool["name"] for tool in has["tools"]],
        "resources": has["resources"],
        "one": mcp_instance.execute_tool("status.one", {}),
    }
    mcp_instance.register_tool("status.count", lambda: count(mcp_instance, first), {}, "Counts")
`;

describe("modules in Python", () => {
  beforeEach(() => void folder.write("src/export/mcp.py", EXPORT));

  test("G53, G54: a wrapper can report a ValueError as invalid parameters", async () => {
    const mcp = core();
    await mcp.discoverModules();
    const told = (tool: string, path: string) => mcp.executeTool(tool, { path }).catch((error: MCPError) => error);
    expect(await told("export.tides", "a.missing")).toMatchObject({
      name: "MCPInvalidParamsError",
      code: -32602,
      message: expect.stringContaining("Input tide file not found: a.missing"),
    });
    expect(await told("export.plain", "a.range")).toMatchObject({ code: -32602, data: { path: "a.range" } });
    expect(await told("export.plain", "a.missing")).toMatchObject({ code: -32000 });
    expect(await told("export.tides", "a.broken")).toMatchObject({
      code: -32000,
      message: expect.stringContaining("Failed to export tides: broken"),
    });
    expect(await told("export.tides", "a")).toEqual({ status: "success", output_uri: "file://tides.json" });
  });

  test("G70: mcp_instance has the specified members in Python too", async () => {
    folder.write("src/other/mcp.ts", 'export const register_tools = (mcp) => mcp.register_tool("other.one", () => 1);');
    const mcp = core();
    await mcp.discoverModules();
    expect(await mcp.executeTool("export.about")).toEqual({
      tools: expect.arrayContaining(["export.about", "export.plain", "export.tides", "other.one"]),
      resources: ["tides://{place}"],
      modules: ["src.export.mcp", "src.other.mcp"],
      described: "GNN Project MCP Server",
      found: true,
      called: "success",
      read: { tide: "brest" },
      unread: expect.stringContaining("waves://brest"),
      schema: ["path"],
    });
  });

  test("G70, G71: the specified meta functions in Python report the same counts as the server", async () => {
    folder.write("src/other/mcp.ts", OTHER);
    folder.write("src/status/mcp.py", STATUS);
    const mcp = core();
    await mcp.discoverModules();
    const { discovered_modules_count, registered_tools_count, registered_resources_count } = (await mcp.executeTool(
      "meta.get_server_status",
    )) as Record<string, unknown>;
    const counts = { discovered_modules_count, registered_tools_count, registered_resources_count };
    expect(counts).toEqual({
      discovered_modules_count: 3,
      registered_tools_count: mcp.tool_registry.size,
      registered_resources_count: 2,
    });
    expect(await mcp.executeTool("status.count")).toEqual({
      ...counts,
      resources: ["other://{name}", "tides://{place}"],
      read: { name: "moor" },
      whole: "GNN Project MCP Server",
      // Values before any call: the module's registrations at load time.
      first: { tools: ["status.one"], resources: [], one: { n: 5 } },
    });
  });

  test.each([
    ["tides://brest", '{"tide":"brest"}'],
    ["waves://brest", "unknown_tool"],
  ])("a handler reads a resource of the hub as its caller: %s", async (uri, told) => {
    const mcp = core();
    mcp.registerTool(
      "tides.read",
      ({ uri: wanted }: { uri: string }, { read }) =>
        read(wanted).then(
          ({ contents }) => (contents as { text: string }[])[0]!.text,
          ({ kind }: { kind: string }) => kind,
        ),
      { type: "object", properties: { uri: { type: "string" } }, required: ["uri"] },
    );
    await mcp.discoverModules();
    const read = await mcp.executeTool("tides.read", { uri });
    expect(typeof read === "string" ? read : JSON.stringify(read)).toBe(told);
  });

  test("G71: the status counts entries of the registries", async () => {
    const mcp = core();
    await mcp.discoverModules();
    expect(await mcp.executeTool("meta.get_server_status")).toMatchObject({
      registered_tools_count: mcp.tool_registry.size,
      registered_resources_count: mcp.resource_registry.size,
      discovered_modules_count: 1,
    });
  });
});

test("G72: `meta` describes a hub as Toolyard or by its setting, and a core as the specified server", async () => {
  const capabilities = (of: LibraryHub) => of.call("meta.get_full_capabilities");
  const described = (text: string) => ({ result: { structuredContent: { server_description: text } } });
  expect(await capabilities(await hub())).toMatchObject(described("Toolyard: all tools behind one MCP endpoint"));
  const named = await hub({ builtin: { server_description: "Tides" } });
  expect(await capabilities(named)).toMatchObject(described("Tides"));
  expect((await core().getCapabilities()).server_description).toBe("GNN Project MCP Server");
});

test.each([
  [
    "the core",
    undefined,
    ["meta.get_full_capabilities", "meta.get_module_info", "meta.get_server_status", "meta.ping"],
  ],
  ["a core that says so", { builtin: { meta_visibility: "ondemand" } }, []],
  ["a core without them", { builtin: { meta_tools: false } }, []],
] as const)(
  "C39, G70: tools/list of %s has the specified meta names, and none of the older ones",
  async (_of, settings, names) => {
    const mcp = new MCP({ variables: environment(), logger: SILENT_LOGGER, ...(settings ? { settings } : {}) });
    open.push(mcp);
    mcp.registerTool("tides.now", () => 1);
    await mcp.discoverModules();
    const { port } = toolyardOf(await mcp.hub(), { endpoint: "core" });
    const listed = (await port.list("tools", { mode: "normal", principal: LOCAL_PRINCIPAL })).entries;
    expect(listed.map(({ name }) => name)).toEqual([...names, "tides.now"]);
  },
);

test("C39: a hub lists the meta tools for the dialect's method, and hides them from `tools/list`", async () => {
  const { endpoint } = await (await hub({ server: { port: 0, jsonrpc: true } })).serve();
  const ask = async (method: string): Promise<string[]> => {
    const answer = await fetch(endpoint.replace(/\/mcp$/, "/jsonrpc"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 3, method, params: {} }),
    });
    const { result } = (await answer.json()) as { result: { tools: { name: string }[] } };
    return result.tools.map(({ name }) => name).filter((name) => name.startsWith("meta.") || name.startsWith("get_"));
  };
  const named = ["meta.get_full_capabilities", "meta.get_module_info", "meta.get_server_status", "meta.ping"];
  for (const method of ["mcp/discover", "meta.get_full_capabilities"]) expect(await ask(method)).toEqual(named);
  expect((await (await hub()).list()).map(({ name }) => name)).toEqual(["execute_code"]);
});

test("C39: a hub lists the meta tools if `meta_visibility` is set, and search finds them in any case", async () => {
  const names = async (settings: object): Promise<unknown[]> =>
    (await (await hub(settings)).list()).map(({ name }) => name);
  expect(await names({ builtin: { meta_visibility: "native" } })).toContain("meta.get_server_status");
  expect(await names({})).not.toContain("meta.get_server_status");
  const found = await (await hub()).search("server status");
  expect(found.hits.map(({ name }) => name)).toContain("meta.get_server_status");
});

test("G8, C29: a refused registration throws, and earlier registrations remain", async () => {
  const mcp = core();
  mcp.registerTool("tides.now", () => 1);
  expect(() => mcp.registerTool("meta.tides", () => 1)).toThrow("the name belongs to the hub's own tools");
  expect(() => mcp.register_tool("execute_tool", () => 1)).toThrow("Tool execute_tool is not registered");
  expect([...mcp.tool_registry.keys()]).toEqual(["tides.now"]);
});

test("G13, G66: an exception of a tool is logged once, with one stack", async () => {
  const lines: string[] = [];
  const hear = (message: string, facts?: object): void => void lines.push(`${message} ${JSON.stringify(facts ?? {})}`);
  const logger = { debug: hear, info: hear, warning: hear, error: hear, with: () => logger };
  const mcp = core(logger);
  mcp.registerTool("tides.fail", () => {
    throw new RangeError("spring tide");
  });
  await expect(mcp.executeTool("tides.fail")).rejects.toThrow("spring tide");
  const errors = lines.filter((line) => line.includes("Error executing tool"));
  expect(errors.filter((line) => line.includes('"stack"'))).toHaveLength(1);
  expect(lines.filter((line) => /\bat .*core-details\.test/.test(line))).toHaveLength(1);
});

test("G13: an error with a JSON-RPC code leaves no stack", async () => {
  const lines: string[] = [];
  const hear = (message: string, facts?: object): void => void lines.push(`${message} ${JSON.stringify(facts ?? {})}`);
  const logger = { debug: hear, info: hear, warning: hear, error: hear, with: () => logger };
  const mcp = core(logger);
  mcp.registerTool("tides.refuse", () => {
    throw new MCPInvalidParamsError("no such harbour");
  });
  await expect(mcp.executeTool("tides.refuse")).rejects.toThrow("no such harbour");
  expect(lines.filter((line) => line.startsWith("Error executing tool tides.refuse: no such harbour"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes('"stack"'))).toEqual([]);
});

describe("the command line", () => {
  test("G13: the terminal shows a tool's exception once, without stack; a log file also has the stack", async () => {
    await using desk = await Desk.create({
      "toolyard.toml": '[modules]\npaths = ["src"]\n',
      "logged.toml": '[modules]\npaths = ["src"]\n[logging]\nfile = "hub.log"\n',
      "src/tides/mcp.mjs": `export const register_tools = (mcp) =>
        mcp.register_tool("tides.break", () => { throw new TypeError("neap tide"); }, {}, "Breaks");`,
    });
    const told = "tool_error: Error executing tool 'tides.break': neap tide\n";
    expect(await desk.run(["call", "tides.break"])).toMatchObject({ code: 1, stdout: "", stderr: told });
    const logged = await desk.run(["call", "tides.break", "--config", "logged.toml"]);
    expect(logged.stderr).toBe(told);
    const log = await readFile(desk.path("hub.log"), "utf8");
    expect(log.match(/neap tide/g)).toHaveLength(2);
    expect(log).toMatch(/^ {4}at .*src\/tides\/mcp\.mjs/m);
    const verbose = await desk.run(["call", "tides.break", "--verbose"]);
    expect(verbose.stderr).toMatch(/^ {4}at .*src\/tides\/mcp\.mjs/m);
  });

  test("G40: -v is global, and the specified commands name their current forms", async () => {
    await using desk = await Desk.create();
    const verbose = await desk.run(["-v", "core", "list"]);
    expect([verbose.code, verbose.stderr]).toEqual([0, expect.stringContaining("INFO")]);
    const plain = await desk.run(["core", "list"]);
    expect(plain.code).toBe(0);
    for (const [words, way] of [
      [["execute", "tides", "--params", "{}"], "`toolyard core execute <tool_name> --params <json>`"],
      [["server", "--transport", "http"], "`toolyard core server`"],
    ] as const)
      expect(await desk.run(words)).toMatchObject({ code: 2, stderr: expect.stringContaining(way) });
  });

  test("T36: `check` reports an unreadable script, and still offers the other tools", async ({ skip }) => {
    skip(process.platform === "win32", "not on this platform");
    const manifest = (name: string): string =>
      `name = "${name}"\ndescription = "Tides"\nscript = "run.sh"\n[parameters.place]\ntype = "string"\n`;
    await using desk = await Desk.create({
      "toolyard.toml": '[scripts]\ntools_path = "tools"\n',
      "tools/ebb/tool.toml": manifest("ebb"),
      "tools/ebb/run.sh": "echo low",
      "tools/flood/tool.toml": manifest("flood"),
      "tools/flood/run.sh": "echo high",
    });
    await mkdir(desk.path("home"));
    await Promise.all([
      chmod(desk.folder, 0o755),
      chmod(desk.path("home"), 0o777),
      chmod(desk.path("tools/ebb/run.sh"), 0),
    ]);
    // Root may read every file, so the command runs as another user.
    const checked = await desk.run(["check", "--yes"], process.getuid?.() === 0 ? { uid: 65_534 } : {});
    expect(checked.code).not.toBe(0);
    expect(checked.stdout + checked.stderr).toMatch(
      /ebb.*not offered: `script` names `run\.sh`, which cannot be read \(EACCES\)/,
    );
    expect(checked.stdout + checked.stderr).not.toMatch(/flood.*not offered/);
  });

  test("T36: `tools_path` at the top of the file is reported with the correct section", async () => {
    await using desk = await Desk.create({ "toolyard.toml": 'tools_path = "tools"\n' });
    const { code, stdout, stderr } = await desk.run(["check"]);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain("it belongs under [scripts]");
  });
});

test("T36: a tools/list request with only the mode header gets advice and keeps its id", async () => {
  const { endpoint } = await (await hub({ server: { port: 0 } })).serve();
  const post = async (id: unknown) => {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "x-mcp-tool-mode": "discovery",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list" }),
    });
    return [response.status, (await response.json()) as { id: unknown; error: { message: string } }] as const;
  };
  for (const id of [7, "tides-1"]) {
    const [status, { id: answered, error }] = await post(id);
    expect([status, answered]).toEqual([400, id]);
    expect(error.message).toContain("Send `initialize` first");
  }
});
