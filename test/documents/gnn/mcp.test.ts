import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  closeMcpInstance,
  get_mcp_instance,
  getMcpInstance,
  initialize,
  MCP,
  MCPError,
  MCPInvalidParamsError,
  MCPResource,
  MCPResourceNotFoundError,
  MCPSDKNotFoundError,
  MCPTool,
  MCPToolExecutionError,
  MCPToolNotFoundError,
} from "../../../packages/toolyard/src/core-server.ts";
import { Core, SUM } from "./core.ts";

let core: Core;

beforeEach(() => {
  core = new Core();
});
afterEach(async () => {
  await closeMcpInstance();
  await core[Symbol.asyncDispose]();
});

const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("registries", () => {
  test("G1: has tools by name, resources by template, modules by name, and a logger", async () => {
    core.module(
      "export",
      'mcp.register_tool("export.run", () => 1, {}, "Runs."); ' +
        'mcp.register_resource("doc://{name}", () => "x", "Docs");',
    );
    await core.mcp.discover_modules();
    expect(core.mcp.tool_registry.get("export.run")).toMatchObject({
      name: "export.run",
      description: "Runs.",
      schema: { type: "object" },
    });
    expect(core.mcp.resource_registry.get("doc://{name}")).toMatchObject({
      uri_template: "doc://{name}",
      description: "Docs",
    });
    expect([...core.mcp.discovered_modules.keys()]).toEqual(["src.export.mcp"]);
    expect(core.mcp.discoveredModules.get("src.export.mcp")?.["register_tools"]).toBeInstanceOf(Function);
    core.mcp.logger.info("said");
    expect(core.log.all).toContain("info said");
  });

  test("G1: a new core has empty registries", () => {
    expect([core.mcp.tool_registry.size, core.mcp.resource_registry.size, core.mcp.discovered_modules.size]).toEqual([
      0, 0, 0,
    ]);
  });

  test("G1: registrations of a removed module are removed", async () => {
    core.module("export", 'mcp.register_tool("export.run", () => 1);');
    await core.mcp.discoverModules();
    core.folder.remove("src/export");
    await expect.poll(() => core.mcp.discoverModules()).toBe(false);
    expect(core.mcp.tool_registry.has("export.run")).toBe(false);
  });

  test("G8: a program registers function, schema and description; a repetition warns and replaces", async () => {
    core.mcp.registerTool("a.tool", () => "first", {}, "First");
    core.mcp.register_tool("a.tool", () => "second", {}, "Second");
    expect(await core.mcp.executeTool("a.tool")).toBe("second");
    expect(core.log.all).toEqual(
      expect.arrayContaining(["info Registered tool: a.tool", "warning Tool a.tool already registered. Overwriting."]),
    );
  });

  test("G8: immediately refuses a value that is not a function", () => {
    expect(() => core.mcp.registerTool("a.tool", "no function" as never)).toThrow(
      "Tool `a.tool`: the handler must be a function, got string.",
    );
  });

  test("G8: a program's registration overrides a module's, until it is removed", async () => {
    core.module("a", 'mcp.register_tool("same.tool", () => "module");');
    const own = core.mcp.registerTool("same.tool", () => "program");
    await core.mcp.discoverModules();
    expect(await core.mcp.executeTool("same.tool")).toBe("program");
    own.unregister();
    expect(await core.mcp.executeTool("same.tool")).toBe("module");
  });

  test("G16: records are of MCPTool and MCPResource, with their functions", async () => {
    core.mcp.registerTool("math.add", ({ a, b }: { a: number; b: number }) => a + b, SUM, "Adds.");
    core.mcp.registerResource("doc://{id}", (_uri, { id }) => `doc ${id}`, "Docs");
    const tool = core.mcp.toolRegistry.get("math.add")!;
    const resource = core.mcp.resourceRegistry.get("doc://{id}")!;
    expect(tool).toBeInstanceOf(MCPTool);
    expect(resource).toBeInstanceOf(MCPResource);
    expect([tool.schema, tool.description, (tool.func as (args: object) => unknown)({ a: 1, b: 2 })]).toEqual([
      SUM,
      "Adds.",
      3,
    ]);
    expect([resource.uriTemplate, resource.description]).toEqual(["doc://{id}", "Docs"]);
  });

  test("G16: refuses an unknown member of a registration", () => {
    expect(() => core.mcp.registerTool({ name: "x", handler: () => 1, descripton: "" } as never)).toThrow(
      "did you mean `description`?",
    );
  });
});

describe("discovery", () => {
  test("G4: a module registers with the core itself, with access to its registries", async () => {
    core.module(
      "a",
      'mcp.register_tool("a.sees", () => mcp.tool_registry.size, {}, ""); ' +
        'mcp.register_tool("a.count", async () => (await mcp.get_capabilities()).tools.length);',
    );
    await core.mcp.discoverModules();
    expect(core.log.all).toContain("info Successfully registered tools from src.a.mcp");
    expect(await core.mcp.executeTool("a.sees")).toBeGreaterThanOrEqual(2);
    expect(await core.mcp.executeTool("a.count")).toBe((await core.mcp.getCapabilities()).tools.length);
  });

  test("G4: does not call a misspelt export", async () => {
    core.folder.write("src/a/mcp.mjs", 'export function register_tool(mcp) { mcp.register_tool("a.tool", () => 1); }');
    await core.mcp.discoverModules();
    expect(core.mcp.discovered_modules.size).toBe(0);
    expect(core.log.all).toContain("warning Module src.a.mcp found but has no register_tools function.");
  });

  test("G7: discover_modules is true if at least one tool is registered", async () => {
    core.module("a", 'mcp.register_tool("a.tool", () => 1);');
    expect(await core.mcp.discoverModules()).toBe(true);
  });

  test("G7: discover_modules is false without a registered tool; the hub's own tools do not count", async () => {
    core.folder.write("src/a/other.mjs", "");
    expect(await core.mcp.discoverModules()).toBe(false);
  });

  test("C50: one failing module does not make the result false, and is in the diagnostics", async () => {
    core.module("good", 'mcp.register_tool("good.tool", () => 1);');
    core.module("bad", 'throw new Error("boom");');
    expect(await core.mcp.discoverModules()).toBe(true);
    expect(core.mcp.diagnostics).toEqual([
      expect.objectContaining({ subject: "src.bad.mcp", message: expect.stringContaining("boom") }),
    ]);
    expect(core.mcp.allModulesLoaded).toBe(false);
  });

  test("C50: there are no diagnostics if all modules load", async () => {
    core.module("good", 'mcp.register_tool("good.tool", () => 1);');
    await core.mcp.discoverModules();
    expect([core.mcp.diagnostics, core.mcp.allModulesLoaded]).toEqual([[], true]);
  });

  test("G65: discovery continues after errors", async () => {
    const bad = core.module("bad", 'throw new Error("boom");');
    core.module("good", 'mcp.register_tool("good.tool", () => "fine");');
    const [mcp] = await initialize(true, false, core.options);
    expect(await mcp.executeTool("good.tool")).toBe("fine");
    expect(core.log.all).toContain(`error Failed to load or register tools from ${bad}: boom`);
  });

  test("G65: a missing critical module stops discovery", async () => {
    await expect(initialize(true, false, { ...core.options, requires: ["no-such-package"] })).rejects.toThrow(
      MCPSDKNotFoundError,
    );
  });
});

describe("execution", () => {
  test("G11: logs an attempt and its success, under every spelling of the name", async () => {
    core.mcp.registerTool("math.add", ({ a, b }: { a: number; b: number }) => a + b, SUM);
    expect(await core.mcp.executeTool("math.add", { a: 1, b: 2 })).toBe(3);
    expect(await core.mcp.execute_tool("math__add", { a: 1, b: 2 })).toBe(3);
    expect(core.log.all).toEqual(
      expect.arrayContaining([
        "info Attempting to execute tool: math.add",
        "info Tool math.add executed successfully.",
      ]),
    );
    expect(core.log.whole).not.toContain('"a":1');
  });

  test("G11: an unknown name is a tool-not-found error, and logged", async () => {
    const error = await caught(core.mcp.executeTool("no_tool"));
    expect(error).toBeInstanceOf(MCPToolNotFoundError);
    expect(error).toMatchObject({
      message: "Tool 'no_tool' not found.",
      code: -32601,
      data: "Tool 'no_tool' not found.",
    });
    expect(core.log.all).toContain("error Tool not found: no_tool");
  });

  test("G12: a missing parameter or wrong type is invalid params, without a call", async () => {
    let calls = 0;
    core.mcp.registerTool("math.add", () => (calls += 1), SUM);
    const missing = await caught(core.mcp.executeTool("math.add", { a: 1 }));
    expect(missing).toBeInstanceOf(MCPInvalidParamsError);
    expect(missing).toMatchObject({ message: "Missing required parameter: b", code: -32602 });
    expect(await caught(core.mcp.executeTool("math.add", { a: 1, b: "two" }))).toBeInstanceOf(MCPInvalidParamsError);
    expect(calls).toBe(0);
  });

  test("G13: the return value is the result, with any type", async () => {
    for (const [name, value] of Object.entries({
      object: { a: [1] },
      list: [1, 2],
      number: 5,
      text: "words",
      nothing: null,
    }))
      core.mcp.registerTool(`give.${name}`, () => value);
    expect(await core.mcp.executeTool("give.object")).toEqual({ a: [1] });
    expect(await core.mcp.executeTool("give.list")).toEqual([1, 2]);
    expect(await core.mcp.executeTool("give.number")).toBe(5);
    expect(await core.mcp.executeTool("give.text")).toBe("words");
    expect(await core.mcp.executeTool("give.nothing")).toBe(null);
  });

  test("G64: an exception is logged with its traceback and raised as a tool execution error", async () => {
    core.mcp.registerTool("bad.run", function badRun() {
      throw new RangeError("too far");
    });
    const error = await caught(core.mcp.executeTool("bad.run"));
    expect(error).toBeInstanceOf(MCPToolExecutionError);
    expect(error).toMatchObject({ message: "Error executing tool 'bad.run': too far", code: -32000, data: "too far" });
    expect(core.log.whole).toMatch(/error Error executing tool 'bad\.run': too far .*badRun/u);
  });

  test("G64: raises if a retriever fails", async () => {
    core.mcp.registerResource("doc://{id}", (_uri, { id }) => {
      if (id === "bad") throw new Error("disk gone");
      return { id };
    });
    expect(await core.mcp.getResource("doc://good")).toEqual({ id: "good" });
    expect(await caught(core.mcp.getResource("doc://bad"))).toMatchObject({
      code: -32000,
      message: "Error retrieving resource 'doc://bad': disk gone",
      data: "disk gone",
    });
  });

  test("G14: finds a resource by its template, with its parameters; reports unknown URIs", async () => {
    core.mcp.registerResource("doc://{kind}/{+path}", (uri, variables) => ({ uri, ...variables }));
    expect(await core.mcp.get_resource("doc://file/a/b.txt")).toEqual({
      uri: "doc://file/a/b.txt",
      kind: "file",
      path: "a/b.txt",
    });
    const error = await caught(core.mcp.getResource("else://1"));
    expect(error).toBeInstanceOf(MCPResourceNotFoundError);
    expect(error).toMatchObject({ message: "Resource 'else://1' not found.", code: -32601 });
  });

  test("C38: text stays text, JSON is parsed, bytes are an object with their blob", async () => {
    core.mcp.registerResource("r://text", () => '{"a":1}');
    core.mcp.registerResource("r://bytes", () => new Uint8Array([1, 2]));
    expect(await core.mcp.getResource("r://text")).toBe('{"a":1}');
    expect(await core.mcp.getResource("r://bytes")).toEqual({
      uri: "r://bytes",
      mimeType: "application/octet-stream",
      blob: "AQI=",
    });
  });

  test("G15: capabilities are exactly version, description, tools and resources", async () => {
    core.mcp.registerTool("math.add", () => 1, SUM, "Adds.");
    core.mcp.registerTool("none.run", () => 1);
    core.mcp.registerResource("doc://{id}", () => "x", "Docs");
    expect(await core.mcp.get_capabilities()).toEqual({
      mcp_version: "1.0-gnn",
      server_description: "GNN Project MCP Server",
      tools: [
        { name: "math.add", description: "Adds.", schema: SUM },
        { name: "none.run", description: "", schema: { type: "object" } },
      ],
      resources: [{ uri_template: "doc://{id}", description: "Docs" }],
    });
  });

  test("C48: capabilities contain a list of tools, also if there are none", async () => {
    expect((await core.mcp.getCapabilities()).tools).toEqual([]);
    core.mcp.registerTool("a.tool", () => 1);
    expect((await core.mcp.getCapabilities()).tools).toEqual([
      { name: "a.tool", description: "", schema: { type: "object" } },
    ]);
  });

  test("C11: wraps a bare map of properties, shows it as a schema, and warns", async () => {
    core.mcp.registerTool("bare.run", () => 1, { path: { type: "string" } });
    expect((await core.mcp.getCapabilities()).tools[0]?.schema).toMatchObject({
      type: "object",
      properties: { path: { type: "string" } },
    });
    expect(core.log.all.some((line) => line.startsWith("warning Tool bare.run:"))).toBe(true);
    expect(await caught(core.mcp.executeTool("bare.run", { path: 1 }))).toBeInstanceOf(MCPInvalidParamsError);
  });

  test("G57: a function of one object is registered unchanged; the schema {} takes nothing", async () => {
    const shout = ({ text }: { text: string }): string => text.toUpperCase();
    core.mcp.registerTool("text.shout", shout, {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    });
    core.mcp.registerTool("no.parameters", () => "ran", {});
    expect(await core.mcp.executeTool("text.shout", { text: "hi" })).toBe("HI");
    expect(await core.mcp.executeTool("no.parameters")).toBe("ran");
    expect(await caught(core.mcp.executeTool("text.shout"))).toBeInstanceOf(MCPInvalidParamsError);
  });

  test("C1: refuses a tool with the name or the prefix of a protocol method", () => {
    for (const name of [
      "initialize",
      "ping",
      "tools/call",
      "notifications/x",
      "resource/get",
      "mcp/discover",
      "mcp.tool.execute",
      "get_mcp_server_capabilities",
    ]) {
      expect(() => core.mcp.registerTool(name, () => 1)).toThrow("the name is a method of the protocol");
    }
    expect(() => core.mcp.registerTool("toolsmith/call", () => 1)).not.toThrow();
  });

  test("a closed core throws that it was closed", async () => {
    await core.mcp.close();
    await expect(core.mcp.executeTool("x")).rejects.toThrow("closed");
  });

  test("executes and registers tools of other sources too", async () => {
    core.folder.script("greet", "run.sh", "echo hello");
    core.with({ settings: { scripts: { tools_path: core.folder.path } } });
    await core.mcp.discoverModules();
    expect(await core.mcp.executeTool("greet")).toBe("hello");
    expect(await (core.mcp.tool_registry.get("greet")!.func as () => Promise<unknown>)()).toBe("hello");
    expect(core.mcp.tool_registry.has("tool_search")).toBe(false);
  });
});

describe("initialize", () => {
  test("G17: returns server, sdk_found and forced, twice the same, without a second discovery", async () => {
    core.module("a", 'globalThis.coreLoads = (globalThis.coreLoads ?? 0) + 1; mcp.register_tool("a.tool", () => 1);');
    const [first, sdkFound, forced] = await initialize(true, false, core.options);
    const [second] = await initialize();
    expect([first instanceof MCP, sdkFound, forced, second === first]).toEqual([true, true, false, true]);
    expect(core.log.all.filter((line) => line.startsWith("info Successfully registered"))).toHaveLength(1);
  });

  test("G17: a failed initialisation leaves no instance; the next call creates one", async () => {
    await expect(
      initialize(true, false, { ...core.options, config: `${core.folder.path}/none.toml` }),
    ).rejects.toThrow();
    const [mcp] = await initialize(true, false, core.options);
    expect(mcp).toBeInstanceOf(MCP);
  });

  test("G18: a missing dependency stops initialisation, unless it is forced or told not to halt", async () => {
    const options = { ...core.options, requires: ["no-such-package"] };
    const error = await caught(initialize(true, false, options));
    expect(error).toMatchObject({ message: "MCP SDK not found or failed to initialize.", code: -32001 });
    expect((await initialize(true, true, options)).slice(1)).toEqual([false, true]);
    await closeMcpInstance();
    expect((await initialize(false, false, options)).slice(1)).toEqual([false, false]);
  });

  test("G18: a present dependency does not stop initialisation", async () => {
    expect((await initialize(true, false, { ...core.options, requires: ["node:fs"] })).slice(1)).toEqual([true, false]);
  });

  test("C49: the third value of initialize is the `forced` flag; a property reports the modules", async () => {
    core.module("bad", 'throw new Error("boom");');
    const [mcp, , forced] = await initialize(true, true, core.options);
    expect([forced, mcp.allModulesLoaded]).toEqual([false, false]);
  });

  test("C49: the flag reports a forced initialisation even if all modules are loaded", async () => {
    core.module("good", 'mcp.register_tool("good.tool", () => 1);');
    const [mcp, , forced] = await initialize(true, true, { ...core.options, requires: ["no-such-package"] });
    expect([forced, mcp.allModulesLoaded]).toEqual([true, true]);
  });

  test("G19: get_mcp_instance returns the initialised instance", async () => {
    const [mcp] = await initialize(true, false, core.options);
    expect(await getMcpInstance()).toBe(mcp);
    expect(await get_mcp_instance()).toBe(mcp);
  });

  test("G19: get_mcp_instance initialises if there is no instance, and again after it was closed", async () => {
    const first = await getMcpInstance();
    expect(first).toBeInstanceOf(MCP);
    await closeMcpInstance();
    expect(await getMcpInstance()).not.toBe(first);
  });
});

describe("errors", () => {
  test("G63: each class has its code, message and data", () => {
    const facts = ({ code, message, data }: MCPError): unknown[] => [code, message, data];
    expect(facts(new MCPError("m"))).toEqual([-32000, "m", undefined]);
    expect(facts(new MCPError("m", -32005, { a: 1 }))).toEqual([-32005, "m", { a: 1 }]);
    expect(facts(new MCPToolNotFoundError("t"))).toEqual([-32601, "Tool 't' not found.", "Tool 't' not found."]);
    expect(facts(new MCPResourceNotFoundError("u"))).toEqual([
      -32601,
      "Resource 'u' not found.",
      "Resource 'u' not found.",
    ]);
    expect(facts(new MCPInvalidParamsError("m", ["d"]))).toEqual([-32602, "m", ["d"]]);
    expect(facts(new MCPToolExecutionError("t", new Error("e")))).toEqual([-32000, "Error executing tool 't': e", "e"]);
    expect(facts(new MCPSDKNotFoundError())).toEqual([-32001, "MCP SDK not found or failed to initialize.", undefined]);
    expect(new MCPToolNotFoundError("t")).toBeInstanceOf(MCPError);
  });

  test("G63: an MCPError of a tool keeps code, message and data; other errors are not converted", async () => {
    core.mcp.registerTool("own.error", () => {
      throw new MCPError("quota", -32010, { left: 0 });
    });
    core.mcp.registerTool("own.params", () => {
      throw new MCPInvalidParamsError("Input GNN file not found: x");
    });
    core.mcp.registerTool("system.error", () => {
      throw Object.assign(new Error("no file"), { code: "ENOENT" });
    });
    expect(await caught(core.mcp.executeTool("own.error"))).toMatchObject({
      code: -32010,
      message: "quota",
      data: { left: 0 },
    });
    expect(await caught(core.mcp.executeTool("own.params"))).toMatchObject({
      code: -32602,
      message: "Input GNN file not found: x",
    });
    expect(await caught(core.mcp.executeTool("system.error"))).toMatchObject({ code: -32000, data: "no file" });
  });
});
