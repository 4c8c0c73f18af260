import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { MyCustomMCPBinding } from "../../../examples/bindings/my_custom_mcp.ts";
import {
  HubMCPBinding,
  LocalMCPBinding,
  LollmsMCPBinding,
  LollmsMCPBindingManager,
  RemoteMCPBinding,
  StandardMCPBinding,
} from "../../../packages/toolyard/src/bindings.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { closedPort } from "../tool-server.ts";
import { bindingsFolder } from "./bindings-folder.ts";

const folder = bindingsFolder();
const { kept } = folder;
const logger = SILENT_LOGGER;

function tool(name: string, metadata: object = {}): void {
  const text = JSON.stringify({ name, description: "A tool.", input_schema: { type: "object" }, ...metadata });
  folder.write(`tools/${name}/${name}.mcp.json`, text);
  folder.write(`tools/${name}/${name}.mjs`, "export const execute = (params) => params;");
}

const local = (options: object = {}): LocalMCPBinding => kept(new LocalMCPBinding({ logger, ...options }));

describe("L13: get_binding_config returns every option of the constructor", () => {
  const url = "http://127.0.0.1:1/mcp";
  test.each([
    ["local_mcp", (options: object) => local(options), { sandbox: { timeout: 5 }, models: {}, tools_folder_path: "t" }],
    ["local_mcp", (options: object) => local(options), { default_tools: { enable: ["file_writer"] }, web_search: {} }],
    [
      "standard_mcp",
      (options: object) => kept(new StandardMCPBinding({ logger, ...options })),
      { initial_servers: {} },
    ],
    [
      "remote_mcp",
      (options: object) => kept(new RemoteMCPBinding({ logger, ...options })),
      { server_url: url, alias: "a", timeout: 5, auth_config: { type: "bearer", token: "t" } },
    ],
    [
      "remote_mcp",
      (options: object) => kept(new RemoteMCPBinding({ logger, ...options })),
      { servers_infos: { a: { server_url: url } } },
    ],
    [
      "hub_mcp",
      (options: object) => kept(new HubMCPBinding({ logger, ...options })),
      { config: [], settings: {}, variables: { A: "1" } },
    ],
  ] as const)("%s, case %#", (_name, make, options) => {
    expect(make(options).get_binding_config()).toMatchObject({ ...options, logger });
  });

  test("camelCase options are returned under their documented names", () => {
    expect(local({ toolsFolderPath: "t", webSearch: {} }).getBindingConfig()).toMatchObject({
      tools_folder_path: "t",
      web_search: {},
    });
  });
});

describe("arguments of the wrong type lead to the documented return value", () => {
  const TYPE_ERROR = /TypeError|is not (?:a function|iterable|an object)|undefined \(reading|must be of type/;

  test.each([undefined, null, 5, "", "no/such", {}, [], Symbol("x")])(
    "L24: create_binding(%s) returns undefined and records the reason",
    async (name) => {
      const manager = new LollmsMCPBindingManager();
      expect(await manager.create_binding(name as never)).toBeUndefined();
      expect([...manager.problems.values()].join("\n")).not.toMatch(TYPE_ERROR);
      expect(manager.problems.size).toBe(1);
    },
  );

  test.each([undefined, null])("L24: create_binding creates the binding with options %s", async (options) => {
    const binding = await new LollmsMCPBindingManager().create_binding("local_mcp", options as never);
    expect(kept(binding as LocalMCPBinding).binding_name).toBe("local_mcp");
  });

  test.each([
    [["x"]],
    [["x", 5]],
    [["x", null]],
    [["x", {}]],
    [["x", [5]]],
    [["x", ["node"], 5]],
    [["x", ["node"], { env: 5 }]],
    [[undefined, ["node"]]],
    [[null, ["node"]]],
    [[5, ["node"]]],
  ])("L54: add_server(...%j) resolves to false or true, and reports the reason", async (args) => {
    const binding = kept(new StandardMCPBinding({ logger }));
    const isAdded: unknown = await (binding.add_server as (...all: unknown[]) => Promise<boolean>)(...args);
    expect(isAdded).toBe(args.length === 3 && args[2] === 5);
    expect(binding.diagnostics.map(({ message }) => message).join("\n")).not.toMatch(TYPE_ERROR);
    expect(binding.diagnostics).toHaveLength(isAdded === true ? 0 : 1);
  });

  test.each([undefined, null, 5, {}, [], true])(
    "L11: execute_tool(%j) returns an error with status 400",
    async (name) => {
      tool("echo");
      const result = await local({ tools_folder_path: `${folder.path}/tools` }).execute_tool(name as never, {});
      expect(result).toEqual({ error: expect.stringContaining("`tool_name` must be text"), status_code: 400 });
    },
  );

  test.each([
    ["params", ["echo", "x"], 400],
    ["params", ["echo", null], 200],
    ["params", ["echo"], 200],
    ["options", ["echo", {}, null], 200],
    ["options", ["echo", {}, 5], 400],
    ["options", ["echo", {}, { timeout: "soon" }], 400],
  ])("L11: %s of execute_tool(...%j) returns status %i", async (_what, args, status_code) => {
    tool("echo");
    const binding = local({ tools_folder_path: `${folder.path}/tools` });
    const result: unknown = await (binding.execute_tool as (...all: unknown[]) => Promise<unknown>)(...args);
    expect(result).toMatchObject({ status_code });
    expect(JSON.stringify(result)).not.toMatch(TYPE_ERROR);
  });

  test.each([
    [() => new StandardMCPBinding({ logger, initial_servers: null })],
    [() => new StandardMCPBinding({ logger, initialServers: null })],
    [() => new StandardMCPBinding(null)],
    [() => new LocalMCPBinding({ logger, web_search: null, sandbox: null, tools_folder_path: null } as never)],
    [() => new LocalMCPBinding(null as never)],
    [() => new HubMCPBinding({ logger, config: null, settings: null } as never)],
    [() => new RemoteMCPBinding({ logger, server_url: "http://127.0.0.1:1/mcp", alias: null, timeout: null } as never)],
  ])("L51: null of a constructor option means absent, case %#", (create) => {
    expect(() => kept(create())).not.toThrow();
  });

  test.each([{ timeout_per_server: null }, { timeoutPerServer: null }, { force_refresh: null }])(
    "L5: null of a discovery option means absent: %j",
    async (options) => {
      tool("echo");
      const binding = local({ tools_folder_path: `${folder.path}/tools` });
      expect(await binding.discover_tools(options as never)).toHaveLength(1);
      const result = await binding.execute_tool("echo", {}, { timeout: null, signal: null } as never);
      expect(result).toMatchObject({ status_code: 200 });
    },
  );

  test.each([undefined, null, 5, "", "  "])("L2: a class that names its binding %j is refused", (name) => {
    class OwnBinding extends LollmsMCPBinding {
      override async discoverTools() {
        return [];
      }
      override async executeTool() {
        return { output: 1, status_code: 200 };
      }
    }
    expect(() => new OwnBinding(name as never)).toThrow(/name of a binding must be text/);
    expect(new OwnBinding("own").binding_name).toBe("own");
  });

  test.each([null, 5, "x", []])("L6: discover_tools(%j) returns a list without a TypeError", async (options) => {
    tool("echo");
    const binding = local({ tools_folder_path: `${folder.path}/tools` });
    const tools = await binding.discover_tools(options as never);
    expect(tools).toHaveLength(options === null ? 1 : 0);
    expect(JSON.stringify(binding.diagnostics)).not.toMatch(TYPE_ERROR);
  });
});

describe("names with characters outside ASCII", () => {
  const BINDING =
    'import { LollmsMCPBinding } from "toolyard/bindings";\nexport const BindingName = "Own";\n' +
    'export class Own extends LollmsMCPBinding {\n  constructor() { super("own"); }\n' +
    "  async discoverTools() { return []; }\n  async executeTool() { return { output: 1, status_code: 200 }; }\n}\n";

  test.each(["größe_mcp.mjs", "天気.mjs", "погода/index.mjs", "é_mcp.mjs", "cafe\u0301.mjs", "ärger-2.mjs"])(
    "L25: finds the binding file %s and creates the binding",
    async (file) => {
      folder.write(`bindings/${file}`, BINDING);
      const manager = new LollmsMCPBindingManager(`${folder.path}/bindings`);
      const name = file.replace(/(?:\/index)?\.mjs$/, "");
      expect(await manager.get_available_bindings()).toContain(name);
      expect((await manager.create_binding(name))?.binding_name).toBe("own");
      // The same name in another Unicode normal form, as another system stores it.
      expect((await manager.create_binding(name.normalize("NFC")))?.binding_name).toBe("own");
    },
  );

  test.each(["größe", "天気", "погода", "cafe\u0301", "اختبار"])(
    "L32: finds and runs the tool folder %s",
    async (name) => {
      tool(name);
      const binding = local({ tools_folder_path: `${folder.path}/tools` });
      expect((await binding.discoverTools()).map((one) => one.name)).toEqual([name]);
      expect(await binding.executeTool(name, { a: 1 })).toEqual({ output: { a: 1 }, status_code: 200 });
    },
  );

  test("L32: names of a folder and its files can be in different Unicode normal forms", async () => {
    const [folded, composed] = ["cafe\u0301", "caf\u00E9"];
    folder.write(`tools/${folded}/${composed}.mjs`, "export const execute = () => 1;");
    folder.write(
      `tools/${folded}/${composed}.mcp.json`,
      JSON.stringify({ name: composed, description: "A tool.", input_schema: { type: "object" } }),
    );
    const binding = local({ tools_folder_path: `${folder.path}/tools` });
    expect(await binding.discoverTools()).toHaveLength(1);
  });
});

describe("default tools", () => {
  const ALL = ["file_writer", "generate_image_from_prompt", "internet_search", "python_interpreter"];

  test.each([
    ["web_search", { web_search: { engine: "nobody" } }, ["internet_search"]],
    ["web_search", { web_search: { no_such_option: 1 } }, ["internet_search"]],
    ["sandbox", { sandbox: { timeout: "soon" } }, ["python_interpreter"]],
    ["sandbox", { sandbox: { memory: -1 } }, ["python_interpreter"]],
    ["models", { models: { image: 5 } }, ["generate_image_from_prompt"]],
    ["image_timeout", { default_tools: { image_timeout: "2h" } }, ["generate_image_from_prompt"]],
    ["max_file_size", { default_tools: { max_file_size: "none" } }, ["file_writer", "generate_image_from_prompt"]],
    ["file_roots", { default_tools: { file_roots: [] } }, ["file_writer", "generate_image_from_prompt"]],
    ["enable", { default_tools: { enable: ["file_writer", "internet_serch"] } }, ALL.slice(1)],
    ["an unset variable", { web_search: { api_key: "${CALC_TEST_UNSET}" } }, ["internet_search"]],
  ])("L63: an invalid option (%s: %j) disables only the tools that use it", async (words, options, disabled) => {
    const binding = local(options);
    const names = (await binding.discoverTools()).map(({ name }) => name).toSorted();
    expect(names).toEqual(ALL.filter((name) => !disabled.includes(name)));
    expect(binding.diagnostics.length).toBeGreaterThan(0);
    expect(JSON.stringify(binding.diagnostics)).toContain(words.replace("an unset variable", "CALC_TEST_UNSET"));
    // `enable` selects tools, so a tool that it does not name is unknown.
    const refused = await binding.executeTool(disabled[0]!, {});
    if (words === "enable") expect(refused).toEqual({ error: "Tool not found", status_code: 404 });
    else expect(refused).toEqual({ error: expect.stringContaining(`${disabled[0]} is disabled: `), status_code: 503 });
    expect(await binding.executeTool("no_such_tool", {})).toEqual({ error: "Tool not found", status_code: 404 });
  });

  test("L63: every valid option keeps all tools", async () => {
    const binding = local({ web_search: {}, sandbox: {}, models: {}, default_tools: { max_file_size: "1MB" } });
    expect((await binding.discoverTools()).map(({ name }) => name).toSorted()).toEqual(ALL);
    expect(binding.diagnostics).toEqual([]);
  });

  test("L63: an invalid option of models keeps the tools of a folder", async () => {
    tool("echo");
    const binding = local({ tools_folder_path: `${folder.path}/tools`, models: { image: 5 } });
    expect((await binding.discoverTools()).map(({ name }) => name)).toEqual(["echo"]);
    expect(binding.diagnostics).toHaveLength(1);
  });
});

describe("the example my_custom_mcp", () => {
  async function answering(body: string, { status = 200 } = {}) {
    const server = createServer((_request, response) => response.writeHead(status).end(body)).listen(0, "127.0.0.1");
    await once(server, "listening");
    kept({
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
      },
    });
    return new MyCustomMCPBinding({ api_endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  }

  test.each(["5s", "500ms", "1m", "1.5s", 5, 0.5])("L14: accepts the duration %j", async (timeout) => {
    const binding = await answering('{"a": 1}');
    expect(await binding.executeTool("x", {}, { timeout })).toEqual({ output: { a: 1 }, status_code: 200 });
  });

  test.each(["soon", "", -1, 0, Number.NaN, "5 parsecs"])("L14: refuses the duration %j", async (timeout) => {
    const binding = await answering("{}");
    expect(await binding.executeTool("x", {}, { timeout })).toMatchObject({ status_code: 400 });
    expect(await binding.discoverTools({ timeout_per_server: timeout })).toEqual([]);
  });

  test.each(["<html>", "", "{", "nul"])("L14: reports that the response %j is not JSON", async (body) => {
    const binding = await answering(body);
    expect(await binding.executeTool("x", {})).toEqual({
      error: expect.stringContaining("is not JSON"),
      status_code: 502,
    });
  });

  test("L14: an endpoint that cannot be reached is unavailable; a failing one has its own status", async () => {
    const away = new MyCustomMCPBinding({ api_endpoint: `http://127.0.0.1:${await closedPort()}` });
    expect(await away.executeTool("x", {})).toEqual({
      error: expect.stringContaining("cannot be reached"),
      status_code: 503,
    });
    expect(await (await answering("out of tides", { status: 418 })).executeTool("x", {})).toEqual({
      error: "out of tides",
      status_code: 418,
    });
  });
});
