import { afterEach, beforeEach, expect, test } from "vitest";
import type { HubConfig } from "../../../packages/toolyard/src/index.ts";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import type { McpSession, SessionOptions } from "../mcp-session.ts";
import { textsOf, Yard } from "../yard.ts";

let yard: Yard;

beforeEach(() => {
  yard = new Yard();
});
afterEach(() => yard[Symbol.asyncDispose]());

async function open(more: HubConfig = {}, options: SessionOptions = {}): Promise<McpSession> {
  await yard.open({ ...more, modules: { paths: [yard.path("mods")], ...more.modules } });
  const client = await yard.mcp(options);
  await client.names();
  return client;
}

const SUM =
  '{ type: "object", properties: { a: { type: "number", description: "First" }, b: { type: "number" } }, ' +
  'required: ["a", "b"] }';

test("G1: keeps tools, resources and modules of one hub by name, template and module", async () => {
  yard.module("export", 'hub.registerTool("export.run", () => 1); hub.registerResource("doc://{name}", () => "x");');
  const client = await open();
  const status = JSON.parse(await client.text("meta.get_server_status")) as JsonObject;
  expect(status).toMatchObject({
    discovered_modules_count: 1,
    loaded_modules: ["mods.export.mcp"],
    registered_resources_count: 1,
  });
  const listed = await client.names({ "x-mcp-tool-mode": "show_all" });
  const finders = ["tool_search", "execute_tool"];
  expect(status["registered_tools_count"]).toBe(listed.filter((name) => !finders.includes(name)).length);
});

test("G1: a module without registrations is not in the registry", async () => {
  yard.folder.write("mods/empty/mcp.mjs", "export const nothing = 1;");
  expect(JSON.parse(await (await open()).text("meta.get_server_status"))).toMatchObject({
    discovered_modules_count: 0,
  });
});

test("G2: finds mcp.* in the sub-folders of every configured path, and meta_mcp.* in the folder mcp", async () => {
  yard.module("export", 'hub.registerTool("export.run", () => 1);');
  yard.folder.write(
    "mods/mcp/meta_mcp.mjs",
    'export function register_tools(hub) { hub.register_tool("about.me", () => "here"); }',
  );
  yard.folder.write(
    "more/render/mcp.js",
    'export function register_tools(hub) { hub.register_tool("render.run", () => 2); }',
  );
  const client = await open({ modules: { paths: [yard.path("mods"), yard.path("more")] } });
  expect(await client.names()).toEqual(["about.me", "export.run", "render.run"]);
  expect(yard.lines).toContain("info Successfully registered tools from mods.mcp.meta_mcp");
});

test("G2: ignores other files, including meta_mcp in other folders", async () => {
  yard.folder.write("mods/a/tools.mjs", 'throw new Error("looked at");');
  yard.folder.write("mods/b/meta_mcp.mjs", 'throw new Error("looked at");');
  expect(await (await open()).names()).toEqual([]);
  expect(yard.lines.filter((line) => line.startsWith("error"))).toEqual([]);
});

test("G3: imports a module under a dotted name derived from its path", async () => {
  yard.folder.write(
    "src/export/mcp.mjs",
    'export function registerTools(hub) { hub.registerTool("export.run", () => 1); }',
  );
  const client = await open({ modules: { paths: [yard.path("src")] } });
  expect(JSON.parse(await client.text("meta.get_module_info", { module_name: "src.export.mcp" }))).toMatchObject({
    module_name: "src.export.mcp",
    status: "loaded",
  });
});

test("G3: distinguishes two modules of one name", async () => {
  yard.folder.write(
    "one/src/export/mcp.mjs",
    'export function registerTools(hub) { hub.registerTool("one.run", () => 1); }',
  );
  yard.folder.write(
    "two/src/export/mcp.mjs",
    'export function registerTools(hub) { hub.registerTool("two.run", () => 1); }',
  );
  const client = await open({ modules: { paths: [yard.path("one/src"), yard.path("two/src")] } });
  expect(JSON.parse(await client.text("meta.get_server_status"))).toMatchObject({
    loaded_modules: ["src.export.mcp", "src.export.mcp-2"],
  });
});

test("G4: calls register_tools with the server, and logs it", async () => {
  yard.folder.write(
    "mods/export/mcp.mjs",
    'export function register_tools(server) { server.register_tool("export.run", () => 1, {}, "Runs."); }',
  );
  await open();
  expect(yard.lines).toContain("info Successfully registered tools from mods.export.mcp");
});

test("G5: a module without register_tools is a warning, and is not recorded", async () => {
  yard.folder.write("mods/empty/mcp.mjs", "export const nothing = 1;");
  const client = await open();
  expect(yard.lines).toContain("warning Module mods.empty.mcp found but has no register_tools function.");
  expect(textsOf((await client.call("meta.get_module_info", { module_name: "mods.empty.mcp" })).result)).toEqual([
    "Module 'mods.empty.mcp' not found or not loaded.",
  ]);
});

test("G6: logs an exception in import or registration with the path; other modules load", async () => {
  const bad = yard.folder.write("mods/bad/mcp.mjs", 'throw new Error("boom");');
  const worse = yard.folder.write("mods/worse/mcp.mjs", 'export function registerTools() { throw new Error("bang"); }');
  yard.module("good", 'hub.registerTool("good.run", () => "fine");');
  const client = await open();
  expect(yard.lines).toContain(`error Failed to load or register tools from ${bad}: boom`);
  expect(yard.lines).toContain(`error Failed to load or register tools from ${worse}: bang`);
  expect(await client.text("good.run")).toBe("fine");
});

test("G7: the counts of the source show how many tools were registered", async () => {
  yard.module("good", 'hub.registerTool("good.run", () => 1);');
  await open();
  expect(yard.hub.sources().find(({ source }) => source.id === "modules")).toMatchObject({
    tools: 1,
    status: { state: "ready" },
  });
});

test("G7: starts the hub without any registration, and reports that the source failed", async () => {
  yard.folder.write("mods/bad/mcp.mjs", 'throw new Error("boom");');
  await open();
  expect(yard.hub.sources().find(({ source }) => source.id === "modules")).toMatchObject({
    tools: 0,
    status: { state: "degraded" },
  });
});

test("G8: logs registrations; registering a name again warns and replaces", async () => {
  yard.module(
    "a",
    'hub.registerTool("same.tool", () => "first", {}, "First"); ' +
      'hub.registerTool("same.tool", () => "second", {}, "Second");',
  );
  const client = await open();
  expect(yard.lines).toContain("info Registered tool: same.tool");
  expect(yard.lines).toContain("warning Tool same.tool already registered. Overwriting.");
  expect(await client.text("same.tool")).toBe("second");
  expect((await client.tools())[0]).toMatchObject({ description: "Second" });
});

test("G8: refuses a value that is not a function, by name", async () => {
  yard.module("a", 'hub.registerTool("bad.tool", "no function");');
  await open();
  expect(yard.problems("modules")).toEqual([
    expect.stringContaining("Tool `bad.tool`: the handler must be a function, got string."),
  ]);
});

test("G9: shows the schema to clients and checks their calls", async () => {
  yard.module("a", `hub.registerTool("math.add", ({ a, b }) => a + b, ${SUM}, "Adds.");`);
  const client = await open();
  expect((await client.tools())[0]?.["inputSchema"]).toEqual({
    type: "object",
    properties: { a: { type: "number", description: "First" }, b: { type: "number" } },
    required: ["a", "b"],
  });
  expect(await client.text("math.add", { a: 1, b: 2 })).toBe("3");
});

test("G9: an invalid call never reaches the function", async () => {
  yard.module(
    "a",
    `let calls = 0; hub.registerTool("math.add", () => (calls += 1), ${SUM}); ` +
      `hub.registerTool("math.calls", () => calls);`,
  );
  const client = await open();
  expect((await client.call("math.add", { a: 1 })).result?.["isError"]).toBe(true);
  expect(await client.text("math.calls")).toBe("0");
});

test("G10: registers a resource under a template with placeholders; a repetition warns and replaces", async () => {
  yard.module(
    "a",
    'hub.registerResource("gnn://doc/{resource_id}", () => "first", "First"); ' +
      'hub.registerResource("gnn://doc/{resource_id}", () => "second", "Second");',
  );
  const client = await open();
  expect((await client.request("resources/templates/list")).result?.["resourceTemplates"]).toMatchObject([
    { uriTemplate: "gnn://doc/{resource_id}", description: "Second" },
  ]);
  expect(yard.lines).toContain("info Registered resource: gnn://doc/{resource_id}");
  expect(yard.lines).toContain(
    "warning Resource URI template gnn://doc/{resource_id} already registered. Overwriting.",
  );
});

test("G10: refuses a retriever that is not a function, by URI", async () => {
  yard.module("a", 'hub.registerResource("gnn://doc/{id}", "text");');
  await open();
  expect(yard.problems("modules")).toEqual([
    expect.stringContaining("Resource `gnn://doc/{id}`: the retriever must be a function"),
  ]);
});

test("G11: reports an unknown tool, and logs failed and successful calls", async () => {
  yard.module(
    "a",
    'hub.registerTool("good.run", () => 1); hub.registerTool("bad.run", () => { throw new Error("boom"); });',
  );
  const client = await open();
  expect((await client.call("nope.run")).error?.message).toContain("Unknown tool: nope.run");
  await client.call("good.run");
  await client.call("bad.run");
  expect(yard.log.whole).toMatch(/A call is done\. .*"target":"good\.run"/u);
  expect(yard.log.whole).toMatch(/A call failed\. .*"target":"bad\.run"/u);
  expect(yard.log.whole).toMatch(/A call failed\. .*"target":"nope\.run".*"kind":"unknown_tool"/u);
});

test("G12: names a missing required parameter with the specified message", async () => {
  yard.module("a", `hub.registerTool("math.add", ({ a, b }) => a + b, ${SUM});`);
  expect(textsOf((await (await open()).call("math.add", { a: 1 })).result)[0]).toContain(
    "Missing required parameter: b",
  );
});

test("G12: reports a type mismatch as an error too, with -32602 up to revision 2025-06-18", async () => {
  yard.module("a", `hub.registerTool("math.add", ({ a, b }) => a + b, ${SUM});`);
  const client = await open({}, { revision: "2025-06-18" });
  expect((await client.call("math.add", { a: 1, b: "two" })).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("b"),
  });
  expect((await client.call("math.add", { a: 1 })).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("Missing required parameter: b"),
  });
});

test("G13: the return value of the function is the result", async () => {
  yard.module("a", 'hub.registerTool("export.run", ({ path }) => ({ status: "success", path }));');
  const { result } = await (await open()).call("export.run", { path: "x" });
  expect(result).toEqual({
    content: [{ type: "text", text: '{"status":"success","path":"x"}' }],
    structuredContent: { status: "success", path: "x" },
  });
});

test("G13: logs an exception with its traceback; the caller gets an error without it", async () => {
  yard.module("a", 'hub.registerTool("export.run", function exportRun() { throw new RangeError("too far"); });');
  const { result } = await (await open()).call("export.run");
  expect(result).toMatchObject({
    isError: true,
    content: [{ type: "text", text: "Error executing tool 'export.run': too far" }],
  });
  expect(JSON.stringify(result)).not.toContain("mcp.mjs");
  expect(yard.log.whole).toMatch(/error Error executing tool 'export\.run': too far .*exportRun/u);
});

test("G14: matches a URI with the template, and passes URI and parameters to the retriever", async () => {
  yard.module("a", 'hub.registerResource("gnn://doc/{kind}/{id}", (uri, { kind, id }) => ({ uri, kind, id }));');
  const { result } = await (await open()).request("resources/read", { uri: "gnn://doc/file/7" });
  expect(result?.["contents"]).toEqual([
    {
      uri: "gnn://doc/file/7",
      mimeType: "application/json",
      text: '{"uri":"gnn://doc/file/7","kind":"file","id":"7"}',
    },
  ]);
});

test("G14: an unmatched URI, and a failing retriever, are structured errors", async () => {
  yard.module("a", 'hub.registerResource("gnn://doc/{id}", () => { throw new Error("disk gone"); });');
  const client = await open();
  expect((await client.request("resources/read", { uri: "gnn://else/1" })).error).toMatchObject({ code: -32002 });
  expect((await client.request("resources/read", { uri: "gnn://doc/1" })).error).toMatchObject({
    message: expect.stringContaining("Error retrieving resource 'gnn://doc/1': disk gone"),
  });
  const outcome = await yard.hub.read("gnn://else/1");
  expect(outcome).toMatchObject({ ok: false, message: "Resource 'gnn://else/1' not found." });
});

test("G15: capabilities are version, description, tools with schemas and resources with templates", async () => {
  yard.module(
    "a",
    `hub.registerTool("math.add", ({ a, b }) => a + b, ${SUM}, "Adds."); ` +
      `hub.registerResource("gnn://doc/{id}", () => "x", "Docs");`,
  );
  const capabilities = JSON.parse(await (await open()).text("meta.get_full_capabilities")) as {
    tools: JsonObject[];
    resources: JsonObject[];
  };
  expect(capabilities).toMatchObject({
    mcp_version: "1.0-gnn",
    server_description: "Toolyard: all tools behind one MCP endpoint",
  });
  expect(capabilities.tools.find(({ name }) => name === "math.add")).toEqual({
    name: "math.add",
    description: "Adds.",
    schema: {
      type: "object",
      properties: { a: { type: "number", description: "First" }, b: { type: "number" } },
      required: ["a", "b"],
    },
  });
  expect(capabilities.resources).toEqual([{ uri_template: "gnn://doc/{id}", description: "Docs" }]);
});

test("G15: capabilities omit what the caller may not use; the description is configured", async () => {
  yard.module("a", 'hub.registerTool("open.run", () => 1); hub.registerTool("closed.run", () => 1);');
  const server = { tokens: { narrow: { token: "t-narrow", deny: ["closed.*"] } } };
  const client = await open(
    { server, builtin: { server_description: "Mine" } },
    { headers: { authorization: "Bearer t-narrow" } },
  );
  const capabilities = JSON.parse(await client.text("meta.get_full_capabilities")) as {
    server_description: string;
    tools: JsonObject[];
  };
  expect(capabilities.server_description).toBe("Mine");
  expect(capabilities.tools.map(({ name }) => name)).toContain("open.run");
  expect(capabilities.tools.map(({ name }) => name)).not.toContain("closed.run");
});

test("G16: a tool is name, function, schema, description; a resource template, retriever, description", async () => {
  yard.module(
    "a",
    'hub.registerTool({ name: "one.run", func: () => "ran", schema: {}, description: "Runs." }); ' +
      'hub.registerResource("r://{x}", (uri) => uri, "R");',
  );
  const client = await open();
  expect((await client.tools())[0]).toEqual({ name: "one.run", description: "Runs.", inputSchema: { type: "object" } });
  expect(await client.text("one.run")).toBe("ran");
});

test("G16: refuses an unknown member, with the nearest one", async () => {
  yard.module("a", 'hub.registerTool({ name: "one.run", handler: () => 1, descripton: "Runs." });');
  await open();
  expect(yard.problems("modules")).toEqual([expect.stringContaining("did you mean `description`?")]);
});

test("L63: an invalid value in `models` does not remove the tools of a folder", async () => {
  const client = await open();
  expect(await client.names()).toEqual([]);
  yard.module("added", 'hub.registerTool("added.run", () => "here");');
  await expect.poll(() => client.names(), { interval: 5 }).toEqual(["added.run"]);
  expect(await client.text("added.run")).toBe("here");
});

test("G50: removing the file removes its tools", async () => {
  yard.module("added", 'hub.registerTool("added.run", () => "here");');
  const client = await open();
  yard.folder.remove("mods/added");
  await expect.poll(() => client.names(), { interval: 5 }).toEqual([]);
});

test("G51: module.tool is the name, unchanged", async () => {
  yard.module(
    "export",
    'hub.registerTool("export.export_gnn_to_json_mcp", () => 1); ' +
      'hub.registerTool("render.render_gnn_to_pymdp_mcp", () => 1);',
  );
  expect(await (await open()).names()).toEqual(["export.export_gnn_to_json_mcp", "render.render_gnn_to_pymdp_mcp"]);
});

test("G51: no two tools are listed under one name", async () => {
  yard.module("a", 'hub.registerTool("same.run", () => "a");');
  yard.module("b", 'hub.registerTool("same.run", () => "b");');
  yard.script("same.run");
  const client = await open({ scripts: { tools_path: yard.path("tools") } });
  const names = await client.names();
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain("same.run");
  expect(await client.text("same.run")).toBe("b");
});

const RENDER =
  '{ type: "object", properties: { path: { type: "string", description: "GNN file" }, target_format: { type: ' +
  '"string", enum: ["pymdp", "rxinfer"], description: "Target" } }, required: ["path", "target_format"] }';

test("G52: names, types, descriptions, required and enum of a schema reach the client", async () => {
  yard.module("render", `hub.registerTool("render.run", ({ target_format }) => target_format, ${RENDER});`);
  const client = await open();
  expect((await client.tools())[0]?.["inputSchema"]).toEqual({
    type: "object",
    properties: {
      path: { type: "string", description: "GNN file" },
      target_format: { type: "string", enum: ["pymdp", "rxinfer"], description: "Target" },
    },
    required: ["path", "target_format"],
  });
  expect(await client.text("render.run", { path: "m.md", target_format: "rxinfer" })).toBe("rxinfer");
});

test("G52: refuses a value outside the enum, with the valid values", async () => {
  yard.module("render", `hub.registerTool("render.run", ({ target_format }) => target_format, ${RENDER});`);
  const [text] = textsOf((await (await open()).call("render.run", { path: "m.md", target_format: "torch" })).result);
  expect(text).toContain("pymdp");
  expect(text).toContain("rxinfer");
});

const WRAPPER = `
  const core = (path) => { if (path === "missing.md") throw new Error("ENOENT"); return "file:///tmp/" + path + ".json";
    };
  hub.registerTool("export.to_json", ({ gnn_file_path }) => {
    try {
      return { status: "success", message: "Exported", output_uri: core(gnn_file_path) };
    } catch (error) {
      throw Object.assign(new Error("Input GNN file not found: " + gnn_file_path), { code: -32602 });
    }
  }, { gnn_file_path: { type: "string" } });`;

test("G53: a wrapper returns JSON with its side effect as a URI", async () => {
  yard.module("export", WRAPPER);
  expect(JSON.parse(await (await open()).text("export.to_json", { gnn_file_path: "m.md" }))).toEqual({
    status: "success",
    message: "Exported",
    output_uri: "file:///tmp/m.md.json",
  });
});

test("G53: an exception converted by a wrapper is the caller's error", async () => {
  yard.module("export", WRAPPER);
  expect((await (await open()).call("export.to_json", { gnn_file_path: "missing.md" })).error).toMatchObject({
    code: -32602,
    message: "Input GNN file not found: missing.md",
  });
});

test("G57: a plain function is a tool, and the schema {} means no parameters", async () => {
  yard.module("plain", 'function hello() { return "hello"; } hub.registerTool("plain.hello", hello, {}, "Greets.");');
  const client = await open();
  expect((await client.tools())[0]?.["inputSchema"]).toEqual({ type: "object" });
  expect(await client.text("plain.hello")).toBe("hello");
});

test("G67: a tool without a return value has a result", async () => {
  yard.module("plain", 'hub.registerTool("plain.nothing", () => {}); hub.registerTool("plain.null", () => null);');
  const client = await open();
  expect((await client.call("plain.nothing")).result).toEqual({ content: [] });
  expect((await client.call("plain.null")).result).toEqual({ content: [] });
});

test("G67: a tool with a result that is not JSON returns an error instead", async () => {
  yard.module("plain", 'hub.registerTool("plain.function", () => () => 1);');
  expect((await (await open()).call("plain.function")).result?.["isError"]).toBe(true);
});

test("G70: the hub's tools are called meta.*, and those without parameters have an empty schema", async () => {
  const client = await open();
  const own = (await client.tools({ "x-mcp-tool-mode": "show_all" })).filter(({ name }) =>
    String(name).startsWith("meta."),
  );
  expect(own.map(({ name }) => name)).toEqual([
    "meta.get_full_capabilities",
    "meta.get_module_info",
    "meta.get_server_status",
    "meta.ping",
  ]);
  expect(own[2]?.["inputSchema"]).toEqual({ type: "object", properties: {} });
});

test("G70: no module can register under that prefix", async () => {
  yard.module("mine", 'hub.registerTool("meta.ping", () => "mine"); hub.registerTool("meta.own", () => "mine");');
  const client = await open();
  expect(await client.text("meta.ping")).toBe("pong");
  expect((await client.call("meta.own")).error?.code).toBe(-32602);
  expect(yard.problems("modules")).toEqual([expect.stringContaining("meta.ping"), expect.stringContaining("meta.own")]);
});

test("G71: meta.get_server_status describes the running server", async () => {
  yard.module("a", 'hub.registerTool("a.run", () => 1);');
  const client = await open();
  const first = JSON.parse(await client.text("meta.get_server_status")) as JsonObject;
  expect(first).toMatchObject({
    status: "running",
    uptime_seconds: expect.any(Number),
    discovered_modules_count: 1,
    registered_tools_count: expect.any(Number),
    registered_resources_count: 0,
    server_version: expect.stringMatching(/^\d+\.\d+\.\d+/u),
    transports: ["http"],
  });
  const second = JSON.parse(await client.text("meta.get_server_status")) as JsonObject;
  expect(second["uptime_seconds"]).toBeGreaterThan(first["uptime_seconds"] as number);
});

test("G71: meta.get_server_status contains no secrets", async () => {
  const client = await open(
    { server: { token: "t-secret-token" } },
    { headers: { authorization: "Bearer t-secret-token" } },
  );
  expect(await client.text("meta.get_server_status")).not.toContain("t-secret-token");
});

test("G72: meta.get_full_capabilities names every tool that the caller may use", async () => {
  yard.module("a", 'hub.registerTool("a.run", () => 1, {}, "", { visibility: "ondemand" });');
  const client = await open();
  const { tools } = JSON.parse(await client.text("meta.get_full_capabilities")) as { tools: JsonObject[] };
  // Modes decide whether the two discovery tools are listed; these capabilities do not depend on modes.
  const all = (await client.names({ "x-mcp-tool-mode": "show_all" })).filter(
    (name) => name !== "tool_search" && name !== "execute_tool",
  );
  expect(tools.map(({ name }) => name)).toEqual(all);
});

test("G73: meta.get_module_info returns path and at most five tools of a loaded module", async () => {
  yard.module("many", 'for (let n = 0; n < 7; n += 1) hub.registerTool("many.t" + n, () => n);');
  const info = JSON.parse(
    await (await open()).text("meta.get_module_info", { module_name: "mods.many.mcp" }),
  ) as JsonObject;
  expect(Object.keys(info).toSorted()).toEqual(["module_name", "path", "provided_tools_sample", "status"]);
  expect(info).toMatchObject({
    module_name: "mods.many.mcp",
    status: "loaded",
    provided_tools_sample: ["many.t0", "many.t1", "many.t2", "many.t3", "many.t4"],
  });
});

test("G73: reports an unknown module with the specified message", async () => {
  const { result } = await (await open()).call("meta.get_module_info", { module_name: "src.nothing.mcp" });
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: "Module 'src.nothing.mcp' not found or not loaded." }],
  });
});

test("G74: meta.ping answers pong, and the log is available if configured", async () => {
  const client = await open({ builtin: { server_logs: true } });
  expect(await client.text("meta.ping")).toBe("pong");
  expect(JSON.parse(await client.text("meta.get_server_logs"))).toEqual({ lines: expect.any(Array) });
});

test("G74: the tool meta.get_server_logs does not exist by default", async () => {
  const client = await open();
  expect((await client.call("meta.get_server_logs")).error?.code).toBe(-32602);
  expect(await client.search("server logs")).not.toContain("meta.get_server_logs");
});

test("G75: meta tools can be withheld from a caller, or disabled", async () => {
  const server = { tokens: { narrow: { token: "t-narrow", deny: ["meta.*"] } } };
  const client = await open({ server }, { headers: { authorization: "Bearer t-narrow" } });
  expect((await client.call("meta.get_server_status")).result).toMatchObject({
    isError: true,
    _meta: { "toolyard/kind": "denied" },
  });
});

test("G75: reveals no path outside the configuration's folder and no environment value", async () => {
  yard.module("a", 'hub.registerTool("a.run", () => 1);');
  const client = await open();
  const told = await Promise.all(
    ["meta.get_server_status", "meta.get_full_capabilities"].map((name) => client.text(name)),
  );
  expect(told.join("\n")).not.toContain(yard.folder.path);
});

test.each([
  ["get_mcp_server_status", "status"],
  ["get_mcp_server_capabilities", "tools"],
  ["get_mcp_server_auth_status", "authentication"],
  ["get_mcp_server_encryption_status", "encryption"],
])("C39: %s works", async (name, member) => {
  expect(JSON.parse(await (await open()).text(name))).toHaveProperty(member);
});

test("C39: the older names are not listed or found", async () => {
  const client = await open();
  expect(await client.names({ "x-mcp-tool-mode": "show_all" })).not.toContain("get_mcp_server_status");
  expect(await client.search("get_mcp_server_status")).not.toContain("get_mcp_server_status");
});

test("C22: modules run in this process as .ts, .mjs and .js", async () => {
  yard.folder.write(
    "mods/a/mcp.ts",
    'import type { ModuleHub } from "toolyard"; enum Word { A = "ts" } export function registerTools(hub: ' +
      'ModuleHub): void { hub.registerTool("a.run", () => Word.A); }',
  );
  yard.folder.write("mods/b/mcp.mjs", 'export const registerTools = (hub) => hub.registerTool("b.run", () => "mjs");');
  yard.folder.write("mods/c/mcp.js", 'exports.registerTools = (hub) => hub.registerTool("c.run", () => "js");');
  const client = await open();
  expect([await client.text("a.run"), await client.text("b.run"), await client.text("c.run")]).toEqual([
    "ts",
    "mjs",
    "js",
  ]);
});

test("C22: scripts run by their suffix, and executables directly", async () => {
  yard.script("shell", "", "cat", "main.sh");
  yard.script(
    "node",
    "",
    'import { text } from "node:stream/consumers"; console.log(JSON.parse(await text(process.stdin)).a + 1);',
    "main.mjs",
  );
  yard.script(
    "types",
    "",
    'import { text } from "node:stream/consumers"; const { a }: { a: number } = JSON.parse(await ' +
      "text(process.stdin)); console.log(a + 2);",
    "main.ts",
  );
  yard.script("snake", "", "import json, sys\nprint(json.load(sys.stdin)['a'] + 3)", "main.py");
  yard.script("binary", "", "#!/bin/sh\necho any", "main");
  const client = await open({ scripts: { tools_path: yard.path("tools") } });
  expect(JSON.parse(await client.text("shell", { a: 1 }))).toEqual({ a: 1 });
  expect(await Promise.all(["node", "types", "snake", "binary"].map((name) => client.text(name, { a: 1 })))).toEqual([
    "2",
    "3",
    "4",
    "any",
  ]);
});

test("C23: tools of a tool.toml, a .mcp.json and a registration are listed, found and called alike", async () => {
  yard.script("from_toml", 'keywords = ["loader"]\n');
  yard.folder.write(
    "folders/from_json/from_json.mcp.json",
    JSON.stringify({ name: "from_json", description: "A loader.", input_schema: { type: "object" } }),
  );
  yard.folder.write("folders/from_json/from_json.mjs", "export const execute = (params) => params;");
  yard.module("a", 'hub.registerTool("from.module", (args) => args, {}, "A loader.");');
  const client = await open({
    scripts: { tools_path: yard.path("tools") },
    folders: { tools_path: yard.path("folders") },
  });
  const names = ["from.module", "from_json", "from_toml"];
  expect(await client.names()).toEqual(names);
  expect((await client.search("loader")).toSorted()).toEqual(names);
  for (const name of names) expect(JSON.parse(await client.text(name, { a: 1 }))).toEqual({ a: 1 });
});

test("C23: a declaration refused by one loader is not accepted by another", async () => {
  yard.folder.write("tools/odd/odd.mcp.json", JSON.stringify({ name: "odd", description: "d", input_schema: {} }));
  yard.folder.write("tools/odd/odd.py", "def execute(params): return {}");
  const client = await open({ scripts: { tools_path: yard.path("tools") } });
  expect(await client.names()).toEqual([]);
});

test("C11: each surface lists the same schema under its own key", async () => {
  yard.module("a", `hub.registerTool("math.add", ({ a, b }) => a + b, ${SUM});`);
  const client = await open();
  const schema = {
    type: "object",
    properties: { a: { type: "number", description: "First" }, b: { type: "number" } },
    required: ["a", "b"],
  };
  expect((await client.tools())[0]?.["inputSchema"]).toEqual(schema);
  const [hit] = JSON.parse(await client.text("tool_search", { query: "math.add" })) as JsonObject[];
  expect(hit?.["inputSchema"]).toEqual(schema);
});

test("C11: wraps a bare map of properties with a warning; {} becomes an object schema", async () => {
  yard.module(
    "a",
    'hub.registerTool("bare.run", () => 1, { city: { type: "string" } }); hub.registerTool("none.run", () => 1, {});',
  );
  const client = await open();
  expect((await client.tools()).map(({ inputSchema }) => inputSchema)).toEqual([
    { type: "object", properties: { city: { type: "string" } } },
    { type: "object" },
  ]);
  expect(yard.lines.some((line) => line.startsWith("warning Tool bare.run: "))).toBe(true);
  expect((await client.call("bare.run", { city: 1 })).result?.["isError"]).toBe(true);
});

test("C38: lists and reads templates of levels 1 and 2, dictionaries, text and bytes", async () => {
  yard.module(
    "a",
    'hub.registerResource("viz://{+output_directory}", (uri, { output_directory }) => ({ output_directory ' +
      '})); hub.registerResource("raw://{id}", () => new Uint8Array([1, 2])); ' +
      'hub.registerResource("note://main", () => "text");',
  );
  const client = await open();
  const read = async (uri: string): Promise<unknown> =>
    (await client.request("resources/read", { uri })).result?.["contents"];
  expect(await read("viz://out/deep/er")).toEqual([
    { uri: "viz://out/deep/er", mimeType: "application/json", text: '{"output_directory":"out/deep/er"}' },
  ]);
  expect(await read("raw://1")).toEqual([{ uri: "raw://1", mimeType: "application/octet-stream", blob: "AQI=" }]);
  expect(await read("note://main")).toEqual([{ uri: "note://main", mimeType: "text/plain", text: "text" }]);
  expect((await client.request("resources/list")).result?.["resources"]).toMatchObject([{ uri: "note://main" }]);
  expect((await client.request("resources/templates/list")).result?.["resourceTemplates"]).toMatchObject([
    { uriTemplate: "raw://{id}" },
    { uriTemplate: "viz://{+output_directory}" },
  ]);
});

test("C38: a template without the plus does not match a slash", async () => {
  yard.module("a", 'hub.registerResource("viz://{directory}", () => "x");');
  expect((await (await open()).request("resources/read", { uri: "viz://out/deep" })).error?.code).toBe(-32002);
});
