import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  LollmsMCPBindingManager,
  type LocalMCPBinding,
  type LollmsMCPBinding,
} from "../../../packages/toolyard/src/bindings.ts";
import { createHub } from "../../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { listen, type RunningServer } from "../../fixtures/http-servers.ts";
import { ToolFolder } from "../../support/tool-folder.ts";

const EXAMPLES = fileURLToPath(new URL("../../../examples/bindings", import.meta.url));
const BUNDLED = ["hub_mcp", "local_mcp", "remote_mcp", "standard_mcp"];

let folder: ToolFolder;

beforeEach(() => {
  folder = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

/** A binding module in the folder; `methods` are members of the class. */
function write(
  place: string,
  { methods = WHOLE, exported = 'export const BindingName = "Custom";', before = "" } = {},
): void {
  folder.write(
    place,
    `import { LollmsMCPBinding } from "toolyard/bindings";\n${before}\n` +
      `export class Custom extends LollmsMCPBinding {\n${methods}\n}\n${exported}\n`,
  );
}

const EXECUTE =
  "async executeTool(name, params) { return { output: { name, params, options: this.getBindingConfig() }, " +
  "status_code: 200 }; }";
const WHOLE =
  `constructor(options = {}) { super("custom", options); }\nasync discoverTools() { return []; }\n` + EXECUTE;

const manager = (): LollmsMCPBindingManager => new LollmsMCPBindingManager(folder.path);

describe("the manager", () => {
  test("L20: creates bindings from a directory: a file, a folder with an index, TypeScript, JavaScript", async () => {
    write("one.ts", {
      methods: WHOLE.replace("options = {}", "options: object = {}").replace(
        "(name, params)",
        "(name: string, params: object)",
      ),
    });
    write("two/index.mjs");
    const made = await Promise.all(["one", "two"].map((name) => manager().createBinding(name)));
    expect(await Promise.all(made.map((binding) => binding!.executeTool("t", { a: 1 })))).toMatchObject([
      { output: { name: "t", params: { a: 1 } } },
      { status_code: 200 },
    ]);
  });

  test("L20: does not find bindings outside the directory", async () => {
    write("inside/one.mjs");
    const bindings = new LollmsMCPBindingManager(`${folder.path}/other`);
    for (const name of ["one", "../inside/one", "inside/one", "constructor", "__proto__"])
      expect(await bindings.createBinding(name)).toBeUndefined();
    expect(bindings.problems.get("one")).toBe("does not exist: a binding is a module of that name in the folder.");
  });

  test("L21: the directory is a path, a URL or an option in either spelling", () => {
    const url = new URL(`file://${folder.path}/`);
    const given = [folder.path, url, { mcp_bindings_dir: folder.path }, { mcpBindingsDir: folder.path }];
    expect(given.map((options) => new LollmsMCPBindingManager(options).mcp_bindings_dir.replace(/\/$/, ""))).toEqual(
      given.map(() => folder.path),
    );
  });

  test("L21: the default is `mcp_bindings` next to the module; an empty path is refused", () => {
    expect(new LollmsMCPBindingManager().mcpBindingsDir).toMatch(/[\\/]compat[\\/]bindings[\\/]mcp_bindings$/);
    expect(existsSync(new LollmsMCPBindingManager().mcp_bindings_dir)).toBe(true);
    expect(() => new LollmsMCPBindingManager("")).toThrow("`mcp_bindings_dir` must name a folder");
  });

  test("L21: `[bindings] dir` of toolyard.toml is the directory, relative to its file", async () => {
    write("mine/one.mjs");
    const config = folder.write("toolyard.toml", '[bindings]\ndir = "mine"\n');
    const bindings = await LollmsMCPBindingManager.fromConfig(config);
    expect(bindings.mcp_bindings_dir).toBe(`${folder.path}/mine`);
    expect(await bindings.getAvailableBindings()).toContain("one");
    expect((await LollmsMCPBindingManager.fromConfig(folder.write("empty.toml", ""))).mcp_bindings_dir).toBe(
      new LollmsMCPBindingManager().mcp_bindings_dir,
    );
  });

  test("L21: the hub accepts the section [bindings] without reading the folder, and refuses a wrong key", async () => {
    write("mine/one.mjs", {
      before: `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(`${folder.path}/loaded`)}, "");`,
    });
    const hub = await createHub({ settings: { bindings: { dir: `${folder.path}/mine` } }, logger: SILENT_LOGGER });
    expect((await hub.list({ mode: "all" })).some(({ name }) => name === "one")).toBe(false);
    await hub.close();
    expect(existsSync(`${folder.path}/loaded`)).toBe(false);
    await expect(
      LollmsMCPBindingManager.fromConfig(folder.write("bad.toml", '[bindings]\ndri = "x"\n')),
    ).rejects.toThrow("did you mean `dir`?");
  });

  test("L22: loads the class of a binding once, and keeps it by the binding's name", async () => {
    write("one.mjs", {
      before:
        `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(`${folder.path}/loads`)}, ` +
        `"x");`,
    });
    const bindings = manager();
    const [a, b] = await Promise.all([bindings.createBinding("one"), bindings.create_binding("one")]);
    await bindings.getAvailableBindings();
    expect(a!.constructor).toBe(b!.constructor);
    expect(bindings.available_bindings["one"]).toBe(a!.constructor);
    expect(bindings.availableBindings).toBe(bindings.available_bindings);
    expect(readFileSync(`${folder.path}/loads`, "utf8")).toBe("x");
  });

  test("L22: does not keep a class that failed to load, so it can be repaired", async () => {
    const bindings = manager();
    write("one.mjs", { exported: "" });
    expect(await bindings.createBinding("one")).toBeUndefined();
    expect(Object.keys(bindings.available_bindings)).toEqual([]);
    write("one.mjs");
    expect(await bindings.createBinding("one")).toBeDefined();
    expect(bindings.problems.size).toBe(0);
  });

  test("L23: uses the class that `BindingName` names, among any other exports", async () => {
    write("one.mjs", { before: "export class Other {}" });
    expect((await manager().createBinding("one"))!.constructor.name).toBe("Custom");
  });

  test.each([
    [
      "has no BindingName",
      { exported: "" },
      "does not name its class: export `BindingName` with the name of the class.",
    ],
    [
      "names a class that it does not export",
      { exported: 'export const BindingName = "Gone";' },
      "names the class `Gone`, but does not export it.",
    ],
    [
      "names something that is no class",
      { exported: 'export const BindingName = "f"; export const f = () => {};' },
      expect.stringContaining("`f` is not a binding: it lacks `discoverTools` and `executeTool`"),
    ],
    ["throws as it is loaded", { before: 'throw new Error("not today");' }, "cannot be loaded: not today"],
    ["cannot be parsed", { before: "const = 1;" }, expect.stringContaining("cannot be loaded: one.mjs:2")],
  ])("L23: returns undefined and the reason for a module that %s", async (_what, module, problem) => {
    write("one.mjs", module);
    const warned: string[] = [];
    const bindings = new LollmsMCPBindingManager({
      mcp_bindings_dir: folder.path,
      logger: { ...SILENT_LOGGER, warning: (message) => void warned.push(message) },
    });
    expect(await bindings.createBinding("one")).toBeUndefined();
    expect(bindings.problems.get("one")).toEqual(problem);
    expect(warned).toEqual([`The binding one ${bindings.problems.get("one")}`]);
  });

  test.each(["discoverTools", "executeTool"])(
    "L1: a class on disk without `%s` is refused at load",
    async (lacking) => {
      const methods = lacking === "executeTool" ? "async discover_tools() { return []; }" : EXECUTE;
      write("one.mjs", { methods });
      const bindings = manager();
      expect(await bindings.createBinding("one")).toBeUndefined();
      expect(bindings.problems.get("one")).toBe(
        `\`Custom\` is not a binding: it lacks \`${lacking}\`. A binding discovers tools and executes one.`,
      );
      expect(await bindings.getAvailableBindings()).toEqual(BUNDLED);
    },
  );

  test("L1: a class on disk without the base class is accepted", async () => {
    folder.write(
      "one.mjs",
      'export const BindingName = "Own"; export class Own { binding_name = "own"; ' +
        "async discoverTools() { return []; } async executeTool() { return { output: 1, status_code: 200 }; } }",
    );
    expect(await (await manager().createBinding("one"))!.executeTool("x", {})).toEqual({ output: 1, status_code: 200 });
  });

  test("L24: options go to the constructor", async () => {
    write("one.mjs");
    const made = await manager().createBinding("one", { api_endpoint: "http://x" });
    expect(made!.getBindingConfig()).toEqual({ api_endpoint: "http://x" });
    const local = await new LollmsMCPBindingManager().createBinding<LocalMCPBinding>("local_mcp", {
      tools_folder_path: folder.path,
    });
    expect(local!.get_binding_config()).toEqual({ tools_folder_path: folder.path });
    await local!.close();
  });

  test("L24: returns undefined and the reason if the constructor throws", async () => {
    write("one.mjs", { methods: WHOLE.replace("super(", 'if (!options.key) throw new Error("no key"); super(') });
    const bindings = manager();
    expect(await bindings.createBinding("one")).toBeUndefined();
    expect(bindings.problems.get("one")).toBe("cannot be created: no key");
    expect(await bindings.create_binding("one", { key: 1 })).toBeDefined();
    expect(await bindings.createBinding("local_mcp", { tools_folder_path: "" })).toBeUndefined();
  });

  test("L25: lists modules with bindings, and the package's bindings", async () => {
    write("one.mjs");
    write("two/index.ts", {
      methods: WHOLE.replace("options = {}", "options: object = {}").replace(
        "(name, params)",
        "(name: string, params: object)",
      ),
    });
    expect(await manager().get_available_bindings()).toEqual([...BUNDLED, "one", "two"].toSorted());
    expect(await new LollmsMCPBindingManager().getAvailableBindings()).toEqual(BUNDLED);
  });

  test("L25: does not list broken modules, caches, hidden files and texts", async () => {
    write("broken.mjs", { exported: "" });
    folder.write("__pycache__/index.js", "");
    folder.write(".hidden/index.mjs", "");
    folder.write("notes.md", "");
    folder.write("empty/readme.txt", "");
    folder.write("types.d.ts", "export declare const BindingName: string;");
    expect(await manager().getAvailableBindings()).toEqual(BUNDLED);
    expect(await new LollmsMCPBindingManager(`${folder.path}/gone`).getAvailableBindings()).toEqual(BUNDLED);
  });

  test("L63: a missing package excludes only the binding that needs it, with a clear message", async () => {
    write("good.mjs");
    write("needs.mjs", { before: 'import "a-package-that-is-not-there";' });
    const bindings = manager();
    expect(await bindings.getAvailableBindings()).toEqual([...BUNDLED, "good"].toSorted());
    expect(bindings.problems.get("needs")).toMatch(/^cannot be loaded: .*a-package-that-is-not-there/);
  });

  test("L63: the package's bindings need no optional package", async () => {
    const own = new LollmsMCPBindingManager();
    expect(await own.getAvailableBindings()).toEqual(BUNDLED);
    expect(own.problems.size).toBe(0);
  });
});

describe("a custom binding over plain HTTP", () => {
  const TOOLS = [
    {
      name: "example_remote_tool",
      description: "Does something remotely.",
      input_schema: { type: "object", properties: { data: { type: "string" } } },
    },
  ];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    if (request.method === "GET" && request.url === "/api/tools") return response.end(JSON.stringify(TOOLS));
    if (request.method !== "POST" || request.url !== "/api/execute/example_remote_tool")
      return response.writeHead(404).end("Tool not found");
    const { data } = JSON.parse(await text(request)) as { data?: string };
    if (data === "hang") return undefined;
    return data === undefined
      ? response.writeHead(418).end("no data")
      : response.end(JSON.stringify({ result: `Executed with ${data}` }));
  }

  async function open(): Promise<RunningServer & { binding: LollmsMCPBinding }> {
    const service = await listen(
      createServer((request, response) => void answer(request, response)),
      { path: "/api" },
    );
    const binding = await new LollmsMCPBindingManager(EXAMPLES).createBinding("my_custom_mcp", {
      api_endpoint: service.url,
    });
    return { ...service, binding: binding! };
  }

  test("L14: lists by GET, executes by POST with JSON parameters, and reports its endpoint", async () => {
    await using service = await open();
    const { binding } = service;
    expect(binding.binding_name).toBe("my_custom_mcp");
    expect(await binding.discover_tools()).toEqual(TOOLS);
    expect(await binding.executeTool("example_remote_tool", { data: "x" })).toEqual({
      output: { result: "Executed with x" },
      status_code: 200,
    });
    expect(binding.get_binding_config()).toEqual({ api_endpoint: service.url });
  });

  test("L14: a refusal has the service's text and status; a late or missing response is an error", async () => {
    await using service = await open();
    const { binding } = service;
    expect(await binding.executeTool("example_remote_tool", {})).toEqual({ error: "no data", status_code: 418 });
    expect(await binding.executeTool("../../tools", {})).toEqual({ error: "Tool not found", status_code: 404 });
    expect(await binding.executeTool("example_remote_tool", { data: "hang" }, { timeout: 0.2 })).toEqual({
      error: "Tool execution failed: API timeout",
      status_code: 504,
    });
    await service.close();
    expect(await binding.discoverTools()).toEqual([]);
    expect(await binding.executeTool("example_remote_tool", {})).toMatchObject({ status_code: 503 });
  });
});
