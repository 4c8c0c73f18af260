import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  HubMCPBinding,
  LocalMCPBinding,
  LollmsMCPBinding,
  RemoteMCPBinding,
  StandardMCPBinding,
  type ToolDefinition,
  type ToolResult,
} from "../../../packages/toolyard/src/bindings.ts";
import { toFailure } from "../../../packages/toolyard/src/compat/bindings/results.ts";
import { KINDS, type FailKind } from "../../../packages/toolyard/src/core/calls/kinds.ts";
import { fail } from "../../../packages/toolyard/src/core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { startLegacy, startModern, startSse } from "../../fixtures/http-servers.ts";
import { isAlive, ToolFolder } from "../../support/tool-folder.ts";
import { closedPort, startTools } from "../tool-server.ts";

const SERVER = fileURLToPath(new URL("../rag/library-server.mjs", import.meta.url));
const COMMAND = [process.execPath, SERVER];
const logger = SILENT_LOGGER;

let folder: ToolFolder;
const open: { close(): Promise<void> }[] = [];

beforeEach(() => {
  folder = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((binding) => binding.close()));
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

function kept<T extends { close(): Promise<void> }>(binding: T): T {
  open.push(binding);
  return binding;
}

function tool(name: string, code: string, metadata: object = {}): void {
  folder.write(`tools/${name}/${name}.mjs`, code);
  folder.write(
    `tools/${name}/${name}.mcp.json`,
    JSON.stringify({ name, description: `Tool ${name}.`, input_schema: { type: "object" }, ...metadata }),
  );
}

const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const WEATHER = {
  type: "object",
  properties: { temperature: { type: "number" }, condition: { type: "string" } },
  required: ["temperature"],
};

function local(): LocalMCPBinding {
  tool(
    "weather",
    "export const execute = ({ city }) => ({ temperature: city === 'Paris' ? 22 : 5, condition: 'sunny' });",
    { input_schema: CITY, output_schema: WEATHER },
  );
  return kept(new LocalMCPBinding({ tools_folder_path: `${folder.path}/tools`, logger }));
}

function standard(
  servers: ConstructorParameters<typeof StandardMCPBinding>[0] = { initial_servers: { library: { command: COMMAND } } },
): StandardMCPBinding {
  return kept(new StandardMCPBinding({ logger, ...servers }));
}

function remote(options: ConstructorParameters<typeof RemoteMCPBinding>[0]): RemoteMCPBinding {
  return kept(new RemoteMCPBinding({ logger, ...options }));
}

const names = (tools: readonly ToolDefinition[]): string[] => tools.map(({ name }) => name).toSorted();

async function pidOf(binding: StandardMCPBinding, alias: string): Promise<number> {
  const { output } = (await binding.executeTool(`${alias}::where`, {})) as { output: unknown };
  return ((typeof output === "string" ? JSON.parse(output) : output) as { pid: number }).pid;
}

describe("the contract", () => {
  test("L0: scripts, a stdio server and an HTTP server respond through one surface", async () => {
    await using server = await startTools({ add: ({ a, b }) => ({ sum: Number(a) + Number(b) }) });
    const bindings: LollmsMCPBinding[] = [local(), standard(), remote({ server_url: server.url })];
    const calls = [
      ["weather", { city: "Paris" }],
      ["library::add_numbers", { a: 1, b: 2 }],
      ["remote_server::add", { a: 1, b: 2 }],
    ] as const;
    const results = await Promise.all(bindings.map((binding, at) => binding.executeTool(calls[at]![0], calls[at]![1])));
    expect(results.map((result) => ("output" in result ? result.output : result))).toEqual([
      { temperature: 22, condition: "sunny" },
      { sum: 3 },
      { sum: 3 },
    ]);
  });

  test("L0: a binding without tools does not affect the others", async () => {
    const dead = remote({ server_url: `http://127.0.0.1:${await closedPort()}/mcp` });
    expect(await Promise.all([dead, local()].map((binding) => binding.discoverTools()))).toMatchObject([
      [],
      [{ name: "weather" }],
    ]);
  });

  test("L1: a class with both methods is a binding, in either spelling", async () => {
    class Camel extends LollmsMCPBinding {
      override async discoverTools(): Promise<ToolDefinition[]> {
        return [];
      }
      override async executeTool(): Promise<ToolResult> {
        return { output: 2, status_code: 200 };
      }
    }
    class Snake extends LollmsMCPBinding {
      override async discover_tools(): Promise<ToolDefinition[]> {
        return [];
      }
      override async execute_tool(): Promise<ToolResult> {
        return { output: 1, status_code: 200 };
      }
    }
    const snake = new Snake("snake");
    expect(await snake.executeTool("x", {})).toEqual({ output: 1, status_code: 200 });
    expect(await snake.discoverTools()).toEqual([]);
    expect(await new Camel("camel").execute_tool("x", {})).toEqual({ output: 2, status_code: 200 });
  });

  test("L1: the constructor refuses a class that lacks one of the two required methods", () => {
    class Half extends LollmsMCPBinding {
      override async discoverTools(): Promise<ToolDefinition[]> {
        return [];
      }
    }
    expect(() => new Half("half")).toThrow(
      new TypeError("`Half` is not a binding: it lacks `executeTool`. A binding discovers tools and executes one."),
    );
  });

  test("L2: every binding has a unique name", () => {
    const bindings = [local(), standard(), remote({ server_url: "http://127.0.0.1:1/mcp" }), kept(new HubMCPBinding())];
    expect(bindings.map(({ binding_name }) => binding_name)).toEqual([
      "local_mcp",
      "standard_mcp",
      "remote_mcp",
      "hub_mcp",
    ]);
    expect(bindings.every((binding) => binding.bindingName === binding.binding_name)).toBe(true);
  });

  test("L2: no option changes the name", () => {
    expect(() => new StandardMCPBinding({ binding_name: "other" } as never)).toThrow(
      "There is no option `binding_name`.",
    );
  });

  test("L3: discovery returns a list, in both spellings of the method", async () => {
    const binding = local();
    const tools = await binding.discover_tools();
    expect(tools).toHaveLength(1);
    expect(await binding.discoverTools()).toEqual(tools);
  });

  test("L3: a folder without tools gives an empty list", async () => {
    folder.write("tools/readme.txt", "nothing here");
    expect(
      await kept(new LocalMCPBinding({ toolsFolderPath: `${folder.path}/tools`, logger })).discoverTools(),
    ).toEqual([]);
  });

  test("L4: a definition has only name, description, input_schema and output_schema", async () => {
    expect(await local().discoverTools()).toEqual([
      { name: "weather", description: "Tool weather.", input_schema: CITY, output_schema: WEATHER },
    ]);
  });

  test("L4: a tool without an output schema lacks the key; no key has the protocol's spelling", async () => {
    const [first] = (await standard().discoverTools()).filter(({ name }) => name === "library::search_chunks");
    expect(Object.keys(first!)).toEqual(["name", "description", "input_schema"]);
    expect(first!.input_schema).toMatchObject({ required: ["query"] });
  });

  test("L5: force_refresh requests the lists of the servers again", async () => {
    const served: Record<string, () => string> = { one: () => "1" };
    await using server = await startTools(served);
    const binding = remote({ server_url: server.url });
    expect(names(await binding.discoverTools())).toEqual(["remote_server::one"]);
    served["two"] = () => "2";
    expect(names(await binding.discoverTools())).toEqual(["remote_server::one"]);
    expect(names(await binding.discoverTools({ force_refresh: true }))).toEqual([
      "remote_server::one",
      "remote_server::two",
    ]);
  });

  test("L5: timeout_per_server limits a hanging server, and the tools of the others are listed", async () => {
    const binding = standard({
      initial_servers: { silent: { command: [...COMMAND, "silent"] }, good: { command: COMMAND } },
    });
    const discover = (): Promise<readonly ToolDefinition[]> =>
      binding.discoverTools({ timeoutPerServer: "1s", forceRefresh: true });
    // The good server may take longer to start; its tools are available afterwards.
    await expect.poll(async () => names(await discover())).toContain("good::add_numbers");
    const startedAt = performance.now();
    const tools = await discover();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(names(tools)).toContain("good::add_numbers");
    expect(binding.diagnostics).toMatchObject([
      { source: "silent", message: expect.stringContaining("Timed out after 1 s") },
    ]);
  });

  test("L5: both spellings of an option, or an unknown one, give an empty list with the reason", async () => {
    const binding = local();
    expect(await binding.discoverTools({ force_refresh: true, forceRefresh: true })).toEqual([]);
    expect(binding.diagnostics).toMatchObject([
      { message: "`force_refresh` is given in both spellings. Remove one of the two." },
    ]);
    expect(await binding.discoverTools({ force_refesh: true } as never)).toEqual([]);
    expect(binding.diagnostics).toMatchObject([
      { message: "There is no option `force_refesh`. Did you mean `force_refresh`?" },
    ]);
  });

  test("L6: bad JSON, a missing script and a missing folder are reported; others remain", async () => {
    const binding = local();
    folder.write("tools/broken/broken.mcp.json", "{");
    folder.write("tools/broken/broken.mjs", "");
    folder.write(
      "tools/lonely/lonely.mcp.json",
      JSON.stringify({ name: "lonely", description: "x", input_schema: {} }),
    );
    expect(names(await binding.discoverTools())).toEqual(["weather"]);
    expect(binding.diagnostics.map(({ message }) => message).toSorted()).toEqual([
      expect.stringContaining("broken"),
      expect.stringContaining("lonely"),
    ]);
    expect(
      await kept(new LocalMCPBinding({ tools_folder_path: `${folder.path}/gone`, logger })).discoverTools(),
    ).toEqual([]);
  });

  test("L6: omits a server that cannot start, or has no command", async () => {
    const binding = standard({
      initial_servers: {
        bad: { command: ["toolyard-no-such-program"] },
        worse: { command: [] },
        good: { command: COMMAND },
      },
    });
    const found = names(await binding.discoverTools());
    expect(found).toContain("good::add_numbers");
    expect(found.every((name) => name.startsWith("good::"))).toBe(true);
    expect(binding.diagnostics.map(({ source }) => source).toSorted()).toEqual(["bad", "worse"]);
  });

  test("L6: a forced discovery omits a server that has stopped", async () => {
    const server = await startTools({ one: () => "1" });
    const binding = remote({ server_url: server.url });
    expect(await binding.discoverTools()).toHaveLength(1);
    await server.close();
    expect(await binding.discoverTools({ force_refresh: true })).toEqual([]);
    expect(binding.diagnostics).toHaveLength(1);
  });

  test("L7: execution accepts a name with its alias, and without it if only one server has the name", async () => {
    const binding = standard();
    expect(await binding.executeTool("library::add_numbers", { a: 2, b: 3 })).toEqual({
      output: { sum: 5 },
      status_code: 200,
    });
    expect(await binding.execute_tool("add_numbers", { a: 2, b: 3 })).toEqual({
      output: { sum: 5 },
      status_code: 200,
    });
  });

  test("L7: a name that two servers have needs an alias", async () => {
    const binding = standard({ initial_servers: { one: { command: COMMAND }, two: { command: COMMAND } } });
    expect(await binding.executeTool("add_numbers", {})).toMatchObject({
      error: expect.stringContaining("Several tools answer to add_numbers"),
      status_code: 409,
    });
  });

  test("L8: valid parameters are passed, with the schema's defaults", async () => {
    const result = await standard().executeTool("library::search_chunks", { query: "nominalism" });
    expect(result).toMatchObject({ output: expect.objectContaining({ limit: 10 }), status_code: 200 });
  });

  test("L8: invalid parameters never reach the tool", async () => {
    tool("mark", `import { writeFileSync } from "node:fs"; export const execute = () => writeFileSync("ran", "");`, {
      input_schema: CITY,
    });
    const binding = local();
    expect(await binding.executeTool("mark", { city: 5 })).toMatchObject({
      error: expect.stringContaining("city"),
      status_code: 400,
    });
    expect(await binding.executeTool("mark", {})).toEqual({
      error: "Missing required parameter: city",
      status_code: 400,
    });
    expect(await binding.executeTool("mark", "city" as never)).toMatchObject({ status_code: 400 });
    expect(existsSync(`${folder.path}/tools/mark/ran`)).toBe(false);
  });

  test("L9: timeout limits an execution, in seconds or with a unit", async () => {
    const binding = standard();
    await binding.discoverTools();
    expect(await binding.executeTool("library::hang", {}, { timeout: 0.3 })).toEqual({
      error: expect.stringContaining("Tool execution failed: Timed out after 300 ms"),
      status_code: 504,
    });
    expect(await binding.executeTool("library::parse_pdf", { pdf_path: "x" }, { timeout: "20s" })).toMatchObject({
      output: expect.objectContaining({ success: true }),
      status_code: 200,
    });
    expect(await binding.executeTool("library::hang", {}, { timeout: -1 })).toMatchObject({ status_code: 400 });
  });

  test("L9: lollms_client_instance receives logs and progress of a tool with that parameter", async () => {
    tool(
      "talks",
      "export function execute(params, lollms_client_instance) { lollms_client_instance.logger.info('half " +
        "way'); lollms_client_instance.progress(1, 2, 'half'); return 'done'; }",
    );
    const heard: unknown[] = [];
    const instance = {
      logger: { info: (text: string) => void heard.push(text) },
      progress: (...args: unknown[]) => void heard.push(args),
    };
    expect(await local().executeTool("talks", {}, { lollms_client_instance: instance })).toEqual({
      output: "done",
      status_code: 200,
    });
    expect(heard).toEqual(["half way", [1, 2, "half"]]);
  });

  test("L9: a tool without the parameter for the client instance gets no instance", async () => {
    tool("plain", "export function execute(...all) { return all.length; }");
    expect(await local().executeTool("plain", {}, { lollmsClientInstance: {} })).toEqual({
      output: 1,
      status_code: 200,
    });
  });

  test("L10: a success is exactly output and status_code 200", async () => {
    expect(await local().executeTool("weather", { city: "Paris" })).toEqual({
      output: { temperature: 22, condition: "sunny" },
      status_code: 200,
    });
  });

  test("L10: a result that reports an error is not a success", async () => {
    await using server = await startTools({
      fails: () => {
        throw new Error("no luck");
      },
    });
    expect(await remote({ server_url: server.url }).executeTool("remote_server::fails", {})).toEqual({
      error: "Tool execution failed: no luck",
      status_code: 500,
    });
  });

  test("L11: a failure is exactly error and status_code", () => {
    expect(toFailure(fail("timeout", "API timeout"))).toEqual({
      error: "Tool execution failed: API timeout",
      status_code: 504,
    });
  });

  test.each(Object.keys(KINDS) as FailKind[])("L11: the status of %s is from the table", (kind) => {
    expect(toFailure(fail(kind, "why"))).toMatchObject({ status_code: KINDS[kind].status });
  });

  test("L11: an exception of a tool is its failure, and nothing is thrown", async () => {
    tool("throws", "export function execute() { throw new RangeError('too far'); }");
    expect(await local().executeTool("throws", {})).toEqual({
      error: "Tool execution failed: RangeError: too far",
      status_code: 500,
    });
  });

  test("L12: an unknown tool is reported as not found", async () => {
    expect(await local().executeTool("wether", {})).toEqual({ error: "Tool not found", status_code: 404 });
    expect(await standard().executeTool("library::nothing", {})).toEqual({ error: "Tool not found", status_code: 404 });
  });

  test("L12: a tool of an unreachable server is not reported as unknown", async () => {
    const binding = remote({ server_url: `http://127.0.0.1:${await closedPort()}/mcp` });
    expect(await binding.executeTool("remote_server::add", {})).toMatchObject({ status_code: 503 });
  });

  test("L13: a binding returns its configuration, and a subclass may return another", () => {
    const servers = { library: { command: COMMAND } };
    expect(standard({ initial_servers: servers }).get_binding_config()).toEqual({
      initial_servers: servers,
      logger,
    });
    expect(remote({ server_url: "http://127.0.0.1:1/mcp" }).getBindingConfig()).toEqual({
      alias: "remote_server",
      server_url: "http://127.0.0.1:1/mcp",
      logger,
    });
    class Own extends LocalMCPBinding {
      override getBindingConfig(): { api_endpoint: string } {
        return { api_endpoint: "http://x" };
      }
    }
    expect(kept(new Own({ tools_folder_path: "x" })).get_binding_config()).toEqual({ api_endpoint: "http://x" });
  });

  test("L12: with one hanging server, a wrong name with the prefix of a healthy server fails immediately", async () => {
    const binding = standard({
      initial_servers: {
        silent: { command: [...COMMAND, "silent"], connect_timeout: "10m" },
        good: { command: COMMAND },
      },
    });
    expect(await binding.executeTool("good::add_numbers", { a: 2, b: 3 })).toEqual({
      output: { sum: 5 },
      status_code: 200,
    });
    expect(await binding.executeTool("good::nope", {})).toMatchObject({ status_code: 404 });
    expect(await binding.executeTool("nope", {})).toEqual({
      error: expect.stringContaining("still starting: silent."),
      status_code: 503,
    });
    expect(await binding.executeTool("silent::nope", {}, { timeout: "100ms" })).toMatchObject({ status_code: 504 });
  });

  test("L12: a name without prefix is not unknown while its server is down, and works after its start", async () => {
    const port = await closedPort();
    const binding = remote({ server_url: `http://127.0.0.1:${port}/mcp` });
    expect(await binding.executeTool("one", {})).toMatchObject({ status_code: 503 });
    await using _server = await startTools({ one: () => "1" }, { port });
    await expect.poll(() => binding.executeTool("one", {}), { timeout: 20_000 }).toMatchObject({ status_code: 200 });
  });

  test("L13: refuses an invalid configuration in the constructor", () => {
    expect(() => new LocalMCPBinding({ tools_folder_path: "" })).toThrow(
      "`tools_folder_path` must be the path of a folder",
    );
  });
});

describe("StandardMCPBinding", () => {
  test("L52: names have their alias and `::` as a prefix", async () => {
    expect(names(await standard().discoverTools())).toContain("library::search_chunks");
  });

  test("L52: an uninitialised server contributes no tools", async () => {
    expect(
      await standard({ initial_servers: { bad: { command: ["toolyard-no-such-program"] } } }).discoverTools(),
    ).toEqual([]);
  });

  test("L54: the next discovery lists an added server; a removed server's process ends", async () => {
    const binding = standard({});
    expect(await binding.addServer("late", COMMAND)).toBe(true);
    expect(names(await binding.discoverTools())).toContain("late::where");
    const pid = await pidOf(binding, "late");
    expect(await binding.remove_server("late")).toBe(true);
    expect(isAlive(pid)).toBe(false);
    expect(await binding.discoverTools()).toEqual([]);
    expect(await binding.executeTool("late::where", {})).toEqual({ error: "Tool not found", status_code: 404 });
  });

  test("L54: refuses an invalid alias or command, and removing an unknown alias", async () => {
    const binding = standard({});
    expect(await binding.addServer("a::b", COMMAND)).toBe(false);
    expect(await binding.add_server("empty", [])).toBe(false);
    expect(await binding.removeServer("nobody")).toBe(false);
    expect(binding.servers).toEqual([]);
  });

  test("L54: closing a binding ends its servers", async () => {
    const binding = standard();
    const pid = await pidOf(binding, "library");
    await binding.close();
    expect(isAlive(pid)).toBe(false);
    expect(await binding.executeTool("library::where", {})).toMatchObject({ status_code: 503 });
  });
});

describe("RemoteMCPBinding", () => {
  test.each([
    ["legacy", startLegacy],
    ["modern", startModern],
  ] as const)("L60: uses a %s server over Streamable HTTP", async (_era, start) => {
    await using server = await start();
    expect(await remote({ server_url: server.url }).executeTool("remote_server::echo", { text: "hi" })).toEqual({
      output: "hi",
      status_code: 200,
    });
  });

  test("L60: an address without an MCP server gives no tools", async () => {
    await using server = await startTools({}, { path: "/elsewhere" });
    expect(await remote({ server_url: server.url.replace("elsewhere", "mcp") }).discoverTools()).toEqual([]);
  });

  test("L61: the alias is `remote_server` by default, and credentials are sent", async () => {
    await using server = await startTools({ one: () => "1" }, { token: "s3cret" });
    expect(
      names(await remote({ server_url: server.url, auth_config: { type: "bearer", token: "s3cret" } }).discoverTools()),
    ).toEqual(["remote_server::one"]);
    expect(
      names(
        await remote({
          serverUrl: server.url,
          alias: "own",
          authConfig: { type: "api_key", key: "s3cret" },
        }).discoverTools(),
      ),
    ).toEqual(["own::one"]);
  });

  test("L61: calls without credentials fail, and the constructor refuses unknown kinds of credentials", async () => {
    await using server = await startTools({ one: () => "1" }, { token: "s3cret" });
    expect(await remote({ server_url: server.url }).discoverTools()).toEqual([]);
    expect(() => remote({ server_url: server.url, auth_config: { type: "magic" } as never })).toThrow(
      '`auth_config` must be {type: "bearer", token}',
    );
    expect(() => remote({ server_url: "nowhere" })).toThrow("`server_url` is not a valid address");
  });

  test("L62: discovery and execution use only server_url", async () => {
    await using server = await startTools({ one: () => "1" });
    const binding = remote({ server_url: server.url });
    await binding.discoverTools();
    await binding.executeTool("one", {});
    expect(new Set(server.seen.map(({ url }) => url))).toEqual(new Set(["/mcp"]));
  });

  test("L62: a tool that the server does not list is not called", async () => {
    await using server = await startTools({ one: () => "1" });
    const binding = remote({ server_url: server.url });
    await binding.discoverTools();
    const before = server.seen.length;
    expect(await binding.executeTool("two", {})).toEqual({ error: "Tool not found", status_code: 404 });
    expect(server.seen).toHaveLength(before);
  });

  test("C21: several remotes over both transports have separate credentials", async () => {
    await using streamable = await startTools({ one: () => "1" }, { token: "first" });
    await using sse = await startSse();
    const binding = remote({
      servers_infos: {
        a: { server_url: streamable.url, auth_config: { type: "bearer", token: "first" } },
        b: { server_url: sse.url },
      },
    });
    const found = names(await binding.discoverTools());
    expect(found).toContain("a::one");
    expect(found).toContain("b::echo");
    expect(await binding.executeTool("b::echo", { text: "hi" })).toEqual({ output: "hi", status_code: 200 });
    expect(streamable.seen.every(({ headers }) => headers["authorization"] === "Bearer first")).toBe(true);
    expect(sse.seen.some(({ headers }) => headers["authorization"] !== undefined)).toBe(false);
  });

  test("C21: an unusable remote does not affect others; server_url with servers_infos is refused", async () => {
    await using server = await startTools({ one: () => "1" });
    const binding = remote({ servers_infos: { bad: { server_url: "nowhere" }, good: { server_url: server.url } } });
    expect(names(await binding.discoverTools())).toEqual(["good::one"]);
    expect(binding.diagnostics).toMatchObject([{ source: "bad" }]);
    expect(() => remote({ server_url: server.url, servers_infos: {} })).toThrow("both define servers");
  });
});

describe("HubMCPBinding", () => {
  test("L0: the whole hub is a binding, with every source and its own tools", async () => {
    tool("weather", "export const execute = () => ({ temperature: 22 });");
    const settings = {
      folders: { tools_path: `${folder.path}/tools` },
      mcp: { stdio_servers: { library: { command: COMMAND } } },
    };
    const binding = kept(new HubMCPBinding({ settings, logger }));
    expect(names(await binding.discoverTools())).toEqual(
      expect.arrayContaining(["execute_tool", "library::add_numbers", "tool_search", "weather"]),
    );
    for (const name of [
      "library::add_numbers",
      "library__add_numbers",
      "library.add_numbers",
      "mcp__library__add_numbers",
    ]) {
      expect(await binding.executeTool(name, { a: 1, b: 1 })).toEqual({ output: { sum: 2 }, status_code: 200 });
    }
  });

  test("L0: variables for the hub of this machine add no tools to a binding of other sources", async () => {
    vi.stubEnv("TOOLYARD_SCRIPTS_TOOLS_PATH", `${folder.path}/scripts`);
    folder.script("scripts/stray", "run.sh", "cat");
    expect(names(await local().discoverTools())).toEqual(["weather"]);
  });

  test("L6: an invalid configuration gives an empty list with the reason", async () => {
    const binding = kept(new HubMCPBinding({ settings: { server: { prot: 1 } } as never, logger }));
    expect(await binding.discoverTools()).toEqual([]);
    expect(binding.diagnostics).toMatchObject([{ source: "hub_mcp", message: expect.stringContaining("prot") }]);
    expect(await binding.executeTool("x", {})).toMatchObject({
      error: expect.stringContaining("prot"),
      status_code: 500,
    });
  });
});
