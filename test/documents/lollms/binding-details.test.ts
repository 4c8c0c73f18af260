import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import {
  HubMCPBinding,
  LocalMCPBinding,
  LollmsMCPBinding,
  LollmsMCPBindingManager,
  RemoteMCPBinding,
  StandardMCPBinding,
  type ToolDefinition,
  type ToolResult,
} from "../../../packages/toolyard/src/bindings.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { ROOT } from "../../cli/harness.ts";
import { closedPort, startTools } from "../tool-server.ts";
import { bindingsFolder } from "./bindings-folder.ts";

const folder = bindingsFolder();
const { kept } = folder;
const logger = SILENT_LOGGER;

function tool(name: string, file: string, text: string, more: object = {}): void {
  const metadata = { name, description: `Tool ${name}.`, input_schema: { type: "object" }, ...more };
  folder.write(`tools/${name}/${name}.mcp.json`, JSON.stringify(metadata));
  folder.write(`tools/${name}/${file}`, text);
}

const local = (options: object = {}): LocalMCPBinding =>
  kept(new LocalMCPBinding({ tools_folder_path: `${folder.path}/tools`, logger, ...options }));

describe("the contract", () => {
  class Documents extends LollmsMCPBinding {
    readonly api_endpoint: string;

    constructor(api_endpoint: string) {
      super("my_custom_mcp");
      this.api_endpoint = api_endpoint;
    }
    override async discover_tools(): Promise<ToolDefinition[]> {
      return [{ name: "tide", description: "The tide", input_schema: { type: "object" } }];
    }
    override async execute_tool(name: string, params: Record<string, unknown>): Promise<ToolResult> {
      if (name === "tide") return { output: { harbour: params["harbour"] }, status_code: 200 };
      return { error: "Tool not found", status_code: 404 };
    }
    override get_binding_config(): { api_endpoint: string } {
      return { api_endpoint: this.api_endpoint };
    }
  }

  test("L1: a TypeScript class may use the specified snake_case methods; camelCase calls them", async () => {
    const binding = new Documents("http://tides.test");
    expect(await binding.discoverTools()).toEqual(await binding.discover_tools());
    expect(await binding.executeTool("tide", { harbour: "Brest" })).toEqual({
      output: { harbour: "Brest" },
      status_code: 200,
    });
    expect(await binding.executeTool("tides", {})).toEqual({ error: "Tool not found", status_code: 404 });
  });

  test("L1: the constructor refuses a class that lacks both spellings of a method", () => {
    class Half extends LollmsMCPBinding {
      override async execute_tool(): Promise<ToolResult> {
        return { output: 1, status_code: 200 };
      }
    }
    expect(() => new Half("half")).toThrow("`Half` is not a binding: it lacks `discoverTools`.");
    class Neither extends LollmsMCPBinding {}
    expect(() => new Neither("neither")).toThrow(
      "`Neither` is not a binding: it lacks `discoverTools` and `executeTool`.",
    );
  });

  test("L13: overriding the getter of the configuration in one spelling changes both", () => {
    const snake = new Documents("http://tides.test");
    expect([snake.getBindingConfig(), snake.get_binding_config()]).toEqual([
      { api_endpoint: "http://tides.test" },
      { api_endpoint: "http://tides.test" },
    ]);
    class Camel extends Documents {
      override getBindingConfig(): object & Record<string, unknown> {
        return { ...super.getBindingConfig(), more: true };
      }
    }
    expect(new Camel("http://x").getBindingConfig()).toEqual({ api_endpoint: "http://x", more: true });
    const plain = kept(new StandardMCPBinding({ initial_servers: {} }));
    expect([plain.getBindingConfig(), plain.get_binding_config()]).toEqual([
      { initial_servers: {} },
      { initial_servers: {} },
    ]);
  });
});

describe("the manager", () => {
  const BUILT = pathToFileURL(join(ROOT, "packages/toolyard/dist/bindings.js")).href;
  const write = (body: string): void =>
    void folder.write(
      "mine/tides.mjs",
      `export const BindingName = "Tides";\nexport class Tides { binding_name = "tides";\n${body}\n}\n`,
    );

  test("L1: a binding that throws gives an empty list or a failure, with the reason in `problems`", async () => {
    write(`discover_tools() { throw new Error("no coast"); }\nasync execute_tool() { throw new TypeError("dry"); }`);
    const manager = new LollmsMCPBindingManager(`${folder.path}/mine`);
    const binding = (await manager.create_binding("tides"))!;
    expect([await binding.discover_tools(), await binding.discoverTools()]).toEqual([[], []]);
    expect(manager.problems.get("tides")).toBe("failed to discover its tools: no coast.");
    for (const execute of [binding.execute_tool.bind(binding), binding.executeTool.bind(binding)])
      expect(await execute("x", {})).toEqual({ error: "Tool execution failed: dry", status_code: 500 });
  });

  test("L1: a malformed list of a binding is empty, a malformed result fails, a correct one is unchanged", async () => {
    write(`n = 0; async discover_tools() { return null; }
      async execute_tool(name) { return name === "good" ? { output: ++this.n, status_code: 200 } : "text"; }`);
    const binding = (await new LollmsMCPBindingManager(`${folder.path}/mine`).createBinding("tides"))!;
    expect(await binding.discoverTools()).toEqual([]);
    expect(await binding.executeTool("bad", {})).toMatchObject({ status_code: 500, error: /value of type string/ });
    expect(await binding.executeTool("good", {})).toEqual({ output: 1, status_code: 200 });
  });

  test.each([
    ["as the document writes it", "discover_tools", "execute_tool"],
    ["in camelCase", "discoverTools", "executeTool"],
    ["one method each way", "discover_tools", "executeTool"],
  ])("L1, L24: a class that extends the contract, %s, works through the manager", async (_how, discover, execute) => {
    folder.write(
      "mine/brook.mjs",
      `import { LollmsMCPBinding } from ${JSON.stringify(BUILT)};
      export const BindingName = "Brook";
      export class Brook extends LollmsMCPBinding {
        constructor({ api_endpoint }) { super("brook", { api_endpoint }); }
        async ${discover}() { return [{ name: "cut", description: "Cuts", input_schema: { type: "object" } }]; }
        async ${execute}(name, params) { return name === "cut" ? { output: params, status_code: 200 } : fall(); }
      }`,
    );
    const manager = new LollmsMCPBindingManager(`${folder.path}/mine`);
    const binding = (await manager.create_binding("brook", { api_endpoint: "http://brook.test" }))!;
    for (const list of [await binding.discover_tools(), await binding.discoverTools()])
      expect(list.map(({ name }) => name)).toEqual(["cut"]);
    for (const run of [binding.execute_tool.bind(binding), binding.executeTool.bind(binding)]) {
      expect(await run("cut", { reed: 7 })).toEqual({ output: { reed: 7 }, status_code: 200 });
      expect(await run("mow", {})).toEqual({ error: "Tool execution failed: fall is not defined", status_code: 500 });
    }
    expect(binding.get_binding_config()).toEqual({ api_endpoint: "http://brook.test" });
  });

  test("L25: reports a missing folder as a problem until the folder exists", async () => {
    const path = `${folder.path}/later`;
    const warned: string[] = [];
    const hears = { ...logger, warning: (message: string) => void warned.push(message) };
    const manager = new LollmsMCPBindingManager({ mcp_bindings_dir: path, logger: hears });
    expect(await manager.get_available_bindings()).toContain("local_mcp");
    expect(manager.problems.get(path)).toBe("is not an existing folder. Create it, or correct `mcp_bindings_dir`.");
    expect(warned).toEqual([expect.stringContaining(`The folder of bindings ${path} is not an existing folder`)]);
    folder.write("later/readme.md", "");
    expect(await manager.getAvailableBindings()).toContain("local_mcp");
    expect(manager.problems.has(path)).toBe(false);
  });
});

describe("results keep their type", () => {
  test.each([
    ["a text of digits", "'42'", "42"],
    ["a text that reads as JSON", "'{\"a\": 1}'", '{"a": 1}'],
    ["a text true", "'true'", "true"],
    ["a number", "42", 42],
    ["a truth", "True", true],
    ["a list", "[1, 'two']", [1, "two"]],
    ["None", "None", null],
    ["an empty text", "''", ""],
    ["a dict", "{'depth': 3}", { depth: 3 }],
  ])("L10: %s returned by a Python tool", async (_what, code, output) => {
    tool("it", "it.py", `def execute(params):\n    return ${code}\n`);
    expect(await local().executeTool("it", {})).toEqual({ output, status_code: 200 });
  });

  test("L10: keeps the type of each result of a JavaScript tool", async () => {
    tool("it", "it.mjs", "export const execute = ({ what }) => ({ text: '7', number: 7, none: undefined })[what];");
    const binding = local();
    const outputs = ["text", "number", "none"].map((what) => binding.executeTool("it", { what }));
    expect(await Promise.all(outputs)).toMatchObject([{ output: "7" }, { output: 7 }, { output: null }]);
  });

  test("L10: parses JSON text of a server, with or without an output schema", async () => {
    const value = (): object => ({ depth: 3 });
    await using server = await startTools({
      declared: { run: value, outputSchema: { type: "object", properties: { depth: { type: "number" } } } },
      told: value,
      digits: () => "42",
    });
    const binding = kept(new RemoteMCPBinding({ server_url: server.url, logger }));
    expect(await binding.executeTool("remote_server::declared", {})).toMatchObject({ output: { depth: 3 } });
    expect(await binding.executeTool("remote_server::told", {})).toMatchObject({ output: { depth: 3 } });
    expect(await binding.executeTool("remote_server::digits", {})).toMatchObject({ output: 42 });
  });

  test("L10, L11: {error, status_code} of a script passes unchanged; a similar dict is output", async () => {
    tool("it", "it.py", "def execute(params):\n    return params['give']\n");
    const give = async (value: object) => local().executeTool("it", { give: value });
    expect(await give({ error: "No such harbour", status_code: 404 })).toEqual({
      error: "No such harbour",
      status_code: 404,
    });
    for (const value of [{ error: "x" }, { error: "x", status_code: 200 }, { error: 1, status_code: 404 }])
      expect(await give(value)).toEqual({ output: value, status_code: 200 });
  });
});

describe("statuses by cause of the failure", () => {
  test("L11: an unreachable search service gives the status 503", async () => {
    const web_search = { base_url: `http://127.0.0.1:${await closedPort()}/`, min_interval: 0 };
    const binding = kept(new LocalMCPBinding({ web_search, logger }));
    expect(await binding.executeTool("internet_search", { query: "tides" })).toMatchObject({
      status_code: 503,
      output: { search_results: [], error: expect.any(String) },
    });
  });

  test.each([
    ["outside of the allowed folders", "../../tides.txt", 403],
    ["of a folder", "notes/", 400],
  ])("L11: a path %s gives the matching status", async (_what, file_path, status_code) => {
    const default_tools = { file_roots: [`${folder.path}/files`] };
    const binding = kept(new LocalMCPBinding({ default_tools, logger }));
    expect(await binding.executeTool("file_writer", { file_path, content: "high" })).toMatchObject({ status_code });
  });
});

describe("tool folders", () => {
  test.each([
    ["without `execute`", "it.py", "def run(params):\n    return 1\n", "it has no function `execute(params)`"],
    ["with a syntax error", "it.py", "def execute(params):\n    return (1\n", "line 2: SyntaxError"],
    ["without `execute`", "it.mjs", "export const run = () => 1;\n", "it exports no function `execute(params)`"],
    ["with a syntax error", "it.mjs", "export const execute = () => {\n  return 1 +;\n};\n", "line 2: SyntaxError"],
    ["with a syntax error", "it.ts", "export function execute(): number {\n  return ((1);\n}\n", "it.ts:2"],
  ])("L30: a script %s (%s) is not offered, and the diagnostic has the reason", async (_what, file, text, words) => {
    tool("it", file, text);
    tool("fine", "fine.py", "def execute(params):\n    return 1\n");
    const binding = local();
    expect((await binding.discoverTools()).map(({ name }) => name)).toEqual(["fine"]);
    expect(binding.diagnostics).toEqual([
      expect.objectContaining({ message: expect.stringContaining("not offered: ") }),
    ]);
    expect(binding.diagnostics[0]!.message).toContain(words);
    expect(await binding.executeTool("it", {})).toEqual({ error: "Tool not found", status_code: 404 });
  });

  test("L30: the next discovery lists a repaired script", async () => {
    tool("it", "it.py", "def execute(params:\n");
    const binding = local();
    expect(await binding.discoverTools()).toEqual([]);
    tool("it", "it.py", "def execute(params):\n    return 5\n");
    expect((await binding.discoverTools()).map(({ name }) => name)).toEqual(["it"]);
    expect(await binding.executeTool("it", {})).toEqual({ output: 5, status_code: 200 });
  });

  test.each([
    ["it.py", "from helper import execute\n"],
    ["it.py", "execute = lambda params: 1\n"],
    ["it.py", "async def execute(params):\n    return 1\n"],
    ["it.js", "module.exports.execute = () => 1;\n"],
    ["it.mjs", "const run = () => 1;\nexport { run as execute };\n"],
    ["it.mjs", "const text = await Promise.resolve(import.meta.url);\nexport default () => text;\n"],
    ["it.ts", "export async function execute(_params: { x?: number }): Promise<number> { return 1; }\n"],
  ])("L30: accepts a definition of `execute` such as in %s: %j", async (file, text) => {
    tool("it", file, text);
    expect((await local().discoverTools()).map(({ name }) => name)).toEqual(["it"]);
  });
});

describe("models of a client", () => {
  const ASKS =
    "def execute(params, lollms_client_instance=None):\n" +
    "    return lollms_client_instance.generate_text(params['ask'])\n";

  test.each([
    ["generate_text", (say: unknown) => ({ generate_text: say })],
    ["generateText", (say: unknown) => ({ generateText: say })],
    ["llm.generate_text", (say: unknown) => ({ llm: { generate_text: say } })],
  ])("L34: a client with %s generates text for tools", async (_name, clientOf) => {
    tool("poet", "poet.py", ASKS);
    const asked: unknown[] = [];
    const client = clientOf(async (prompt: string) => {
      asked.push(prompt);
      return "low tide";
    });
    const lollms_client_instance = client as never;
    expect(await local().executeTool("poet", { ask: "a haiku" }, { lollms_client_instance })).toEqual({
      output: "low tide",
      status_code: 200,
    });
    expect(asked).toEqual(["a haiku"]);
  });

  test("L34: a tool receives the client's error, or an error that there is no client", async () => {
    tool("poet", "poet.py", ASKS);
    const lollms_client_instance = { generate_text: () => Promise.reject(new Error("out of ink")) };
    expect(await local().executeTool("poet", { ask: "x" }, { lollms_client_instance })).toMatchObject({
      error: expect.stringContaining("out of ink"),
    });
    expect(await local().executeTool("poet", { ask: "x" }, { lollms_client_instance: {} })).toMatchObject({
      error: expect.stringMatching(/model/),
    });
  });

  test("L34: LocalMCPBinding takes `models`, and refuses an invalid value", async () => {
    expect(() => local({ models: "gpt" })).toThrow('`models` must be an object, got "gpt".');
    tool("poet", "poet.py", ASKS);
    const models = {
      language: "near/tiny",
      providers: { near: { kind: "openai-compatible", base_url: `http://127.0.0.1:${await closedPort()}/v1` } },
    };
    const result = await local({ models }).executeTool("poet", { ask: "x" });
    expect(result).toMatchObject({ error: expect.not.stringMatching(/no language model/i) });
  });
});

describe("constructors report options by their own names", () => {
  test.each([
    [() => new LocalMCPBinding("tools" as never), "`LocalMCPBinding` requires its options as one object"],
    [() => new StandardMCPBinding([] as never), "`StandardMCPBinding` requires its options as one object"],
    [() => new RemoteMCPBinding("http://x/mcp" as never), 'such as `{ server_url: "http://my-mcp-server.com/mcp" }`'],
    [() => new RemoteMCPBinding(undefined as never), "got `undefined`"],
    [() => new LollmsMCPBindingManager(5 as never), 'such as `{ mcp_bindings_dir: "bindings" }`; got `5`'],
    [() => new HubMCPBinding(7 as never), "`HubMCPBinding` requires its options as one object"],
    [() => new HubMCPBinding({ config: 7 } as never), "`config` must be the path of a file"],
    [() => new HubMCPBinding({ settings: "x" } as never), '`settings` must be an object, got "x"'],
    [() => new StandardMCPBinding({ initial_servers: "calc" } as never), "`initial_servers` must be an object"],
    [() => new RemoteMCPBinding({ server_url: "tides" }), "`server_url` is not a valid address"],
    [() => new RemoteMCPBinding({ server_url: "ftp://tides/" }), "`server_url` must begin with http"],
    [() => new RemoteMCPBinding({ servers_infos: [] } as never), "`servers_infos` must be an object"],
    [() => new RemoteMCPBinding({ server_url: "http://x/mcp", timeout: -1 }), "number of seconds above 0"],
    [() => new RemoteMCPBinding({ server_url: "http://x/mcp", timeout: -1 }), "got -1."],
    [() => new RemoteMCPBinding({ server_url: "http://x/mcp", timeout: "soon" }), 'got "soon"'],
    [
      () => new RemoteMCPBinding({ server_url: "http://x/mcp", auth_config: { user: "a", password: "b" } as never }),
      '{type: "bearer", token}, {type: "api_key", key, header_name?} or {type: "oauth2"',
    ],
    [
      () => new RemoteMCPBinding({ server_url: "http://x/mcp", auth_config: { token: "t" } as never }),
      '{type: "bearer", token}',
    ],
  ])("L51, L61: an error includes the remedy, case %#", (make, words) => {
    expect(make).toThrow(words);
  });

  test.each([
    [{ command: 5 }, "`command` must be a list of texts, the program and its arguments, got 5."],
    [{ command: ["a", 5] }, "`command` must be a list of texts"],
    [{}, "`command` must be a list of texts"],
    ["python3 x.py", "A server must be an object"],
    [{ command: ["a"], env: ["A=1"] }, "`env` must be an object"],
    [{ command: ["a"], cwd: 7 }, "`cwd` must be the path of a folder, got 7."],
  ])("L51: a binding omits the server %j and reports the reason", (server, words) => {
    const binding = kept(new StandardMCPBinding({ initial_servers: { calc: server } as never, logger }));
    expect([binding.servers, binding.diagnostics]).toEqual([
      [],
      [{ source: "calc", message: expect.stringContaining(words) }],
    ]);
  });
});

describe("time limits of a server", () => {
  /** Starts slowly the first time, then quickly. */
  const SLOW_START = `
import { createInterface } from "node:readline";
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const serverInfo = { name: "slow", version: "1" };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
  "tools/list": () => ({ tools: [{ name: "tide", inputSchema: { type: "object" } }] }),
};
setTimeout(() => {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const answer = answers[method];
    if (id !== undefined) say(answer ? { id, result: answer(params) } : { id, error: { code: -32601, message: "no" } });
  });
}, 300);
`;
  const names = async (binding: StandardMCPBinding): Promise<readonly string[]> =>
    (await binding.discover_tools({ timeout_per_server: 120 })).map(({ name }) => name);

  test("L51: numbers without a unit are seconds", async () => {
    const command = [process.execPath, folder.write("slow.mjs", SLOW_START)];
    const binding = kept(
      new StandardMCPBinding({ initial_servers: { near: { command, connect_timeout: 120 } }, logger }),
    );
    expect(await binding.add_server("far", command, { connect_timeout: "0.05s" })).toBe(true);
    expect(await names(binding)).toEqual(["near::tide"]);
    expect(await binding.add_server("far", command, { connect_timeout: 120, tool_timeouts: { tide: 0.5 } })).toBe(true);
    expect(await names(binding)).toEqual(["far::tide", "near::tide"]);
  });

  test.each([
    [{ connect_timeout: -1000 }, "`connect_timeout` must be a number of seconds above 0", "got -1000."],
    [{ idle_stop: "soon" }, "`idle_stop` must be a number of seconds above 0", 'got "soon".'],
    [{ tool_timeouts: { tide: -5 } }, "`tool_timeouts.tide` must be a number of seconds above 0", "got -5."],
    [{ timeout: 0 }, "`timeout` must be above 0", "got 0."],
  ])("L51: a binding omits a server with %j and reports the reason", (times, words, got) => {
    const server = { command: ["tides"], ...times } as never;
    const { servers, diagnostics } = kept(new StandardMCPBinding({ initial_servers: { near: server }, logger }));
    expect([servers, diagnostics.map(({ message }) => message)]).toEqual([[], [expect.stringContaining(words)]]);
    expect(diagnostics[0]!.message).toContain(got);
  });
});

test("L11, L61: later failures also use the option names of the binding", async () => {
  const away = kept(new RemoteMCPBinding({ server_url: `http://127.0.0.1:${await closedPort()}/mcp`, logger }));
  expect(await away.discoverTools()).toEqual([]);
  expect(away.diagnostics[0]!.message).toContain("correct `server_url`");
  const refused = await away.executeTool("remote_server::tide", {});
  expect(refused).toMatchObject({ status_code: 503, error: expect.stringContaining("correct `server_url`") });
  tool("slow", "slow.mjs", "export const execute = () => new Promise((done) => setTimeout(done, 60_000));");
  const late = await local().executeTool("slow", {}, { timeout: "50ms" });
  expect(late).toMatchObject({ status_code: 504, error: expect.stringContaining("Raise `timeout` of the execution") });
});

describe("default tools", () => {
  const bundled = (): LocalMCPBinding =>
    kept(new LocalMCPBinding({ default_tools: { file_roots: [`${folder.path}/files`] }, logger }));

  test("L35: `~` means the home folder, not a folder of that name, and writing there is refused", async () => {
    expect(await bundled().executeTool("file_writer", { file_path: "~/tides.txt", content: "x" })).toMatchObject({
      status_code: 403,
    });
    expect(await bundled().executeTool("file_writer", { file_path: "~tides.txt", content: "x" })).toMatchObject({
      status_code: 200,
    });
  });

  test("L38: the interpreter gives only advice that it accepts itself", async () => {
    const result = await bundled().executeTool("python_interpreter", { code: "input('name? ')" });
    expect(JSON.stringify(result)).toContain("Write the values into the code.");
    expect(JSON.stringify(result)).not.toContain("inputs");
  });
});
