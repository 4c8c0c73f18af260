// Document L with folders of a program: tools in Python about a mill, and bindings in a folder.
import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import {
  LocalMCPBinding,
  LollmsMCPBindingManager,
  RemoteMCPBinding,
  StandardMCPBinding,
  type ToolResult,
} from "../../../packages/toolyard/src/bindings.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { ROOT } from "../../cli/harness.ts";
import { closedPort, startTools } from "../tool-server.ts";
import { bindingsFolder } from "./bindings-folder.ts";

const folder = bindingsFolder();
const { kept } = folder;
const logger = SILENT_LOGGER;

/** A long time limit, because these tests do not measure speed. */
const PATIENT = { timeout_per_server: 100 };

const GRIND = {
  name: "grind",
  description: "Grinds corn",
  input_schema: {
    type: "object",
    properties: { sacks: { type: "integer", minimum: 1 }, corn: { type: "string", enum: ["rye", "oats"] } },
    required: ["sacks"],
  },
  output_schema: { type: "object", properties: { flour: { type: "number" }, corn: { type: "string" } } },
};

function tool(name: string, code: string, metadata: object = {}): void {
  const about = { name, description: `Tool ${name}.`, input_schema: { type: "object" }, ...metadata };
  folder.write(`mill/${name}/${name}.mcp.json`, JSON.stringify(about));
  folder.write(`mill/${name}/${name}.py`, code);
}

const local = (): LocalMCPBinding => kept(new LocalMCPBinding({ tools_folder_path: `${folder.path}/mill`, logger }));

describe("tools of a folder", () => {
  beforeEach(() => {
    tool(
      "grind",
      `def execute(params):
    return {"flour": params["sacks"] * 0.8, "corn": params.get("corn", "rye")}
`,
      GRIND,
    );
  });

  test("L2, L3, L4, L30, L32: each tool is a sub-folder, defined as in the document", async () => {
    folder.write("mill/sweep/sweep.py", "def execute(params):\n    return 1\n");
    folder.write("mill/haul/haul.mcp.json", JSON.stringify({ ...GRIND, name: "haul" }));
    folder.write("mill/deep/down/down.mcp.json", JSON.stringify({ ...GRIND, name: "down" }));
    folder.write("mill/deep/down/down.py", "def execute(params):\n    return 1\n");
    const binding = local();
    expect(await binding.discover_tools(PATIENT)).toEqual([GRIND]);
    expect(binding.binding_name).toBe("local_mcp");
    const told = binding.diagnostics.map(({ message }) => message).join("\n");
    for (const missing of ["sweep.mcp.json", "haul.py"]) expect(told).toContain(missing);
  });

  test("L5, L33: force_refresh scans again, and a call runs the current script", async () => {
    const binding = local();
    expect(await binding.execute_tool("grind", { sacks: 5 })).toEqual({
      output: { flour: 4, corn: "rye" },
      status_code: 200,
    });
    tool("grind", 'def execute(params):\n    return {"flour": 0, "corn": "none left"}\n', GRIND);
    tool("sift", "def execute(params):\n    return params\n");
    const names = (await binding.discover_tools({ ...PATIENT, force_refresh: true })).map(({ name }) => name);
    expect(names.toSorted()).toEqual(["grind", "sift"]);
    expect(await binding.execute_tool("grind", { sacks: 5 })).toMatchObject({ output: { corn: "none left" } });
  });

  test.each([
    [{}, "sacks"],
    [{ sacks: "five" }, "sacks"],
    [{ sacks: 0 }, "sacks"],
    [{ sacks: 2, corn: "wheat" }, "corn"],
  ])("L8: parameters %j are checked against the schema", async (params, named) => {
    expect(await local().execute_tool("grind", params)).toMatchObject({
      error: expect.stringContaining(named),
      status_code: 400,
    });
  });

  test("L9: a call has a time limit, and a tool with the parameter gets the client instance", async () => {
    tool("doze", "import time\n\ndef execute(params):\n    time.sleep(600)\n");
    tool(
      "call",
      `def execute(params, lollms_client_instance=None):
    lollms_client_instance.logger.info("the miller calls")
    return {"heard": lollms_client_instance is not None}
`,
    );
    const binding = local();
    expect(await binding.execute_tool("doze", {}, { timeout: 0.5 })).toMatchObject({ status_code: 504 });
    const heard: string[] = [];
    const lollms_client_instance = { logger: { info: (words: string) => void heard.push(words) } };
    const called = await binding.execute_tool("call", {}, { lollms_client_instance });
    expect(called).toEqual({ output: { heard: true }, status_code: 200 });
    expect(heard).toContain("the miller calls");
  });

  test("L12: an unknown tool is 404 with the specified message", async () => {
    const result = (await local().execute_tool("thresh", {})) as { error: string; status_code: number };
    expect([result.status_code, result.error]).toEqual([404, expect.stringMatching(/not found|Unknown tool/i)]);
  });

  test("L6: a broken tool does not affect others; no folder gives an empty list", async () => {
    folder.write("mill/torn/torn.mcp.json", "{");
    folder.write("mill/torn/torn.py", "def execute(params):\n    return 1\n");
    const binding = local();
    expect((await binding.discover_tools(PATIENT)).map(({ name }) => name)).toEqual(["grind"]);
    expect(binding.diagnostics.map(({ message }) => message)).toContainEqual(expect.stringContaining("torn"));
    const nowhere = kept(new LocalMCPBinding({ tools_folder_path: `${folder.path}/nowhere`, logger }));
    expect(await nowhere.discover_tools(PATIENT)).toEqual([]);
  });
});

describe("several kinds of tools together", () => {
  test("L0, L2, L6: a folder, a child and a remote share one interface; a stopped one affects no other", async () => {
    tool("grind", "def execute(params):\n    return 'ground'\n");
    await using remote = await startTools({ weigh: ({ sacks }) => ({ kilos: Number(sacks) * 50 }) });
    const calc = join(ROOT, "test/documents/python/calc_server.py");
    const bindings = [
      local(),
      kept(
        new StandardMCPBinding({
          initial_servers: { calc: { command: ["python3", calc] }, gone: { command: ["no-such-mill"] } },
          logger,
        }),
      ),
      kept(new RemoteMCPBinding({ server_url: remote.url, alias: "scales", logger })),
      kept(new RemoteMCPBinding({ server_url: `http://127.0.0.1:${await closedPort()}/mcp`, logger })),
    ];
    expect(bindings.map(({ binding_name: name }) => name)).toEqual([
      "local_mcp",
      "standard_mcp",
      "remote_mcp",
      "remote_mcp",
    ]);
    const lists = await Promise.all(bindings.map((binding) => binding.discover_tools(PATIENT)));
    expect(lists.map((tools) => tools.map(({ name }) => name.split("::")[0]))).toEqual([
      ["grind"],
      expect.arrayContaining(["calc"]),
      ["scales"],
      [],
    ]);
    expect(await bindings[2]!.execute_tool("scales::weigh", { sacks: 3 })).toMatchObject({ status_code: 200 });
    const lost: ToolResult = await bindings[1]!.execute_tool("gone::weigh", {});
    expect(lost).toMatchObject({ status_code: 503 });
  });
});

describe("the manager", () => {
  const BUILT = pathToFileURL(join(ROOT, "packages/toolyard/dist/bindings.js")).href;
  const write = (name: string, exported: string, head = ""): string =>
    folder.write(
      `bindings/${name}/index.mjs`,
      `${head}import { LollmsMCPBinding } from ${JSON.stringify(BUILT)};
export const BindingName = "${exported}";
export class Mill extends LollmsMCPBinding {
  constructor({ river = "Loire" } = {}) { super("${name}", { river }); }
  async discover_tools() { return [{ name: "turn", description: "Turns", input_schema: { type: "object" } }]; }
  async execute_tool() { return { output: this.get_binding_config().river, status_code: 200 }; }
}`,
    );

  test("L20, L21, L22, L23, L24, L25: finds, loads once and creates a binding, or returns undefined", async () => {
    const counted = "globalThis.millsLoaded = (globalThis.millsLoaded ?? 0) + 1;\n";
    write("water_mill", "Mill", counted);
    write("wind_mill", "Wind");
    folder.write("bindings/torn_mill/index.mjs", "export class {");
    mkdirSync(`${folder.path}/bindings/empty_mill`);
    const manager = new LollmsMCPBindingManager({ mcp_bindings_dir: `${folder.path}/bindings` });
    expect(manager.mcp_bindings_dir).toBe(`${folder.path}/bindings`);
    const names = await manager.get_available_bindings();
    expect(names).toEqual(expect.arrayContaining(["water_mill", "local_mcp", "standard_mcp", "remote_mcp"]));
    for (const none of ["wind_mill", "torn_mill", "empty_mill"]) expect(names).not.toContain(none);
    const mill = (await manager.create_binding("water_mill", { river: "Rhine" }))!;
    expect(await mill.execute_tool("turn", {})).toEqual({ output: "Rhine", status_code: 200 });
    expect((await manager.create_binding("water_mill"))!.get_binding_config()).toEqual({ river: "Loire" });
    expect(Object.keys(manager.available_bindings)).toContain("water_mill");
    expect((globalThis as { millsLoaded?: number }).millsLoaded).toBe(1);
    for (const none of ["wind_mill", "torn_mill", "nobody"]) {
      expect(await manager.create_binding(none)).toBeUndefined();
      expect(manager.problems.get(none)).toBeDefined();
    }
  });

  test("L21: without a folder it has the package's bindings", async () => {
    const names = await new LollmsMCPBindingManager().get_available_bindings();
    expect(names).toEqual(expect.arrayContaining(["local_mcp", "remote_mcp", "standard_mcp"]));
  });
});

describe("the bundled tools", () => {
  const bundled = (options: object = {}): LocalMCPBinding =>
    kept(new LocalMCPBinding({ default_tools: { file_roots: [`${folder.path}/files`] }, logger, ...options }));

  test("L31: there are four bundled tools, with their inputs and outputs", async () => {
    const tools = await bundled().discover_tools(PATIENT);
    const keys = Object.fromEntries(
      tools.map(({ name, input_schema: input, output_schema: output }) => [
        name,
        [input, output].map((schema) => Object.keys((schema?.["properties"] ?? {}) as object).toSorted()),
      ]),
    );
    expect(keys).toMatchObject({
      file_writer: [
        ["content", "file_path", "mode"],
        ["file_path", "message", "status"],
      ],
      generate_image_from_prompt: [
        ["height", "negative_prompt", "output_filename_suggestion", "prompt", "width"],
        ["image_path", "image_url", "message", "status"],
      ],
      internet_search: [["num_results", "query"], expect.arrayContaining(["error", "search_results"])],
      python_interpreter: [
        ["code", "timeout_seconds"],
        ["execution_status", "returned_value", "stderr", "stdout"],
      ],
    });
    expect(tools).toHaveLength(4);
  });

  test("L36: generates an image with the client's model, and reports if there is none", async () => {
    const PNG = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    const asked: unknown[] = [];
    const tti = {
      generate_image: (request: object) => {
        asked.push(request);
        return PNG;
      },
    };
    const drawing = { prompt: "a mill", negative_prompt: "rain", width: 256, output_filename_suggestion: "mill.png" };
    const binding = bundled();
    const drawn = await binding.execute_tool("generate_image_from_prompt", drawing, {
      lollms_client_instance: { tti } as never,
    });
    expect(drawn).toMatchObject({
      output: {
        status: "success",
        message: expect.any(String),
        image_path: expect.stringMatching(/^(?!\/).*mill.*\.png$/),
        image_url: expect.stringMatching(/^file:\/\/\/.*mill.*\.png$/),
      },
      status_code: 200,
    });
    expect(asked).toMatchObject([{ prompt: "a mill" }]);
    expect(await binding.execute_tool("generate_image_from_prompt", { prompt: "a mill" })).toHaveProperty("error");
  });

  test("L37, L63: a failed search is a result with `error`, and affects nothing else", async () => {
    const web_search = { backend: "searxng" as const, base_url: `http://127.0.0.1:${await closedPort()}` };
    const binding = bundled({ web_search });
    const searched = await binding.execute_tool("internet_search", { query: "mills of Holland", num_results: 3 });
    expect(searched).toMatchObject({ error: expect.stringContaining("SearXNG") });
    const written = await binding.execute_tool("file_writer", { file_path: "log/mill.txt", content: "It turns." });
    expect(written).toMatchObject({ output: { status: "success", file_path: expect.stringMatching(/mill\.txt$/) } });
  });

  const runs = async (code: string, timeout_seconds = 60): Promise<Record<string, unknown>> => {
    const result = await bundled().execute_tool("python_interpreter", { code, timeout_seconds });
    return (result as { output: Record<string, unknown> }).output;
  };

  test("L38: Python returns its output and exit status", async () => {
    const done = await runs("import math\nprint(math.comb(7, 3))");
    expect(done).toMatchObject({ stdout: "35\n", stderr: "", execution_status: "success" });
  });

  test.each([
    ["files", "open('/etc/passwd').read()"],
    ["the network", "import socket\nsocket.create_connection(('127.0.0.1', 9))"],
    ["processes", "import subprocess\nsubprocess.run(['true'])"],
  ])("L40: Python code cannot reach %s", async (_what, code) => {
    expect(await runs(code)).toMatchObject({ execution_status: "error" });
  });

  test("L39: the time limit of Python code always applies", async () => {
    expect(await runs("while True: pass", 1)).toMatchObject({ execution_status: "timeout" });
  });
});
