import { afterEach, beforeEach, expect, test } from "vitest";
import type { HubConfig } from "../../../packages/toolyard/src/index.ts";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { startLegacy, type LegacyServer } from "../../fixtures/http-servers.ts";
import { fixture } from "../../fixtures/upstreams/harness.ts";
import type { McpSession, SessionOptions } from "../mcp-session.ts";
import { textsOf, Yard } from "../yard.ts";

const DISCOVERY = { "x-mcp-tool-mode": "discovery" };
const META_TOOLS = ["meta.get_full_capabilities", "meta.get_module_info", "meta.get_server_status", "meta.ping"];

let yard: Yard;
let remote: LegacyServer | undefined;

beforeEach(() => {
  yard = new Yard();
});
afterEach(async () => {
  await yard[Symbol.asyncDispose]();
  await remote?.close();
  remote = undefined;
});

/** Opens a hub with one native and one ondemand script tool. */
async function open(options: SessionOptions = {}, settings: HubConfig = {}): Promise<McpSession> {
  yard.script("calculator", 'keywords = ["math"]\n');
  yard.script("send_email", 'visibility = "ondemand"\nkeywords = ["email"]\n');
  return openWith(settings, options);
}

async function openWith(settings: HubConfig = {}, options: SessionOptions = {}): Promise<McpSession> {
  await yard.open({ scripts: { tools_path: yard.path("tools") }, ...settings });
  return yard.mcp(options);
}

/** Opens a hub with a source of every kind, including remote ones. */
async function openAll(): Promise<McpSession> {
  remote = await startLegacy();
  yard.module(
    "text",
    'hub.registerTool("text.upper", ({ word }) => word.toUpperCase(), { word: { type: "string" } });',
  );
  yard.folder.write(
    "folders/sum/sum.mcp.json",
    JSON.stringify({ name: "sum", description: "Adds up.", input_schema: { type: "object" } }),
  );
  yard.folder.write("folders/sum/sum.mjs", "export const execute = ({ a, b }) => ({ sum: a + b });");
  return open(
    {},
    {
      modules: { paths: [yard.path("mods")] },
      folders: { tools_path: yard.path("folders") },
      mcp: {
        stdio_servers: { child: { command: [process.execPath, fixture("legacy")] } },
        remote_servers: [{ namespace: "remote", url: remote.url, tool_visibility: "ondemand" }],
      },
    },
  );
}

test("T20: the header X-MCP-Tool-Mode: discovery switches the mode of /mcp", async () => {
  const client = await open();
  expect(await client.names({ "X-MCP-Tool-Mode": "discovery" })).toEqual(["execute_tool", "tool_search"]);
});

test("T20: the query tool_mode=discovery switches the mode of /mcp", async () => {
  expect(await (await open({ query: "tool_mode=discovery" })).names()).toEqual(["execute_tool", "tool_search"]);
});

test.each(["", "normal", "search", "discover", "true"])("T20: the value %j does not switch the mode", async (word) => {
  const client = await open();
  expect(await client.names({ "x-mcp-tool-mode": word })).toEqual(["calculator", "execute_tool", "tool_search"]);
});

test("T21: tools/list has native tools and never ondemand ones, for every source", async () => {
  const names = await (await openAll()).names();
  expect(names).toEqual(expect.arrayContaining(["calculator", "text.upper", "sum", "child__echo"]));
  for (const hidden of ["send_email", "remote__echo", ...META_TOOLS]) expect(names).not.toContain(hidden);
});

test("T22: lists tool_search and execute_tool if there is an ondemand tool", async () => {
  expect(await (await open()).names()).toEqual(["calculator", "execute_tool", "tool_search"]);
});

test("T22: omits tool_search and execute_tool without an ondemand tool", async () => {
  yard.script("calculator");
  expect(await (await openWith()).names()).toEqual(["calculator"]);
});

test("T23: in normal mode search finds native and ondemand tools", async () => {
  const client = await open();
  expect((await client.search("math"))[0]).toBe("calculator");
  expect((await client.search("email"))[0]).toBe("send_email");
});

test("T24: in normal mode a client can call an ondemand tool by its name", async () => {
  expect(JSON.parse(await (await open()).text("send_email", { to: "x" }))).toEqual({ to: "x" });
});

test("T24: refuses an unknown name", async () => {
  expect((await (await open()).call("send_mail")).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("send_email"),
  });
});

test("T25: in discovery mode tools/list is exactly the two discovery tools, with any sources", async () => {
  const client = await openAll();
  expect(await client.names(DISCOVERY)).toEqual(["execute_tool", "tool_search"]);
});

test("T25: lists the two discovery tools without any source too", async () => {
  expect(await (await openWith({ builtin: { meta_tools: false } })).names(DISCOVERY)).toEqual([
    "execute_tool",
    "tool_search",
  ]);
});

test("T26: in discovery mode search finds native, ondemand, built-in and remote tools", async () => {
  const client = await openAll();
  const find = async (query: string): Promise<string | undefined> => (await client.search(query, {}, DISCOVERY))[0];
  expect(await find("calculator")).toBe("calculator");
  expect(await find("send_email")).toBe("send_email");
  expect(await find("server status")).toBe("meta.get_server_status");
  expect(await find("remote__echo")).toBe("remote__echo");
  expect(await find("child__echo")).toBe("child__echo");
  expect(await find("text upper")).toBe("text.upper");
  expect(await find("sum")).toBe("sum");
});

test("T26: search results omit the two discovery tools", async () => {
  expect(await (await open()).search("tool_search execute_tool", {}, DISCOVERY)).not.toEqual(
    expect.arrayContaining(["tool_search"]),
  );
});

test("T27: in discovery mode execute_tool calls a tool of every source", async () => {
  const client = await openAll();
  const run = (name: string, args: JsonObject): Promise<string> =>
    client.text("execute_tool", { name, arguments: args }, DISCOVERY);
  expect(JSON.parse(await run("send_email", { to: "x" }))).toEqual({ to: "x" });
  expect(await run("text.upper", { word: "a" })).toBe("A");
  expect(JSON.parse(await run("sum", { a: 1, b: 2 }))).toEqual({ sum: 3 });
  expect(await run("remote__echo", { text: "far" })).toBe("far");
  expect(JSON.parse(await run("child__echo", { text: "near" }))).toMatchObject({ args: { text: "near" } });
  expect(await run("meta.ping", {})).toBe("pong");
});

test("T27: a client can call a known tool by its name; an unknown name is refused", async () => {
  const client = await open();
  expect(JSON.parse(await client.text("calculator", { a: 1 }, DISCOVERY))).toEqual({ a: 1 });
  expect((await client.call("nobody", {}, DISCOVERY)).error?.code).toBe(-32602);
});

test("T28: tool_search is absent only without an ondemand tool in normal mode", async () => {
  yard.script("calculator");
  const client = await openWith();
  expect(await client.names()).not.toContain("tool_search");
  expect(await client.names(DISCOVERY)).toContain("tool_search");
});

test("T28: a new ondemand tool adds tool_search at the next request", async () => {
  yard.script("calculator");
  const client = await openWith();
  expect(await client.names()).toEqual(["calculator"]);
  yard.script("send_email", 'visibility = "ondemand"\n');
  expect(await client.names()).toEqual(["calculator", "execute_tool", "tool_search"]);
});

test('T29: tool_search(query="email") finds send_email and execute_tool(name, arguments) runs it', async () => {
  const client = await open();
  expect(await client.search("email")).toEqual(["send_email"]);
  expect(JSON.parse(await client.text("execute_tool", { name: "send_email", arguments: { to: "a" } }))).toEqual({
    to: "a",
  });
});

test("T29: without max_results only the likely hits have a schema; with it, all hits do", async () => {
  yard.module(
    "many",
    'for (const name of ["ink", "paper", "lead", "oil", "water"]) hub.registerTool("paint." + name, () => 1, ' +
      '{ [name]: { type: "string", description: "x".repeat(900) } }, "Paints with " + name + ".");',
  );
  const client = await openWith({ modules: { paths: [yard.path("mods")] } });
  const entries = async (args: JsonObject): Promise<JsonObject[]> =>
    JSON.parse(textsOf((await client.call("tool_search", { query: "paint with lead", ...args })).result)[0]!);
  expect((await entries({})).map((entry) => ["inputSchema" in entry, entry["parameters"] !== undefined])).toEqual([
    [true, false],
    [false, true],
    [false, true],
    [false, true],
    [false, true],
  ]);
  expect((await entries({ max_results: 0 })).every((entry) => "inputSchema" in entry)).toBe(true);
});

test("T29: tool_search returns one text: a JSON array of name, description, score, inputSchema", async () => {
  const client = await open();
  const { result } = await client.call("tool_search", { query: "send_email" });
  const [first] = JSON.parse(textsOf(result)[0]!) as JsonObject[];
  expect(Object.keys(first!).toSorted()).toEqual(["description", "inputSchema", "name", "score"]);
  expect(first).toMatchObject({
    name: "send_email",
    description: "Tool send_email.",
    score: 1,
    inputSchema: { type: "object" },
  });
});

test("T29: a search without tools gives the specified message", async () => {
  const { result } = await (await open()).call("tool_search", { query: "send", server: "xylophone" });
  expect(textsOf(result)[0]).toBe("No tools found. Try different keywords or a broader search term.");
});

test("T29: a search without a match returns the nearest tools, with low scores", async () => {
  const found = JSON.parse(await (await open()).text("tool_search", { query: "xylophone quartet" })) as JsonObject[];
  expect(found.length).toBeGreaterThan(0);
  for (const { score } of found) expect(score).toBeLessThanOrEqual(0.05);
});

test.each([
  [{}, "Tool name is required"],
  [{ name: "" }, "Tool name is required"],
  [{ name: "nope" }, "Tool not found: nope. Use tool_search to discover available tools."],
])("T29: execute_tool(%j) gives the specified message", async (args, words) => {
  const { result } = await (await open()).call("execute_tool", args);
  expect(textsOf(result)).toEqual([words]);
  expect(result?.["isError"]).toBe(true);
});

test("T29: max_results below 1 means 5, above 100 means 100; an empty query lists by name", async () => {
  yard.module(
    "many",
    'for (let index = 0; index < 110; index += 1) hub.registerTool("many.t" + String(index).padStart(3, "0"), ' +
      '() => 1, {}, "Counts.");',
  );
  const client = await openWith({ modules: { paths: [yard.path("mods")] } });
  expect((await client.search("counts")).length).toBe(5);
  expect((await client.search("counts", { max_results: 0 })).length).toBe(5);
  expect((await client.search("counts", { max_results: -3 })).length).toBe(5);
  expect((await client.search("counts", { max_results: 1000 })).length).toBe(100);
  expect(await client.search("", { max_results: 2 })).toEqual(["many.t000", "many.t001"]);
});

test("C4: in normal mode search finds a native tool although it is listed", async () => {
  expect(await (await open()).search("math")).toEqual(["calculator"]);
});

test("C4: search omits tools that the caller may not use", async () => {
  const client = await open(
    { headers: { authorization: "Bearer t-narrow" } },
    { server: { tokens: { narrow: { token: "t-narrow", deny: ["calculator"] } } } },
  );
  const found = await client.search("math");
  expect(found).not.toContain("calculator");
  expect(found).toContain("send_email");
});

test.each([
  ["arguments", { arguments: { a: 1 } }],
  ["parameters", { parameters: { a: 1 } }],
  ["arguments as JSON text", { arguments: '{"a":1}' }],
  ["parameters as JSON text", { parameters: '{"a":1}' }],
  ["both alike", { arguments: { a: 1 }, parameters: '{"a":1}' }],
])("C5: execute_tool accepts %s", async (_, given) => {
  expect(JSON.parse(await (await open()).text("execute_tool", { name: "calculator", ...given }))).toEqual({ a: 1 });
});

test.each([
  ["2025-06-18", { arguments: { a: 1 }, parameters: { a: 2 } }],
  ["2025-06-18", { arguments: "no JSON" }],
  ["2025-06-18", { arguments: "[1]" }],
])("C5: on %s execute_tool refuses %j with -32602", async (revision, given) => {
  const reply = await (await open({ revision })).call("execute_tool", { name: "calculator", ...given });
  expect(reply.error?.code).toBe(-32602);
});

test("C5: the schema of execute_tool has only the member arguments besides name", async () => {
  const tool = (await (await open()).tools()).find((one) => one["name"] === "execute_tool");
  const { properties } = tool!["inputSchema"] as { properties: JsonObject };
  expect(Object.keys(properties)).toEqual(["name", "arguments"]);
});

test("C30: the request's tool mode overrides the session's, which overrides the server's default", async () => {
  const settings: HubConfig = { server: { tool_mode: "show_all" } };
  const client = await open({ meta: { tool_mode: "discovery" } }, settings);
  expect(await client.names()).toEqual(["execute_tool", "tool_search"]);
  expect(await client.names({ "x-mcp-tool-mode": "normal" })).toEqual(["calculator", "execute_tool", "tool_search"]);
  expect(await (await yard.mcp()).names()).toContain("send_email");
});

test("C30: on 2026-07-28 no mode is kept between requests, and the precedence is the same", async () => {
  const client = await open({ revision: "2026-07-28" });
  expect(await client.names(DISCOVERY)).toEqual(["execute_tool", "tool_search"]);
  const names = await client.names();
  expect(names).toEqual(["calculator", "execute_tool", "tool_search"]);
  expect(await client.names()).toEqual(names);
});

test("C31: the tool mode in the header overrides the one in the query", async () => {
  const client = await open({ query: "tool_mode=discovery" });
  expect(await client.names({ "x-mcp-tool-mode": "normal" })).toContain("calculator");
});

test.each(["Discovery", "DISCOVERY", " discovery "])("C31: the value %j is case-insensitive", async (word) => {
  expect(await (await open({ query: `tool_mode=${encodeURIComponent(word)}` })).names()).toEqual([
    "execute_tool",
    "tool_search",
  ]);
});

test("C31: show_all is the third mode and lists everything", async () => {
  expect(await (await open({ query: "tool_mode=show_all" })).names()).toEqual([
    "calculator",
    "execute_tool",
    ...META_TOOLS,
    "send_email",
    "tool_search",
  ]);
});

test("C31: any other value selects the mode normal", async () => {
  expect(await (await open({ query: "tool_mode=everything" })).names()).toEqual([
    "calculator",
    "execute_tool",
    "tool_search",
  ]);
});

test("C25: refuses a tool.toml without a name, with advice", async () => {
  yard.folder.write("tools/nameless/tool.toml", 'description = "d"\nscript = "run.sh"\n');
  yard.folder.write("tools/nameless/run.sh", "cat");
  expect(await (await openWith()).names()).toEqual([]);
  expect(yard.problems("scripts")).toEqual([
    "nameless/tool.toml: not offered: `name` is missing; " +
      'add `name = "nameless"`, or set `allow_dirname_as_name = true` in [scripts]',
  ]);
});

test("C25: allow_dirname_as_name = true uses the folder's name", async () => {
  yard.folder.write("tools/nameless/tool.toml", 'description = "d"\nscript = "run.sh"\n');
  yard.folder.write("tools/nameless/run.sh", "cat");
  expect(
    await (await openWith({ scripts: { tools_path: yard.path("tools"), allow_dirname_as_name: true } })).names(),
  ).toEqual(["nameless"]);
});

test("C26: further types, limits and the list form of parameters give the correct JSON Schema", async () => {
  yard.script(
    "typed",
    '[[parameters]]\nname = "n"\ntype = "integer"\nmin = 1\nmax = 9\ndefault = 3\n[[parameters]]\n' +
      'name = "list"\ntype = "array:string"\n[[parameters]]\nname = "word"\ntype = "string"\n' +
      'enum = ["a", "b"]\npattern = "^[a-z]$"\n',
  );
  const client = await openWith();
  expect((await client.tools())[0]?.["inputSchema"]).toMatchObject({
    properties: {
      n: { type: "integer", minimum: 1, maximum: 9, default: 3 },
      list: { type: "array", items: { type: "string" } },
      word: { type: "string", enum: ["a", "b"], pattern: "^[a-z]$" },
    },
  });
  expect(JSON.parse(await client.text("typed", { list: ["x"] }))).toEqual({ list: ["x"], n: 3 });
  expect((await client.call("typed", { n: 10 })).result?.["isError"]).toBe(true);
});

test("C26: an unknown type excludes the tool, with a report", async () => {
  yard.script("typed", '[parameters.x]\ntype = "text"\n');
  expect(await (await openWith()).names()).toEqual([]);
  expect(yard.problems("scripts")).toEqual([expect.stringContaining('`parameters.x.type` is "text"')]);
});

test("C27: a tool with an unknown visibility is not listed, not searchable, and reported", async () => {
  yard.script("odd", 'visibility = "hidden"\n');
  yard.script("good", 'visibility = "ondemand"\n');
  const client = await openWith();
  expect(await client.names({ "x-mcp-tool-mode": "show_all" })).not.toContain("odd");
  expect(await client.search("odd")).not.toContain("odd");
  expect(yard.problems("scripts")).toEqual([
    expect.stringContaining('`visibility` is "hidden"; accepted are "native" and "ondemand"'),
  ]);
});

test("C27: accepts both known visibilities", async () => {
  expect(await (await open()).search("tool")).toEqual(expect.arrayContaining(["calculator", "send_email"]));
  expect(yard.problems("scripts")).toEqual([]);
});
