import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { formatDuration } from "../../core/text/duration.ts";
import { withTimeToBegin } from "../../../../../test/fixtures/time-to-begin.ts";
import type { CallNotification } from "../../core/calls/call.ts";
import type { InnerHub } from "../../core/calls/inner-hub.ts";
import type { Models } from "../../core/ports/models.ts";
import { fail, ok, type Outcome } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Provider } from "../../core/sources/provider.ts";
import { callTool, isAlive, resolvedCall, textOf, type CallOptions } from "../../../../../test/support/tool-folder.ts";
import { createModulesProvider } from "./modules-provider.ts";
import { type ModulesConfig, resolveModules } from "./options.ts";

let folder: string;
let lines: string[];
const open: Provider[] = [];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-python-modules-")));
  lines = [];
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((provider) => provider.close()));
  rmSync(folder, { recursive: true, force: true });
});

const logger: Logger = {
  debug: () => {},
  info: (message) => lines.push(`info ${message}`),
  warning: (message) => lines.push(`warning ${message}`),
  error: (message) => lines.push(`error ${message}`),
  with: () => logger,
};

const innerHub: InnerHub = {
  call: ({ tool, arguments: args }) =>
    Promise.resolve(
      tool === "gone"
        ? fail("unknown_tool", "There is no tool gone.")
        : ok({ content: [], structuredContent: { tool, args } }),
    ),
  read: (uri) => Promise.resolve(fail("unknown_tool", `There is no resource ${uri}.`)),
  search: (query, _parent, { limit }) =>
    Promise.resolve({
      hits: [{ name: `${query}:${limit}`, description: "d", score: 1, inputSchema: {}, server: "s" }],
      total: 1,
    }),
  list: () => Promise.resolve([{ name: "one" }, { name: "two" }]),
};

function write(name: string, text: string): string {
  const path = join(folder, "src", name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function start(options: ModulesConfig = {}, models: Models = {}): Provider {
  mkdirSync(join(folder, "src"), { recursive: true });
  const source = { id: "modules", kind: "modules", namespace: "", order: 0 } as const;
  const provider = createModulesProvider({
    source,
    options: resolveModules({ paths: [join(folder, "src")], ...options }),
    logger,
    innerHub,
    models,
    // Python may take longer to start than lists wait by default.
    coldWaitMs: 60_000,
  });
  open.push(provider);
  provider.open();
  return provider;
}

/** Writes a module that registers the function `run` as tool `t`. */
function module(name: string, code: string, schema = "{}"): void {
  write(
    `${name}/mcp.py`,
    `${code}\ndef register_tools(mcp):\n    mcp.register_tool("${name}.t", run, ${schema}, "Does it.")\n`,
  );
}

async function readResource(provider: Provider, uri: string, options: CallOptions = {}): Promise<Outcome> {
  const { templates, resources } = await provider.listing();
  const template = templates[0];
  const resource = resources.find((record) => record.uri === uri);
  return provider.call(
    resolvedCall({ type: "resource", uri, ...(resource ? { resource } : template ? { template } : {}) }, {}, options),
  );
}

function valueOf(outcome: Outcome): unknown {
  expect(outcome).toMatchObject({ ok: true });
  return outcome.ok ? (outcome.result["structuredContent"] ?? JSON.parse(textOf(outcome))) : undefined;
}

const EXPORT = `
import json
import os
from typing import Dict

from .exporter import to_json


def export_gnn_to_json_mcp(gnn_file_path: str, output_file_path: str) -> Dict:
    if not os.path.exists(gnn_file_path):
        raise FileNotFoundError(f"Input GNN file not found: {gnn_file_path}")
    with open(gnn_file_path) as source, open(output_file_path, "w") as target:
        target.write(to_json(source.read()))
    return {"status": "success", "message": "exported", "output_uri": f"file://{os.path.abspath(output_file_path)}"}


def get_model(uri, model_id):
    if model_id == "none":
        return None
    return {"uri": uri, "model": model_id}


def register_tools(mcp_instance):
    mcp_instance.register_tool(
        name="export.export_gnn_to_json_mcp",
        func=export_gnn_to_json_mcp,
        schema={
            "type": "object",
            "properties": {
                "gnn_file_path": {"type": "string", "description": "Path to the input GNN specification file."},
                "output_file_path": {"type": "string", "description": "Path where the JSON output file will be saved."},
            },
            "required": ["gnn_file_path", "output_file_path"],
        },
        description="Exports a GNN model specified by a file path to a JSON file.",
    )
    mcp_instance.register_resource("gnn://models/{model_id}", get_model, "A model by its id")
`;

describe("registrations of a module", () => {
  test("G2: registers mcp.py in a subfolder with the documented calls and with relative imports", async () => {
    write("export/exporter.py", "import json\ndef to_json(text): return json.dumps({'text': text})\n");
    write("export/mcp.py", EXPORT);
    const provider = start();
    const { tools, templates, problems } = await provider.listing();
    expect(problems).toEqual([]);
    expect(tools).toMatchObject([
      {
        name: "export.export_gnn_to_json_mcp",
        qualified: true,
        description: expect.stringContaining("Exports a GNN model"),
        inputSchema: { required: ["gnn_file_path", "output_file_path"] },
      },
    ]);
    expect(templates).toMatchObject([
      { uriTemplate: "gnn://models/{model_id}", definition: { description: "A model by its id" } },
    ]);
    expect(lines).toEqual(
      expect.arrayContaining([
        "info Successfully registered tools from src.export.mcp",
        "info Registered tool: export.export_gnn_to_json_mcp",
      ]),
    );

    writeFileSync(join(folder, "in.gnn"), "model");
    const output = join(folder, "out.json");
    const outcome = await callTool(provider, "export.export_gnn_to_json_mcp", {
      gnn_file_path: join(folder, "in.gnn"),
      output_file_path: output,
    });
    expect(valueOf(outcome)).toEqual({ status: "success", message: "exported", output_uri: `file://${output}` });
    expect(JSON.parse(readFileSync(output, "utf8"))).toEqual({ text: "model" });

    const missing = await callTool(provider, "export.export_gnn_to_json_mcp", {
      gnn_file_path: "nowhere.gnn",
      output_file_path: output,
    });
    expect(missing).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: "Error executing tool 'export.export_gnn_to_json_mcp': Input GNN file not found: nowhere.gnn",
    });
    expect(await readResource(provider, "gnn://models/7")).toMatchObject({
      ok: true,
      result: { contents: [{ mimeType: "application/json", text: '{"uri":"gnn://models/7","model":"7"}' }] },
    });
    expect(await readResource(provider, "gnn://models/none")).toMatchObject({
      ok: false,
      message: "Resource 'gnn://models/none' not found.",
    });
  });

  test("G2: uses mcp.ts and ignores mcp.py in the same folder, and uses meta_mcp.py in a folder mcp", async () => {
    write("a/mcp.mjs", 'export const registerTools = (hub) => hub.registerTool("a.ts", () => 1);');
    module("a", "run = lambda: 1");
    write(
      "mcp/meta_mcp.py",
      'def register_tools(mcp):\n    mcp.register_tool("own.ping", lambda: "pong", {}, "Pings.")\n',
    );
    const provider = start();
    expect((await provider.listing()).tools.map(({ name }) => name).toSorted()).toEqual(["a.ts", "own.ping"]);
    expect(textOf(await callTool(provider, "own.ping"))).toBe("pong");
  });

  test("G5: warns about a module without register_tools", async () => {
    write("empty/mcp.py", "x = 1");
    const { problems } = await start().listing();
    expect(problems).toMatchObject([
      { subject: "src.empty.mcp", message: "Module src.empty.mcp found but has no register_tools function." },
    ]);
  });

  test("G6: reports a module that cannot be loaded, or registers wrongly, and loads the others", async () => {
    write("broken/mcp.py", "def register_tools(mcp):\n  raise KeyError('what')\n");
    write("syntax/mcp.py", "def (:\n");
    write("wrong/mcp.py", 'def register_tools(mcp):\n  mcp.register_tool("w", print, {}, "d", visibility="red")\n');
    module("good", "run = lambda: 1");
    const { tools, problems } = await start().listing();
    expect(tools.map(({ name }) => name)).toEqual(["good.t"]);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Failed to load or register tools from .*broken\/mcp\.py: KeyError: 'what'/),
      expect.stringMatching(/^Failed to load or register tools from .*syntax\/mcp\.py: SyntaxError: /),
      expect.stringMatching(/^Failed to load or register tools from .*wrong\/mcp\.py: Tool `w`: `visibility` must be/),
    ]);
  });

  test("G8: uses the later registration of a name, with a warning", async () => {
    write(
      "a/mcp.py",
      'def register_tools(mcp):\n  mcp.register_tool("x", lambda: 1, {}, "d")\n' +
        '  mcp.register_tool("x", lambda: 2, {}, "d")\n',
    );
    const provider = start();
    expect(textOf(await callTool(provider, "x"))).toBe("2");
    expect(lines).toContain("warning Tool x already registered. Overwriting.");
  });

  test("accepts options, and tools that a running tool registers later", async () => {
    write(
      "a/mcp.py",
      'def register_tools(mcp):\n  mcp.register_tool("more", lambda: mcp.register_tool("later", lambda: ' +
        '"here", {}, "L"), {}, "d", keywords=["k"], visibility="ondemand", timeout="5s", ' +
        'annotations={"readOnlyHint": True})\n',
    );
    const provider = start();
    expect((await provider.listing()).tools).toMatchObject([
      {
        name: "more",
        keywords: ["k"],
        visibility: "ondemand",
        limits: { timeoutMs: 5000 },
        definition: { annotations: { readOnlyHint: true } },
      },
    ]);
    await callTool(provider, "more");
    expect(textOf(await callTool(provider, "later"))).toBe("here");
  });

  test("C22: without Python, reports the module with the reason, and loads it when Python is present", async () => {
    module("a", "run = lambda: 'yes'");
    const { PATH } = process.env;
    process.env["PATH"] = folder;
    try {
      const provider = start();
      const { tools, problems } = await provider.listing();
      expect(tools).toEqual([]);
      expect(problems).toMatchObject([
        { subject: "src.a.mcp", message: expect.stringMatching(/Failed to load .*Command `python3` was not found/) },
      ]);
      process.env["PATH"] = PATH;
      await expect.poll(async () => (await provider.listing()).tools.length).toBe(1);
      expect(textOf(await callTool(provider, "a.t"))).toBe("yes");
    } finally {
      process.env["PATH"] = PATH;
    }
  });
});

describe("calling", () => {
  const SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}';

  test.each([
    ["keywords", "def run(a, b=2): return [a, b]", [1, 2]],
    ["further keywords", "def run(**all): return all", { a: 1 }],
    ["one dict", "def run(params): return params", { a: 1 }],
    ["one dict with a default", "def run(params=None): return params", { a: 1 }],
    ["keywords of a bound method", "class K:\n  def run(self, a): return a\nrun = K().run", 1],
    ["an async function", "async def run(a): return a", 1],
    ["a partial", "import functools\nrun = functools.partial(lambda b, a: [a, b], 5)", [1, 5]],
  ])("G57: passes %s to a plain function", async (_, code, value) => {
    module("m", code, SCHEMA);
    expect(valueOf(await callTool(start(), "m.t", { a: 1 }))).toEqual(value);
  });

  test("G57: passes no parameters with the schema {}, or the dict that the function declares", async () => {
    module("m", "def run(): return 'none'");
    module("n", "def run(params): return params");
    const provider = start();
    expect((await provider.listing()).tools[0]).toMatchObject({ inputSchema: { type: "object" } });
    expect(textOf(await callTool(provider, "m.t"))).toBe("none");
    expect(valueOf(await callTool(provider, "n.t", { x: 1 }))).toEqual({ x: 1 });
  });

  test.each([
    ["(uri)", "lambda uri: uri", "x://1/2"],
    ["(uri, variables)", "lambda uri, variables: variables['b']", "2"],
    ["(uri, a, b)", "lambda uri, a, b: a + b", "12"],
    ["(uri, **variables)", "lambda uri, **all: '-'.join(sorted(all.values()))", "1-2"],
    ["(uri, b)", "lambda uri, b: b", "2"],
  ])("G14: calls a retriever with the URI and variables that it declares: %s", async (_, retriever, text) => {
    write("r/mcp.py", `def register_tools(mcp):\n  mcp.register_resource("x://{a}/{b}", ${retriever}, "d")\n`);
    expect(await readResource(start(), "x://1/2")).toMatchObject({ ok: true, result: { contents: [{ text }] } });
  });

  test("returns bytes of a retriever as a blob, and the reason of a failing one", async () => {
    write(
      "r/mcp.py",
      'def register_tools(mcp):\n  mcp.register_resource("b://one", lambda uri: b"\\x00\\x01", "d")\n' +
        '  mcp.register_resource("b://two", lambda uri: 1 / 0, "d")\n',
    );
    const provider = start();
    expect(await readResource(provider, "b://one")).toMatchObject({
      ok: true,
      result: { contents: [{ blob: "AAE=" }] },
    });
    expect(await readResource(provider, "b://two")).toMatchObject({
      ok: false,
      message: "Error retrieving resource 'b://two': division by zero",
    });
  });

  test("G13: returns an exception's message to the caller, logs the traceback, and keeps a JSON-RPC code", async () => {
    module(
      "m",
      "class E(Exception):\n  code = -32602\n  data = {'x': 1}\ndef run(a):\n" +
        "  raise (E('bad') if a == 2 else ValueError('no'))",
      SCHEMA,
    );
    const provider = start();
    expect(await callTool(provider, "m.t", { a: 1 })).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: "Error executing tool 'm.t': no",
    });
    expect(await callTool(provider, "m.t", { a: 2 })).toMatchObject({
      ok: false,
      kind: "invalid_params",
      rpcError: { code: -32602, message: "bad", data: { x: 1 } },
    });
  });

  test("logs printed output of a function as messages of its call, and never adds it to the result", async () => {
    module(
      "m",
      "import os, sys\ndef run():\n  print('one'); print('two', end=''); os.write(1, b'raw\\n'); " +
        "print('err', file=sys.stderr)\n  return 'result'",
    );
    const notifications: CallNotification[] = [];
    const provider = start();
    expect(textOf(await callTool(provider, "m.t", {}, { notifications }))).toBe("result");
    expect(notifications.map(({ params }) => params["data"])).toEqual(["one", "two"]);
    await expect.poll(() => lines).toEqual(expect.arrayContaining(["info raw", "warning err"]));
  });

  test("a function calls, searches and lists tools with the rights of its caller, and reports progress", async () => {
    module(
      "m",
      "from toolyard import call_tool, tools, search_tools, list_tools, progress, ToolError, logger\n" +
        "def run():\n  progress(1, 2, 'half')\n  logger.warning('careful')\n  try: call_tool('gone')\n" +
        "  except ToolError as e: kind = e.kind\n  return [call_tool('x', {'a': 1}), tools.w.get(city='Oslo'), " +
        "search_tools('q', 3)[0]['name'], len(list_tools()), kind]",
    );
    const notifications: CallNotification[] = [];
    const outcome = await callTool(start(), "m.t", {}, { notifications });
    expect(valueOf(outcome)).toEqual([
      { tool: "x", args: { a: 1 } },
      { tool: "w.get", args: { city: "Oslo" } },
      "q:3",
      2,
      "unknown_tool",
    ]);
    expect(notifications.map(({ params }) => params)).toEqual([
      { progress: 1, total: 2, message: "half" },
      { level: "warning", data: "careful" },
    ]);
  });

  test("offers the configured models; without one, the call fails with the reason", async () => {
    module(
      "m",
      "from toolyard import generate_text, generate_image\n" +
        "def run(): return [generate_text('hi'), len(generate_image('cat').data)]",
    );
    const models: Models = {
      generateText: ({ prompt }) => Promise.resolve({ text: prompt.toUpperCase() }),
      generateImage: () => Promise.resolve({ data: new Uint8Array(3), mimeType: "image/png" }),
    };
    expect(valueOf(await callTool(start({}, models), "m.t"))).toEqual(["HI", 3]);
    expect(await callTool(start(), "m.t")).toMatchObject({
      ok: false,
      message: expect.stringContaining("No language model is configured"),
    });
  });

  test("runs calls concurrently", async () => {
    module("m", "import threading\nboth = threading.Barrier(2)\ndef run():\n  both.wait(10)\n  return 'met'");
    const provider = start();
    expect((await Promise.all([callTool(provider, "m.t"), callTool(provider, "m.t")])).map(textOf)).toEqual([
      "met",
      "met",
    ]);
  });

  test("passes `[modules] env` and `inherit_env` to the process, and no other variable of the hub", async () => {
    module("m", "import os\ndef run(): return [os.environ.get(n) for n in ('OWN', 'PASSED', 'KEPT')]");
    process.env["PASSED"] = "p";
    process.env["KEPT"] = "k";
    try {
      expect(valueOf(await callTool(start({ env: { OWN: "o" }, inherit_env: ["PASSED"] }), "m.t"))).toEqual([
        "o",
        "p",
        null,
      ]);
    } finally {
      delete process.env["PASSED"];
      delete process.env["KEPT"];
    }
  });
});

describe("process", () => {
  async function pidOf(provider: Provider, tool: string): Promise<number> {
    return Number(textOf(await callTool(provider, tool)));
  }

  test("when the process dies, the running call reports the reason, and the next starts a new process", async () => {
    module(
      "m",
      "import os\ndef run(die=False):\n  if die: os._exit(3)\n  return os.getpid()",
      '{"type": "object", "properties": {"die": {"type": "boolean"}}}',
    );
    const provider = start();
    const first = await pidOf(provider, "m.t");
    expect(await callTool(provider, "m.t", { die: true })).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("ended with exit code 3"),
    });
    const second = await pidOf(provider, "m.t");
    expect(second).not.toBe(first);
    expect(isAlive(first)).toBe(false);
    expect(lines.filter((line) => line.includes("Overwriting"))).toEqual([]);
    expect((await provider.listing()).tools).toHaveLength(1);
  });

  test("uses a new process after an edit of the module or its imports, and ends the old one", async () => {
    write("m/helper.py", "WORD = 'old'");
    module("m", "import os\nfrom .helper import WORD\ndef run(): return WORD + str(os.getpid())");
    const provider = start();
    const first = textOf(await callTool(provider, "m.t"));
    expect(first).toMatch(/^old\d+$/);
    write("m/helper.py", "WORD = 'new'");
    await expect.poll(async () => textOf(await callTool(provider, "m.t"))).toMatch(/^new\d+$/);
    await expect.poll(() => isAlive(Number(first.slice(3)))).toBe(false);
    write("m/mcp.py", "raise SystemExit('no')");
    await expect.poll(async () => (await provider.listing()).problems.length).toBe(1);
    expect(textOf(await callTool(provider, "m.t"))).toMatch(/^new/);
  });

  test("C20: ends a call past its deadline immediately, replaces its process, and runs other calls", async () => {
    const started = join(folder, "started");
    module(
      "m",
      `import os, time\ndef run(hang=False):\n  if hang:\n    open(${JSON.stringify(started)}, 'w').close()\n` +
        "    while True: time.sleep(60)\n  return os.getpid()",
      '{"type": "object", "properties": {"hang": {"type": "boolean"}}}',
    );
    const provider = start();
    const first = await pidOf(provider, "m.t");
    const outcome = await withTimeToBegin(
      (timeoutMs) => callTool(provider, "m.t", { hang: true }, { timeoutMs }),
      () => existsSync(started),
    );
    expect(outcome).toMatchObject({ ok: false, kind: "timeout" });
    await expect.poll(() => isAlive(first)).toBe(false);
    expect(await pidOf(provider, "m.t")).not.toBe(first);
  });

  test("notifies a cancelled function, and keeps a process whose call has ended", async () => {
    const done = join(folder, "done");
    module(
      "m",
      "import os, time\nfrom toolyard import cancelled, progress\ndef run(wait=False):\n  if wait:\n" +
        "    progress(1)\n    while not cancelled(): time.sleep(0.01)\n" +
        `    open(${JSON.stringify(done)}, 'w').close()\n  return os.getpid()`,
      '{"type": "object", "properties": {"wait": {"type": "boolean"}}}',
    );
    const provider = start();
    const first = await pidOf(provider, "m.t");
    const stop = new AbortController();
    const notifications = { push: () => (stop.abort(), 1) } as unknown as CallNotification[];
    expect(await callTool(provider, "m.t", { wait: true }, { signal: stop.signal, notifications })).toMatchObject({
      ok: false,
      kind: "cancelled",
    });
    await expect.poll(() => existsSync(done)).toBe(true);
    expect(await pidOf(provider, "m.t")).toBe(first);
  });

  test("rejects an answer over the limit, and runs the next call", async () => {
    module(
      "m",
      "def run(big=False): return 'x' * 40_000_000 if big else 'small'",
      '{"type": "object", "properties": {"big": {"type": "boolean"}}}',
    );
    const provider = start();
    expect(await callTool(provider, "m.t", { big: true })).toMatchObject({ ok: false, kind: "too_large" });
    expect(textOf(await callTool(provider, "m.t"))).toBe("small");
  });

  test("runs `on_close` on closing, and ends the process with its children", async () => {
    const closed = join(folder, "closed");
    write(
      "m/mcp.py",
      `import os, subprocess\ndef register_tools(mcp):\n  mcp.register_tool("pids", lambda: [os.getpid(), ` +
        `subprocess.Popen(["sleep", "600"]).pid], {}, "d")\n` +
        `  mcp.on_close(lambda: open(${JSON.stringify(closed)}, "w").close())\n`,
    );
    const provider = start();
    const pids = valueOf(await callTool(provider, "pids")) as number[];
    await provider.close();
    expect(existsSync(closed)).toBe(true);
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await callTool(provider, "pids")).toMatchObject({ ok: false, kind: "unavailable" });
  });

  test("abandons a module that does not load within `timeout`, and leaves nothing running", async () => {
    const pid = join(folder, "pid");
    write("m/mcp.py", `import os, time\nopen(${JSON.stringify(pid)}, "w").write(str(os.getpid()))\ntime.sleep(600)\n`);
    await withTimeToBegin(
      async (timeoutMs) => {
        const provider = start({ timeout: `${timeoutMs}ms` });
        await expect
          .poll(async () => (await provider.listing()).problems)
          .toMatchObject([{ message: expect.stringContaining(`not done after ${formatDuration(timeoutMs)}`) }]);
      },
      () => existsSync(pid) && readFileSync(pid, "utf8") !== "",
    );
    expect(isAlive(Number(readFileSync(pid, "utf8")))).toBe(false);
  });
});
