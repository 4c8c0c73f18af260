import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withTimeToBegin } from "../../../../../test/fixtures/time-to-begin.ts";
import type { CallNotification } from "../../core/calls/call.ts";
import type { Provider } from "../../core/sources/provider.ts";
import {
  callTool,
  isAlive,
  folderServices,
  testSource,
  textOf,
  ToolFolder,
} from "../../../../../test/support/tool-folder.ts";
import { resolveFolders, type FoldersConfig } from "./options.ts";
import { createFoldersProvider } from "./provider.ts";

let folder: ToolFolder;
const providers: Provider[] = [];

beforeEach(() => {
  folder = new ToolFolder();
});
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
  folder[Symbol.dispose]();
});

function provide(config: Partial<FoldersConfig> = {}): Provider {
  const provider = createFoldersProvider(
    testSource("folders"),
    resolveFolders({ tools_path: folder.path, ...config }),
    folderServices(),
  );
  providers.push(provider);
  return provider;
}

function metadata(name: string, more: object = {}): string {
  return JSON.stringify({
    name,
    description: `Tool ${name}.`,
    input_schema: { type: "object", properties: { x: {} } },
    ...more,
  });
}

function tool(name: string, suffix: string, text: string): void {
  folder.write(`${name}/${name}.mcp.json`, metadata(name));
  folder.write(`${name}/${name}${suffix}`, text);
}

async function list(provider: Provider) {
  const { tools, problems } = await provider.listing();
  return {
    names: tools.map((record) => record.name),
    problems: problems.map(({ subject, message }) => `${subject}: ${message}`),
  };
}

describe("offered tools", () => {
  test("L30, L32: offers a subfolder with both files, and a pair of files in the tools folder itself", async () => {
    tool("one", ".py", "def execute(params): return {}");
    folder.write(
      "flat.mcp.json",
      metadata("flat", { output_schema: { type: "object" }, annotations: { readOnlyHint: true } }),
    );
    folder.write("flat.mjs", "export const execute = () => ({});");
    const { tools, problems } = await provide().listing();
    expect(problems).toEqual([]);
    expect(tools.map((record) => record.name)).toEqual(["flat", "one"]);
    expect(tools[0]).toMatchObject({
      description: "Tool flat.",
      visibility: "native",
      outputSchema: { type: "object" },
      definition: {
        name: "flat",
        inputSchema: { type: "object" },
        outputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
      },
    });
  });

  test.each([
    [
      "the script",
      { "one/one.mcp.json": metadata("one") },
      "one/one.mcp.json: not offered: `one.py` (or .ts, .js, .mjs) is missing next to it",
    ],
    [
      "the metadata",
      { "one/one.py": "def execute(params): pass" },
      "one: not offered: `one.mcp.json` is missing next to the script",
    ],
  ])("L30: without %s, does not offer the tool and reports the reason", async (_, files, problem) => {
    for (const [place, text] of Object.entries(files)) folder.write(place, text);
    expect(await list(provide())).toEqual({ names: [], problems: [problem] });
  });

  test.each([
    ["no name", { name: undefined }, "`name` is missing"],
    ["no description", { description: undefined }, "`description` is missing"],
    ["no input schema", { input_schema: undefined }, "`input_schema` is missing"],
    ["an output schema that is no object", { output_schema: [] }, "`output_schema` must be an object"],
  ])("rejects metadata with %s", async (_, more, message) => {
    folder.write("one/one.mcp.json", metadata("one", more));
    folder.write("one/one.py", "");
    expect(await list(provide())).toEqual({ names: [], problems: [expect.stringContaining(message)] });
  });

  test("drops only the tool whose metadata is not JSON", async () => {
    tool("good", ".py", "def execute(params): pass");
    tool("bad", ".py", "");
    folder.write("bad/bad.mcp.json", "{");
    expect(await list(provide())).toEqual({
      names: ["good"],
      problems: [expect.stringContaining("bad/bad.mcp.json: not offered: the JSON cannot be read")],
    });
  });

  test("the folder's name overrides a different one in the metadata", async () => {
    tool("one", ".py", "def execute(params): return 'ran'");
    folder.write("one/one.mcp.json", metadata("other"));
    const provider = provide();
    expect(await list(provider)).toEqual({
      names: ["one"],
      problems: [expect.stringContaining('its `name` is "other", but the file\'s name is used')],
    });
    expect(textOf(await callTool(provider, "one"))).toBe("ran");
  });

  test("applies run settings in the description, which override the section and which clients do not see", async () => {
    const run = {
      visibility: "ondemand",
      timeout: "5s",
      max_concurrent: 2,
      env: { SETTING: "own" },
      limits: { files: 50 },
      isolation: { mode: "process" },
      run: { mode: "spawn" },
    };
    folder.write("one/one.mcp.json", metadata("one", { ...run, title: "One" }));
    folder.write(
      "one/one.py",
      "import os, subprocess\ndef execute(params): return os.environ['SETTING'] + ' ' + " +
        "subprocess.check_output(['sh', '-c', 'ulimit -n']).decode().strip()",
    );
    tool(
      "two",
      ".py",
      "import subprocess\ndef execute(params): return subprocess.check_output(['sh', '-c', 'ulimit " +
        "-n']).decode().strip()",
    );
    const provider = provide({ limits: { files: 40 } });
    const { tools } = await provider.listing();
    expect(tools[0]).toMatchObject({
      name: "one",
      visibility: "ondemand",
      limits: { timeoutMs: 5000, maxConcurrent: 2 },
    });
    expect(Object.keys(tools[0]!.definition).toSorted()).toEqual(["description", "inputSchema", "name", "title"]);
    if (process.platform !== "linux") return;
    expect(textOf(await callTool(provider, "one"))).toBe("own 50");
    expect(textOf(await callTool(provider, "two"))).toBe("40");
  });

  test.each([
    [{ run: { mode: "hot" } }, "`run.mode` must be one of"],
    [{ limits: { procs: "many" } }, "`limits.procs` must be a whole number"],
    [{ visibility: "hidden" }, "`visibility` is"],
    [{ timeout: "soon" }, "`timeout` must be"],
  ])("does not offer a tool with invalid run settings: %j", async (more, message) => {
    folder.write("one/one.mcp.json", metadata("one", more));
    folder.write("one/one.py", "def execute(params): return 1");
    expect(await list(provide())).toEqual({ names: [], problems: [expect.stringContaining(message)] });
  });

  test("rejects a script that is a link out of the tools folder", async () => {
    folder.write("outside.py", "");
    folder.write("tools/one/one.mcp.json", metadata("one"));
    symlinkSync(join(folder.path, "outside.py"), join(folder.path, "tools/one/one.py"));
    expect(await list(provide({ tools_path: join(folder.path, "tools") }))).toEqual({
      names: [],
      problems: [expect.stringContaining("leads out")],
    });
  });

  test("detects an edit, a removal and a new tool at the next request", async () => {
    tool("one", ".py", "def execute(params): return 1");
    const provider = provide();
    expect(textOf(await callTool(provider, "one"))).toBe("1");
    folder.write("one/one.py", "def execute(params): return 2");
    expect(textOf(await callTool(provider, "one"))).toBe("2");
    tool("two", ".py", "def execute(params): pass");
    expect((await list(provider)).names).toEqual(["one", "two"]);
    folder.remove("one/one.py");
    expect((await list(provider)).names).toEqual(["two"]);
  });
});

const LANGUAGES = [
  [
    "Python",
    ".py",
    {
      echo: "def execute(params): return {'got': params['x']}",
      context:
        "def execute(params, lollms_client_instance=None):\n  lollms_client_instance.logger.info('noted')\n" +
        "  return 'done'",
    },
  ],
  [
    "JavaScript",
    ".js",
    {
      echo: "exports.execute = (params) => ({ got: params.x });",
      context:
        "exports.execute = (params, lollms_client_instance) => { lollms_client_instance.logger.info('noted'); " +
        "return 'done'; };",
    },
  ],
  [
    "JavaScript module",
    ".mjs",
    {
      echo: "export async function execute(params) { return { got: params.x }; }",
      context:
        "export function execute(params, lollms_client_instance = null) { " +
        "lollms_client_instance.logger.info('noted'); return 'done'; }",
    },
  ],
  [
    "TypeScript",
    ".ts",
    {
      echo: "export function execute(params: { x: string }): object { return { got: params.x }; }",
      context:
        "export const execute = (params: object, lollms_client_instance: any) => { " +
        "lollms_client_instance.logger.info('noted'); return 'done'; };",
    },
  ],
] as const;

describe.each(LANGUAGES)("%s", (_, suffix, { echo, context }) => {
  test("L33: passes the parameters as one value to `execute`, and returns its return value", async () => {
    tool("one", suffix, echo);
    expect(await callTool(provide(), "one", { x: "hé" })).toMatchObject({
      ok: true,
      result: { structuredContent: { got: "hé" }, content: [{ text: '{"got":"hé"}' }] },
    });
  });

  test("L34: passes `lollms_client_instance` with a logger to a function that declares it", async () => {
    tool("one", suffix, context);
    const notifications: CallNotification[] = [];
    expect(textOf(await callTool(provide(), "one", {}, { notifications }))).toBe("done");
    expect(notifications).toEqual([
      { method: "notifications/message", params: { level: "info", logger: "one", data: "noted" } },
    ]);
  });
});

describe("Python tools", () => {
  const call = async (text: string, notifications: CallNotification[] = []) => {
    tool("one", ".py", text);
    return callTool(provide(), "one", {}, { notifications });
  };

  test("logs printed output, also of child processes, and never adds it to the result", async () => {
    const notifications: CallNotification[] = [];
    const outcome = await call(
      "import subprocess, sys\ndef execute(params):\n  print('{\"result\": 1}')\n" +
        "  subprocess.run(['echo', 'from a child'])\n  print('err', file=sys.stderr)\n  return {'a': 1}",
      notifications,
    );
    expect(outcome).toMatchObject({ ok: true, result: { structuredContent: { a: 1 } } });
    expect(notifications.map((notification) => notification.params["data"]).toSorted()).toEqual([
      "err",
      "from a child",
      '{"result": 1}',
    ]);
  });

  test("reports an exception with type and message, and logs its traceback without paths", async () => {
    const notifications: CallNotification[] = [];
    const outcome = await call("def execute(params):\n  raise KeyError('nope')", notifications);
    expect(outcome).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: "KeyError: 'nope'",
      result: { isError: true },
    });
    const log = notifications.map((notification) => String(notification.params["data"])).join("\n");
    expect(log).toContain("Traceback");
    expect(log).not.toContain(folder.path);
  });

  test("awaits an async function", async () => {
    expect(
      textOf(await call("import asyncio\nasync def execute(params):\n  await asyncio.sleep(0.01)\n  return 'late'")),
    ).toBe("late");
  });

  test("reports an unavailable service clearly when it is used", async () => {
    const outcome = await call(
      "def execute(params, lollms_client_instance):\n  return lollms_client_instance.tti.generate_image('x')",
    );
    expect(outcome).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("AttributeError: lollms_client_instance.tti is not available here. It offers"),
    });
  });

  test("`getattr` returns its default for an unavailable service, and `hasattr` returns False", async () => {
    expect(
      textOf(
        await call(
          "def execute(params, lollms_client_instance=None):\n" +
            "  return str(getattr(lollms_client_instance, 'tti', None)) + " +
            "str(hasattr(lollms_client_instance, 'tti'))",
        ),
      ),
    ).toBe("NoneFalse");
  });

  test.each([
    ["a missing import", "import no_such_module\ndef execute(params): pass", "ModuleNotFoundError"],
    [
      "an exit of its own",
      "import sys\ndef execute(params): sys.exit(3)",
      "SystemExit: The tool ended itself with code 3",
    ],
    ["a crash", "import os\ndef execute(params): os._exit(9)", "ended with exit code 9 without an answer"],
    ["a value that is a circle", "def execute(params):\n  a = []\n  a.append(a)\n  return a", "RecursionError"],
  ])("reports a clear failure of a tool with %s", async (_, text, message) => {
    expect(await call(text)).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining(message),
    });
  });

  test("converts dates and sets to text and lists, and NaN to null, since JSON has no such values", async () => {
    const outcome = await call(
      "import datetime\ndef execute(params):\n  return {'d': datetime.date(2026, 1, 2), 's': {3}, 'n': " +
        "float('nan'), 'k': {1: 2}}",
    );
    expect(outcome).toMatchObject({
      ok: true,
      result: { structuredContent: { d: "2026-01-02", s: [3], n: null, k: { 1: 2 } } },
    });
  });

  test("imports and reads a file next to the tool", async () => {
    folder.write("one/helper.py", "WORD = 'help'");
    folder.write("one/data.txt", "data");
    expect(textOf(await call("import helper\ndef execute(params): return helper.WORD + open('data.txt').read()"))).toBe(
      "helpdata",
    );
  });

  test("ends a tool that never returns at its deadline, with its child processes", async () => {
    tool(
      "one",
      ".py",
      "import os, subprocess, time\ndef execute(params):\n" +
        "  child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n" +
        "  print(os.getpid(), child.pid, flush=True)\n  time.sleep(600)",
    );
    const notifications: CallNotification[] = [];
    const outcome = await withTimeToBegin(
      (timeoutMs) => callTool(provide(), "one", {}, { timeoutMs, notifications }),
      () => notifications.length > 0,
    );
    expect(outcome).toMatchObject({ ok: false, kind: "timeout" });
    const pids = String(notifications[0]?.params["data"]).split(" ").map(Number);
    expect(pids).toHaveLength(2);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test("does not wait for threads that the tool leaves running", async () => {
    expect(
      textOf(
        await call(
          "import threading, time\ndef execute(params):\n  threading.Thread(target=time.sleep, " +
            "args=(600,)).start()\n  return 'now'",
        ),
      ),
    ).toBe("now");
  });

  test("fails with too_large if the result exceeds the limit", async () => {
    tool("one", ".py", "def execute(params): return 'x' * 3_000_000");
    expect(await callTool(provide({ max_output: "1MB" }), "one")).toMatchObject({ ok: false, kind: "too_large" });
    expect(textOf(await callTool(provide(), "one"))).toHaveLength(3_000_000);
  });
});

describe("JavaScript tools", () => {
  const call = async (text: string, notifications: CallNotification[] = []) => {
    tool("one", ".mjs", text);
    return callTool(provide(), "one", {}, { notifications });
  };

  test("logs output of console.log, and returns a large result completely", async () => {
    const notifications: CallNotification[] = [];
    expect(
      textOf(
        await call("export function execute() { console.log('note'); return 'x'.repeat(3_000_000); }", notifications),
      ),
    ).toHaveLength(3_000_000);
    expect(notifications.map((notification) => notification.params["data"])).toEqual(["note"]);
  });

  test("reports an exception as the tool's failure with type and message", async () => {
    expect(await call("export function execute() { throw new RangeError('too far'); }")).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: "RangeError: too far",
    });
  });

  test("reports an unavailable service clearly when it is used", async () => {
    const outcome = await call(
      "export function execute(params, lollms_client_instance) { return lollms_client_instance.tti.generate('x'); }",
    );
    expect(outcome).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("lollms_client_instance.tti is not available here"),
    });
  });

  test("does not wait for work that the tool leaves running", async () => {
    expect(textOf(await call("export function execute() { setInterval(() => {}, 1000); return 'now'; }"))).toBe("now");
  });
});
