// Tests of document G (titles G1, G2, …) with modules and clients like a user's: a Python module whose tools cut peat,
// and modules with faults.
import { createConnection } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  closeMcpInstance,
  getMcpInstance,
  initialize,
  MCP,
  MCPHTTPServer,
  MCPResourceNotFoundError,
  MCPSDKNotFoundError,
  MCPToolExecutionError,
  MCPToolNotFoundError,
  startHttpServer,
} from "../../../packages/toolyard/src/core-server.ts";
import type { Logger } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { Desk, exitOf, MAIN, ROOT, seen, textOf } from "../../cli/harness.ts";

const PEAT = `import time

def cut(metres, soil="peat"):
    if metres > 50:
        raise OverflowError("the bog is smaller")
    return {"status": "success", "cut": metres, "soil": soil, "output_uri": "file:///stacks/peat.json"}

def burn(seconds):
    time.sleep(seconds)
    return {"burnt": True}

def bog(uri, name, depth):
    if name == "dry":
        raise LookupError("the bog is dry")
    return {"uri": uri, "name": name, "depth": depth}

CUT = {
    "type": "object",
    "properties": {
        "metres": {"type": "integer", "description": "How much"},
        "soil": {"type": "string", "enum": ["peat", "turf"], "description": "Of what"},
    },
    "required": ["metres"],
}
BURN = {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}

def register_tools(mcp_instance):
    mcp_instance.register_tool(name="peat.cut", func=cut, schema=CUT, description="Cuts peat")
    mcp_instance.register_tool("peat.burn", burn, BURN, "Burns for a while")
    mcp_instance.register_tool("peat.weigh", lambda: {"kilos": 12}, {}, "Weighs the stack")
    mcp_instance.register_tool("peat.rest", lambda: None, {}, "Does nothing")
    mcp_instance.register_resource("bog://{name}/{depth}", bog, "A bog at a depth")
`;
const TREE = {
  "src/peat/mcp.py": PEAT,
  "src/silent/mcp.py": "NOTHING = True\n",
  "src/torn/mcp.py": "def register_tools(:\n",
  "src/cross/mcp.py": 'def register_tools(mcp):\n    raise RuntimeError("no turf today")\n',
  "src/plain/readme.txt": "no module",
};

let desk: Desk;
const open: { close(): Promise<void> }[] = [];

beforeEach(async () => void (desk = await Desk.create(TREE)));
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  await closeMcpInstance();
  await desk[Symbol.asyncDispose]();
});

const variables = () => ({ PATH: process.env["PATH"], TOOLYARD_HOME: desk.path("home") });

/** Returns a logger that appends `level message` to `lines`. */
function noting(lines: string[]): Logger {
  const note = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const logger: Logger = {
    debug: note("debug"),
    info: note("info"),
    warning: note("warning"),
    error: note("error"),
    with: () => logger,
  };
  return logger;
}

function core(lines: string[] = []): MCP {
  const made = new MCP({ paths: [desk.path("src")], variables: variables(), logger: noting(lines) });
  open.push(made);
  return made;
}

describe("a core with modules in Python", () => {
  test("G1, G2, G3, G4, G5, G6, G7, G50, G65: finds modules, loads them, and reports failures", async () => {
    const lines: string[] = [];
    const mcp = core(lines);
    expect([mcp.tool_registry.size, mcp.resource_registry.size, mcp.discovered_modules.size]).toEqual([0, 0, 0]);
    expect(await mcp.discover_modules()).toBe(true);
    expect([...mcp.discovered_modules.keys()]).toEqual(["src.peat.mcp"]);
    expect([...mcp.resource_registry.keys()]).toEqual(["bog://{name}/{depth}"]);
    const log = lines.join("\n");
    expect(log).toMatch(/^info Successfully registered tools from src\.peat\.mcp/m);
    expect(log).toMatch(/^warning Module src\.silent\.mcp found but has no register_tools function\./m);
    expect(log).toMatch(/^error Failed to load or register tools from .*src\/torn\/mcp\.py: /m);
    expect(log).toMatch(/^error Failed to load or register tools from .*src\/cross\/mcp\.py: .*no turf today/m);
    expect(log).not.toContain("src.plain");
  });

  test("C48, G7: without a tool, discovery returns false, and the lists are empty", async () => {
    const empty = new MCP({ paths: [desk.path("src/plain")], variables: variables(), logger: noting([]) });
    open.push(empty);
    expect(await empty.discover_modules()).toBe(false);
    const { tools, resources } = await empty.get_capabilities();
    expect([Array.isArray(tools), resources]).toEqual([true, []]);
  });

  test("G9, G15, G16, G51, G52: describes its tools in the specified form", async () => {
    const mcp = core();
    await mcp.discover_modules();
    const told = await mcp.get_capabilities();
    expect(Object.keys(told)).toEqual(["mcp_version", "server_description", "tools", "resources"]);
    expect([told.mcp_version, told.server_description]).toEqual(["1.0-gnn", "GNN Project MCP Server"]);
    const cut = told.tools.find(({ name }) => name === "peat.cut")!;
    expect(cut).toEqual({
      name: "peat.cut",
      description: "Cuts peat",
      schema: {
        type: "object",
        properties: {
          metres: { type: "integer", description: "How much" },
          soil: { type: "string", enum: ["peat", "turf"], description: "Of what" },
        },
        required: ["metres"],
      },
    });
    expect(told.resources).toEqual([{ uri_template: "bog://{name}/{depth}", description: "A bog at a depth" }]);
    const [tool, resource] = [mcp.tool_registry.get("peat.cut")!, mcp.resource_registry.get("bog://{name}/{depth}")!];
    expect([tool.name, tool.description, tool.schema]).toEqual([cut.name, cut.description, cut.schema]);
    const call = (func: (...args: never[]) => unknown, given: unknown): unknown => func(given as never);
    expect(await call(tool.func, { metres: 2 })).toMatchObject({ cut: 2 });
    expect([resource.uri_template, resource.description]).toEqual(["bog://{name}/{depth}", "A bog at a depth"]);
    expect(await call(resource.retriever, "bog://clara/4")).toMatchObject({ name: "clara" });
  });

  test("G10, G14: matches templates, passes their values, and reports unknown URIs", async () => {
    const mcp = core();
    await mcp.discover_modules();
    expect(await mcp.get_resource("bog://allen/7")).toEqual({ uri: "bog://allen/7", name: "allen", depth: "7" });
    await expect(mcp.get_resource("bog://allen")).rejects.toThrow("Resource 'bog://allen' not found.");
    await expect(mcp.get_resource("bog://allen")).rejects.toBeInstanceOf(MCPResourceNotFoundError);
    await expect(mcp.get_resource("bog://dry/7")).rejects.toThrow("the bog is dry");
  });

  test("G11, G12, G13, G57, G63, G64, G66: runs tools, refuses invalid calls, and logs each of them", async () => {
    const lines: string[] = [];
    const mcp = core(lines);
    await mcp.discover_modules();
    expect(await mcp.execute_tool("peat.cut", { metres: 4, soil: "turf" })).toMatchObject({ cut: 4, soil: "turf" });
    expect(await mcp.execute_tool("peat.weigh", {})).toEqual({ kilos: 12 });
    const failure = async (name: string, params: object): Promise<unknown> =>
      mcp.execute_tool(name, params as never).catch((error: unknown) => error);
    expect(await failure("peat.drain", {})).toBeInstanceOf(MCPToolNotFoundError);
    expect(await failure("peat.drain", {})).toMatchObject({ code: -32601, message: "Tool 'peat.drain' not found." });
    expect(await failure("peat.cut", {})).toMatchObject({
      code: -32602,
      message: "Missing required parameter: metres",
    });
    expect(await failure("peat.cut", { metres: "two" })).toMatchObject({ code: -32602 });
    expect(await failure("peat.cut", { metres: 2, soil: "clay" })).toMatchObject({ code: -32602 });
    const thrown = await failure("peat.cut", { metres: 99 });
    expect(thrown).toBeInstanceOf(MCPToolExecutionError);
    expect(thrown).toMatchObject({
      code: -32000,
      message: "Error executing tool 'peat.cut': the bog is smaller",
      data: "the bog is smaller",
    });
    const log = lines.join("\n");
    for (const words of [
      "info Attempting to execute tool: peat.cut",
      "info Tool peat.cut executed successfully.",
      "error Tool not found: peat.drain",
      "error Error executing tool peat.cut",
    ])
      expect(log).toContain(words);
  });

  test("G8, G10: a repeated name or template replaces the first, with the specified warning", async () => {
    const lines: string[] = [];
    const mcp = core(lines);
    for (const kilos of [1, 2]) mcp.register_tool("peat.stack", () => ({ kilos }), {}, "A stack");
    for (const at of [1, 2]) mcp.register_resource("stack://{name}", () => ({ at }), "A stack");
    expect(await mcp.execute_tool("peat.stack")).toEqual({ kilos: 2 });
    expect(await mcp.get_resource("stack://one")).toEqual({ at: 2 });
    const log = lines.join("\n");
    expect(log).toContain("warning Tool peat.stack already registered. Overwriting.");
    expect(log).toContain("warning Resource URI template stack://{name} already registered. Overwriting.");
    expect(log).toContain("info Registered tool: peat.stack");
    expect(log).toContain("info Registered resource: stack://{name}");
  });

  test("G73, G74, G75: describes its modules, and nothing private", async () => {
    const mcp = core();
    await mcp.discover_modules();
    const about = await mcp.execute_tool("meta.get_module_info", { module_name: "src.peat.mcp" });
    expect(about).toMatchObject({ module_name: "src.peat.mcp", status: "loaded" });
    const { path, provided_tools_sample: sample } = about as { path: string; provided_tools_sample: string[] };
    expect(path).toMatch(/src\/peat\/mcp\.py$/);
    expect(sample.toSorted()).toEqual(["peat.burn", "peat.cut", "peat.rest", "peat.weigh"]);
    await expect(mcp.execute_tool("meta.get_module_info", { module_name: "src.turf.mcp" })).rejects.toThrow(
      "Module 'src.turf.mcp' not found or not loaded.",
    );
    expect(mcp.tool_registry.has("meta.get_server_logs")).toBe(false);
    expect(mcp.tool_registry.has("meta.ping")).toBe(true);
  });
});

describe("on stdio, from a program in Python", () => {
  test("G20, G21, G22, G24, G25, G26, G27, G29, G45, G46, G60, G61, G67, G70, G71, G72: answers by line", async () => {
    const program = join(ROOT, "test/documents/python/core_stdio.py");
    const server = [process.execPath, MAIN, "core", "server"];
    const child = desk.startCommand(["python3", program, ...server]);
    child.stdin!.end();
    const [stdout, stderr] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!), exitOf(child)]);
    expect(stderr).toBe("");
    const { code, stderr: log, order, versions, answers, members } = JSON.parse(stdout);
    expect([code, log, versions]).toEqual([0, expect.stringContaining("Starting MCP server on stdio..."), ["2.0"]]);
    expect(answers).toMatchObject({
      None: { code: -32700, message: "Parse error" },
      "no-method": { code: -32600, message: "Invalid JSON-RPC request object" },
      old: { code: -32600, message: "Invalid jsonrpc version" },
      slow: { burnt: true },
      plain: { kilos: 12 },
      0: { cut: 3, soil: "peat" },
      wrong: { code: -32602 },
      soil: { code: -32602 },
      lacking: { code: -32602, message: "Missing required parameter: metres" },
      failed: {
        code: -32000,
        message: "Error executing tool 'peat.cut': the bog is smaller",
        data: "the bog is smaller",
      },
      unknown: { code: -32601, message: "Method not found", data: "Tool 'peat.drain' not found." },
      bog: { uri: "bog://allen/7", name: "allen", depth: "7" },
      "no-uri": { code: -32602, message: "Missing uri for resource request" },
      "no-bog": { code: -32601, message: "Resource 'fen://allen' not found." },
      status: {
        status: "running",
        discovered_modules_count: 1,
        registered_resources_count: 1,
        uptime_seconds: expect.any(Number),
        server_version: expect.any(String),
      },
      none: { message: expect.stringContaining("Module 'src.turf.mcp' not found or not loaded.") },
      module: { module_name: "src.peat.mcp", status: "loaded" },
      ping: expect.anything(),
    });
    expect(answers.nothing).toBeNull();
    expect(answers.dry.message).toContain("the bog is dry");
    expect(answers[11]).toEqual(answers.caps);
    expect(answers.full).toEqual(answers.caps);
    expect(Array.isArray(answers.caps.tools)).toBe(true);
    expect(members).toMatchObject({ nothing: ["id", "jsonrpc", "result"], unknown: ["error", "id", "jsonrpc"] });
    // A slow call delays no later one, and a message without an id gets no answer.
    expect(order.at(-1)).toBe("slow");
    expect(order).toHaveLength(23);
  });
});

describe("on HTTP", () => {
  interface HttpAnswer {
    readonly status: number;
    readonly type: string | null;
    readonly body: string;
  }
  async function post(url: string, body: string): Promise<HttpAnswer> {
    const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    return { status: answer.status, type: answer.headers.get("content-type"), body: await answer.text() };
  }
  const message = (method: string, params: object = {}): string =>
    JSON.stringify({ jsonrpc: "2.0", id: "peat-9", method, params });

  test("G30, G31, G32, G33, G34, G35, G38: one core serves both transports, with the specified statuses", async () => {
    const mcp = core();
    await mcp.discover_modules();
    const server = new MCPHTTPServer(mcp, "127.0.0.1", 0);
    await server.start();
    mcp.register_tool("peat.late", () => ({ late: true }), {}, "Came while it was served");
    const url = `${server.url}/jsonrpc`;
    expect(await post(`${server.url}/`, message("peat.late"))).toMatchObject({
      status: 200,
      type: expect.stringMatching(/^application\/json/),
      body: '{"jsonrpc":"2.0","id":"peat-9","result":{"late":true}}',
    });
    const told = async (body: string): Promise<[number, unknown]> => {
      const answer = await post(url, body);
      return [answer.status, JSON.parse(answer.body)];
    };
    const error = (code: number, words: string) => ({ error: { code, message: words } });
    expect(await told("")).toEqual([
      400,
      { jsonrpc: "2.0", id: null, ...error(-32600, "Invalid Request: No data received") },
    ]);
    expect(await told("{")).toEqual([400, { jsonrpc: "2.0", id: null, ...error(-32700, "Parse error") }]);
    expect(await told(message("peat.cut", {}))).toMatchObject([400, { error: { code: -32602 } }]);
    expect(await told(message("peat.drain"))).toMatchObject([404, { error: { code: -32601 } }]);
    expect(await told(message("peat.cut", { metres: 60 }))).toMatchObject([500, { error: { code: -32000 } }]);
    expect(await told(message("resource/get", { uri: "bog://mona/2" }))).toMatchObject([
      200,
      { result: { depth: "2" } },
    ]);
    const got = await fetch(`${server.url}/?uri=${encodeURIComponent("bog://mona/3")}`);
    expect(await got.json()).toMatchObject({ result: { name: "mona", depth: "3" } });
    expect(await post(`${server.url}/bog`, message("peat.weigh"))).toMatchObject({ status: 404, body: "Not Found" });
    const { port } = server;
    await server.stop();
    const refused = await new Promise((resolve) => createConnection(port, "127.0.0.1").on("error", resolve));
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("G17, G18, G19, G36, G37, G47: all callers share one core; requests are logged only at debug", async () => {
    const lines: string[] = [];
    const options = { paths: [desk.path("src")], variables: variables(), logger: noting(lines) };
    const lacking = { ...options, requires: ["no-such-peat-kit"] };
    await expect(initialize(true, false, lacking)).rejects.toBeInstanceOf(MCPSDKNotFoundError);
    await expect(initialize(true, false, lacking)).rejects.toThrow("MCP SDK not found or failed to initialize.");
    const [mcp, found, forced] = await initialize(true, true, lacking);
    expect([found, forced, mcp.tool_registry.has("peat.cut")]).toEqual([false, true, true]);
    const before = lines.filter((line) => line.includes("Successfully registered")).length;
    const server = await startHttpServer("127.0.0.1", 0);
    expect([(await initialize())[0], await getMcpInstance(), server.mcp]).toEqual([mcp, mcp, mcp]);
    expect(lines.filter((line) => line.includes("Successfully registered"))).toHaveLength(before);
    const from = lines.length;
    expect(await post(`${server.url}/jsonrpc`, message("peat.weigh"))).toMatchObject({ status: 200 });
    expect(lines.slice(from).filter((line) => /^(?:info|warning|error).*(?:POST|\/jsonrpc)/.test(line))).toEqual([]);
    await server.stop();
  });
});

describe("# with the specified commands", () => {
  const told = (text: string): unknown => JSON.parse(text);

  const core = (...words: string[]) => desk.run(["core", ...words]);

  test("G41: list prints everything, and reports what failed", async () => {
    const { code, stdout, stderr } = await core("list");
    expect(stdout.startsWith('{\n  "mcp_version": "1.0-gnn"')).toBe(true);
    expect([code, stderr]).toEqual([1, expect.stringContaining("src.torn.mcp")]);
  });

  test.each([
    [
      ["execute", "peat.cut", "--params", '{"metres": 6}'],
      { result: { status: "success", cut: 6, soil: "peat", output_uri: "file:///stacks/peat.json" } },
    ],
    [["execute", "peat.weigh"], { result: { kilos: 12 } }],
    [["resource", "bog://clara/1"], { resource: { uri: "bog://clara/1", name: "clara", depth: "1" } }],
  ])("G42, G44, G53: %j prints a success on standard output", async (words, given) => {
    const { code, stdout } = await core(...words);
    expect([code, told(stdout)]).toEqual([0, { status: "success", ...given }]);
  });

  test.each([
    [["execute", "peat.drain"], /^Tool 'peat\.drain' not found\./],
    [["execute", "peat.cut", "--params", "{metres"], /JSON/],
    [["resource", "fen://clara"], /^Resource 'fen:\/\/clara' not found\./],
  ])("G43, G44: %j prints an error on standard error", async (words, message) => {
    const { code, stdout, stderr } = await core(...words);
    expect([code, stdout]).toEqual([1, ""]);
    expect(told(stderr.slice(stderr.indexOf("{")))).toEqual({
      status: "error",
      message: expect.stringMatching(message),
    });
  });

  test("G28, G45, G46: server prints its address, serves, and ends with a message at Ctrl+C", async () => {
    const child = desk.start(["core", "server", "--transport", "http", "--host", "127.0.0.1", "--port", "0"]);
    const stderr = textOf(child.stderr!);
    const [, url] = await seen(child.stderr!, /Starting MCP server on HTTP (http:\/\/127\.0\.0\.1:[1-9]\d*)\.\.\./);
    const answer = await fetch(`${url}/jsonrpc`, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 5, method: "peat.weigh" }),
      headers: { "content-type": "application/json" },
    });
    expect(await answer.json()).toEqual({ jsonrpc: "2.0", id: 5, result: { kilos: 12 } });
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(0);
    expect(await stderr).toContain("Shutting down HTTP server...");
  });
});
