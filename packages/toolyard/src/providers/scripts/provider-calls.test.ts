import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WITHOUT_WAITING_MS } from "../../../../../test/fixtures/cpu-time.ts";
import { withTimeToBegin } from "../../../../../test/fixtures/time-to-begin.ts";
import type { CallNotification } from "../../core/calls/call.ts";
import type { Provider } from "../../core/sources/provider.ts";
import {
  callTool,
  isAlive,
  resolvedCall,
  folderServices,
  testSource,
  textOf,
  ToolFolder,
} from "../../../../../test/support/tool-folder.ts";
import { resolveScripts, type ScriptsConfig } from "./options.ts";
import { createScriptsProvider } from "./provider.ts";

let folder: ToolFolder;
const providers: Provider[] = [];

beforeEach(() => {
  folder = new ToolFolder();
});
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
  folder[Symbol.dispose]();
});

function provide(config: ScriptsConfig = {}): Provider {
  const provider = createScriptsProvider(
    testSource("scripts"),
    resolveScripts({ tools_path: folder.path, ...config }),
    folderServices(),
  );
  providers.push(provider);
  return provider;
}

function pidsIn(file: string): number[] {
  return readFileSync(join(folder.path, file), "utf8").split("\n").filter(Boolean).map(Number);
}

async function fileLines(file: string, count: number): Promise<void> {
  for (;;) {
    try {
      if (pidsIn(file).length >= count) return;
    } catch {
      // The file does not exist yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const X = '[parameters.x]\ntype = "string"\n';

describe("languages", () => {
  test.each([
    ["Python", "main.py", "import json, sys\nprint(json.dumps({'got': json.load(sys.stdin)['x']}))"],
    [
      "JavaScript, module",
      "main.mjs",
      "import { readFileSync } from 'node:fs'; console.log(JSON.stringify({ got: JSON.parse(readFileSync(0, " +
        "'utf8')).x }));",
    ],
    [
      "JavaScript, CommonJS",
      "main.cjs",
      "console.log(JSON.stringify({ got: JSON.parse(require('fs').readFileSync(0, 'utf8')).x }));",
    ],
    [
      "TypeScript",
      "main.ts",
      "import { readFileSync } from 'node:fs'; enum K { got = 'got' } const a: { x: string } = " +
        "JSON.parse(readFileSync(0, 'utf8')); console.log(JSON.stringify({ [K.got]: a.x }));",
    ],
    ["shell", "main.sh", 'printf \'{"got": "%s"}\' "$TOOL_ARG_X"'],
    [
      "bash by its first line",
      "main.sh",
      '#!/usr/bin/env bash\n[[ $TOOL_ARG_X == h* ]] && printf \'{"got": "%s"}\' "$TOOL_ARG_X"',
    ],
    ["a program without suffix", "main", '#!/bin/sh\nprintf \'{"got": "%s"}\' "$TOOL_ARG_X"'],
  ])("C22: passes arguments to a script in %s and returns its answer", async (_, file, text) => {
    folder.script("one", file, text, X);
    const outcome = await callTool(provide(), "one", { x: "hello" });
    expect(outcome).toMatchObject({ ok: true, result: { structuredContent: { got: "hello" } } });
  });

  test("C22: reports a missing runtime with a reason, which is also the failure of a call", async () => {
    folder.script("one", "main.rb", "#!/usr/bin/env no-such-ruby\nputs 1");
    const provider = provide();
    const { problems, tools } = await provider.listing();
    expect(tools).toHaveLength(1);
    expect(problems).toEqual([
      {
        source: "scripts",
        subject: "one",
        message: expect.stringMatching(/cannot be called now: Command `no-such-ruby` was not found/),
      },
    ]);
    expect(await callTool(provider, "one")).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("no-such-ruby"),
    });
  });

  test("detects an installed runtime although no file of the tools has changed", async () => {
    folder.script("one", "main", `#!${folder.path}/bin/interpreter\n`);
    const provider = provide();
    expect((await provider.listing()).problems).toHaveLength(1);
    folder.write(".bin/interpreter", "#!/bin/sh\necho yes\n", 0o755);
    folder.write("bin/interpreter", "#!/bin/sh\necho yes\n", 0o755);
    expect((await provider.listing()).problems).toEqual([]);
    expect(textOf(await callTool(provider, "one"))).toBe("yes");
  });

  test("runs `command` in the tool's folder, and prefers it to `script`", async () => {
    folder.write("one/data.txt", "from the folder");
    folder.write("one/tool.toml", 'name = "one"\ndescription = "d"\ncommand = ["cat", "data.txt"]\n');
    folder.write("two/data.txt", "as an argument");
    folder.write("two/tool.toml", 'name = "two"\ndescription = "d"\ncommand = ["cat"]\nscript = "data.txt"\n');
    const provider = provide();
    expect(textOf(await callTool(provider, "one"))).toBe("from the folder");
    expect(textOf(await callTool(provider, "two"))).toBe("as an argument");
  });

  test("makes `libraries_path` available to the imports of scripts", async () => {
    folder.write("libs/helper.py", "WORD = 'from python'");
    folder.write("libs/helper.js", "module.exports = 'from node';");
    folder.script("tools/py", "main.py", "import helper; print(helper.WORD)");
    folder.script("tools/js", "main.cjs", "console.log(require('helper'))");
    const provider = provide({ tools_path: join(folder.path, "tools"), libraries_path: join(folder.path, "libs") });
    expect(textOf(await callTool(provider, "tools/py"))).toBe("from python");
    expect(textOf(await callTool(provider, "tools/js"))).toBe("from node");
  });
});

describe("tree of libraries", () => {
  test.each([
    ["main.py", "from words.deep import one\nprint(one.WORD)"],
    ["main.cjs", "console.log(require('words/deep/one').WORD);"],
    ["main.mjs", "import { WORD } from 'words/deep/two'; console.log(WORD);"],
    ["main.ts", "import { WORD } from 'words/deep/three'; const word: string = WORD; console.log(word);"],
  ])("%s imports from a subfolder, run once or persistently", async (file, text) => {
    folder.write("libs/words/deep/one.py", "WORD = 'found'");
    folder.write("libs/words/deep/one.js", "exports.WORD = 'found';");
    folder.write("libs/words/deep/two.mjs", "export const WORD = 'found';");
    folder.write("libs/words/deep/three.ts", "export const WORD: string = 'found';");
    folder.script("tools/one", file, text);
    const body = file.endsWith(".py")
      ? "from words.deep import one\ndef run(): return one.WORD"
      : text.replace(/^(import .*?;)?.*$/s, "$1");
    const warm =
      file === "main.cjs"
        ? "const { WORD } = require('words/deep/one'); exports.run = () => WORD;"
        : file === "main.py"
          ? body
          : `${body} export const run = () => WORD;`;
    folder.script("tools/two", file, warm, '[run]\nmode = "warm"\n');
    const provider = provide({ tools_path: join(folder.path, "tools"), libraries_path: join(folder.path, "libs") });
    expect(textOf(await callTool(provider, "tools/one"))).toBe("found");
    expect(textOf(await callTool(provider, "tools/two"))).toBe("found");
  });

  test("names the module in the failure if it is neither a package nor in the libraries", async () => {
    folder.write("libs/other.mjs", "");
    folder.script("tools/one", "main.mjs", "import 'words/none';");
    const provider = provide({ tools_path: join(folder.path, "tools"), libraries_path: join(folder.path, "libs") });
    expect(await callTool(provider, "tools/one")).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("words"),
    });
  });
});

describe("arguments and environment", () => {
  test("passes arguments on stdin, in variables and in templates, each as one item", async () => {
    folder.script(
      "one",
      "main.py",
      "import json, os, sys\nprint(json.dumps({'in': json.load(sys.stdin), 'argv': sys.argv[1:], 'env': {k: v " +
        "for k, v in os.environ.items() if k.startswith('TOOL_ARG')}}))",
      'args = ["--limit={limit}", "--tag", "{tag}", "--", "{text}", "{{x}}"]\n[parameters.limit]\n' +
        'type = "integer"\n[parameters.text]\ntype = "string"\n[parameters.tag]\ntype = "string"\n' +
        '[parameters.my-list]\ntype = "array:string"\n',
    );
    const args = { limit: 3, text: 'a b; $HOME "q"', "my-list": ["a"] };
    const outcome = await callTool(provide(), "one", args);
    expect(outcome).toMatchObject({
      ok: true,
      result: {
        structuredContent: {
          in: args,
          argv: ["--limit=3", "--", 'a b; $HOME "q"', "{x}"],
          env: { TOOL_ARG_LIMIT: "3", TOOL_ARG_TEXT: 'a b; $HOME "q"', TOOL_ARG_MY_LIST: '["a"]' },
        },
      },
    });
  });

  test("passes an argument of 130 kB on stdin only, so that the script starts", async () => {
    folder.script(
      "one",
      "main.py",
      "import json, os, sys\nprint(len(json.load(sys.stdin)['x']), 'TOOL_ARG_X' in os.environ)",
      X,
    );
    expect(textOf(await callTool(provide(), "one", { x: "y".repeat(130_000) }))).toBe("130000 False");
  });

  test("passes a NUL character on stdin, and rejects it on a command line", async () => {
    folder.script("in", "main.py", "import json, sys\nprint(len(json.load(sys.stdin)['x']))", X);
    folder.script("argv", "main.sh", "echo", `args = ["{x}"]\n${X}`);
    const provider = provide();
    expect(textOf(await callTool(provider, "in", { x: "a\0b" }))).toBe("3");
    expect(await callTool(provider, "argv", { x: "a\0b" })).toMatchObject({ ok: false, kind: "invalid_params" });
  });

  test("S8: passes only allow-listed variables, `[env]` and variables named in `pass`", async () => {
    process.env["TOOLYARD_TEST_SECRET"] = "secret";
    process.env["TOOLYARD_TEST_PASSED"] = "passed";
    folder.script("one", "main.sh", "env", '[env]\nOWN = "mine"\npass = ["TOOLYARD_TEST_PASSED"]\n');
    const text = textOf(await callTool(provide(), "one"));
    delete process.env["TOOLYARD_TEST_SECRET"];
    delete process.env["TOOLYARD_TEST_PASSED"];
    expect(text).toMatch(/^OWN=mine$/m);
    expect(text).toMatch(/^TOOLYARD_TEST_PASSED=passed$/m);
    expect(text).toMatch(/^PATH=/m);
    expect(text).not.toContain("TOOLYARD_TEST_SECRET");
  });
});

describe("results", () => {
  test.each([
    ["plain text", "hello\n", { content: [{ type: "text", text: "hello" }] }],
    ["nothing", "", { content: [{ type: "text", text: "" }] }],
    ["an object", '{"a": 1}\n', { content: [{ type: "text", text: '{"a": 1}' }], structuredContent: { a: 1 } }],
    ["a list", "[1, 2]", { content: [{ type: "text", text: "[1, 2]" }] }],
    ["a number", "42\n", { content: [{ type: "text", text: "42" }] }],
    ["half an object", '{"a": ', { content: [{ type: "text", text: '{"a": ' }] }],
    [
      "an MCP result",
      '{"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}], "_meta": {"k": 1}}',
      { content: [{ type: "image", data: "AA==", mimeType: "image/png" }], _meta: { k: 1 } },
    ],
    [
      "an object with other content",
      '{"content": "text"}',
      { content: [{ type: "text", text: '{"content": "text"}' }], structuredContent: { content: "text" } },
    ],
  ])("C12: converts %s on stdout", async (_, stdout, result) => {
    folder.script("one", "main.sh", "cat out");
    folder.write("one/out", stdout);
    expect(await callTool(provide(), "one")).toEqual({ ok: true, result });
  });

  test("reports an MCP result with `isError` as the tool's failure", async () => {
    folder.script("one", "main.sh", `printf '{"content": [{"type": "text", "text": "no"}], "isError": true}'`);
    expect(await callTool(provide(), "one")).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: "no",
      result: { isError: true },
    });
  });

  test("reports another exit code as the tool's failure, with the end of stderr but no path", async () => {
    folder.script("one", "main.py", "import sys\nprint('partial')\nraise ValueError('bad input')");
    const outcome = await callTool(provide(), "one");
    expect(outcome).toMatchObject({
      ok: false,
      kind: "tool_error",
      details: { exitCode: 1 },
      result: { isError: true },
    });
    expect(textOf(outcome)).toContain("ended with exit code 1");
    expect(textOf(outcome)).toContain("ValueError: bad input");
    expect(textOf(outcome)).toContain('File "main.py"');
    expect(textOf(outcome)).not.toContain(folder.path);
  });

  test("reports a script killed by a signal as the tool's failure, with the signal", async () => {
    folder.script("one", "main.sh", "kill -SEGV $$");
    expect(await callTool(provide(), "one")).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("was ended by SIGSEGV"),
    });
  });

  test("converts stderr to log messages and descriptor 3 to progress, in order", async () => {
    folder.script(
      "one",
      "main.sh",
      `echo note >&2; for i in 1 2 3; do echo "{\\"progress\\": $i, \\"total\\": 3, \\"message\\": \\"step ` +
        `$i\\"}" >&3; done; echo done`,
    );
    const notifications: CallNotification[] = [];
    expect(textOf(await callTool(provide(), "one", {}, { notifications }))).toBe("done");
    expect(notifications.filter((notification) => notification.method === "notifications/message")).toEqual([
      { method: "notifications/message", params: { level: "info", logger: "one", data: "note" } },
    ]);
    expect(
      notifications
        .filter((notification) => notification.method === "notifications/progress")
        .map((notification) => notification.params),
    ).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })));
  });

  test("limits many progress and log lines, and keeps the last progress", async () => {
    folder.script(
      "one",
      "main.py",
      "import os, sys\nfor i in range(5001): os.write(3, b'{\"progress\": %d}\\n' % i)\n" +
        "for i in range(5000): print(i, file=sys.stderr)",
    );
    const notifications: CallNotification[] = [];
    await callTool(provide(), "one", {}, { notifications });
    expect(notifications.length).toBeLessThan(500);
    expect(
      notifications.filter((notification) => notification.method === "notifications/progress").at(-1)?.params,
    ).toEqual({
      progress: 5000,
    });
    expect(notifications.at(-1)?.params["data"]).toBe("4800 more log lines were left out.");
  });

  test("marks bytes that are not UTF-8 in text, and rejects binary data with advice", async () => {
    folder.script("latin", "main.sh", "printf 'caf\\351'");
    folder.script("binary", "main.sh", "printf '\\211PNG\\000\\377'");
    const provider = provide();
    expect(textOf(await callTool(provider, "latin"))).toBe("caf\uFFFD");
    expect(await callTool(provider, "binary")).toMatchObject({
      ok: false,
      kind: "malformed",
      message: expect.stringContaining("base64"),
    });
  });
});

describe("faults that give one answer and leave no process", () => {
  test("T34: answers a hundred concurrent calls, each with its own result", async () => {
    folder.script("one", "main.sh", 'echo "$TOOL_ARG_X"', X);
    const provider = provide();
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => callTool(provider, "one", { x: String(index) })),
    );
    expect(outcomes.map(textOf)).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  });

  test("ends a script that hangs, ignores TERM and has a daemon at the deadline", async () => {
    folder.script(
      "one",
      "main.sh",
      "trap '' TERM; sleep 600 & echo $! >> pids; setsid sleep 600 & echo $! >> pids; echo $$ >> pids; " +
        "echo >> begun; while :; do sleep 600; done",
    );
    const { outcome, timeoutMs } = await withTimeToBegin(
      async (timeoutMs) => ({ timeoutMs, outcome: await callTool(provide(), "one", {}, { timeoutMs }) }),
      () => existsSync(join(folder.path, "one/begun")),
    );
    expect(outcome).toMatchObject({ ok: false, kind: "timeout", details: { timeoutMs } });
    expect(pidsIn("one/pids").length).toBeGreaterThanOrEqual(3);
    expect(pidsIn("one/pids").filter(isAlive)).toEqual([]);
  });

  test("ends the script if its caller disconnects", async () => {
    folder.script("one", "main.sh", "echo $$ >> pids; sleep 600");
    const controller = new AbortController();
    const call = callTool(provide(), "one", {}, { signal: controller.signal });
    await fileLines("one/pids", 1);
    controller.abort();
    expect(await call).toMatchObject({ ok: false, kind: "cancelled" });
    expect(pidsIn("one/pids").filter(isAlive)).toEqual([]);
  });

  test("starts no process for a call that was cancelled before its start", async () => {
    folder.script("one", "main.sh", "echo $$ >> pids");
    const outcome = await callTool(provide(), "one", {}, { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ ok: false, kind: "cancelled" });
    expect(() => pidsIn("one/pids")).toThrow();
  });

  test("ends all processes of a fork bomb", async () => {
    folder.script(
      "one",
      "main.sh",
      "trap '' TERM; for i in $(seq 200); do sleep 600 & echo $! >> pids; done; sleep 600",
    );
    const provider = provide();
    const controller = new AbortController();
    const call = callTool(provider, "one", {}, { signal: controller.signal });
    await fileLines("one/pids", 200);
    controller.abort();
    expect(await call).toMatchObject({ ok: false, kind: "cancelled" });
    expect(pidsIn("one/pids").filter(isAlive)).toEqual([]);
  });

  test("waits only briefly for a grandchild that holds the pipes, and ends it", async () => {
    folder.script("one", "main.sh", "sleep 600 & echo $! >> pids; echo answer");
    const startedAt = performance.now();
    expect(textOf(await callTool(provide(), "one"))).toBe("answer");
    expect(performance.now() - startedAt).toBeLessThan(WITHOUT_WAITING_MS);
    const [pid] = pidsIn("one/pids");
    while (isAlive(pid!)) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  test.each([
    ["stdout", "yes"],
    ["stderr", "yes >&2"],
    ["descriptor 3", "yes >&3"],
  ])("ends endless output on %s at the limit", async (_, text) => {
    folder.script("one", "main.sh", `echo $$ >> pids; ${text}`);
    expect(await callTool(provide({ max_output: "1MB" }), "one")).toMatchObject({
      ok: false,
      kind: "too_large",
      message: expect.stringContaining("1 MB"),
    });
    expect(pidsIn("one/pids").filter(isAlive)).toEqual([]);
  });

  test("rejects 30 MB of output by default, and accepts them with a raised limit", async () => {
    folder.script("one", "main.sh", "head -c 30000000 /dev/zero | tr '\\0' x");
    expect(await callTool(provide(), "one")).toMatchObject({ ok: false, kind: "too_large" });
    expect(textOf(await callTool(provide({ max_output: "40MB" }), "one"))).toHaveLength(30_000_000);
  });

  test("reports a script or a folder that was removed after listing as unavailable", async () => {
    folder.script("one", "main.sh", "echo");
    folder.script("two", "main.sh", "echo");
    const provider = provide();
    const [one, two] = (await provider.listing()).tools;
    folder.remove("one/main.sh");
    folder.remove("two");
    expect(await provider.call(resolvedCall({ type: "tool", tool: one! }, {}))).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("was removed"),
    });
    expect(await provider.call(resolvedCall({ type: "tool", tool: two! }, {}))).toMatchObject({
      ok: false,
      kind: "unavailable",
    });
  });

  test("finishes a running call unchanged if its script is edited or removed", async () => {
    folder.script("one", "main.sh", "echo $$ >> pids\nwhile [ ! -e go ]; do sleep 0.01; done\necho old\n");
    const provider = provide();
    const call = callTool(provider, "one");
    await fileLines("one/pids", 1);
    folder.remove("one/main.sh");
    folder.write("one/main.sh", "echo new");
    folder.write("one/go", "");
    expect(textOf(await call)).toBe("old");
    expect(textOf(await callTool(provider, "one"))).toBe("new");
  });

  test("returns the answer of a script that reads nothing and closes its stdin", async () => {
    folder.script("one", "main.sh", "exec <&-; echo fine", X);
    expect(textOf(await callTool(provide(), "one", { x: "y".repeat(1_000_000) }))).toBe("fine");
  });

  test("answers running calls when the provider closes; a second close changes nothing", async () => {
    folder.script("one", "main.sh", "echo $$ >> pids; sleep 600");
    const provider = provide();
    const call = callTool(provider, "one");
    await fileLines("one/pids", 1);
    await Promise.all([provider.close(), provider.close()]);
    expect(await call).toMatchObject({ ok: false, kind: "unavailable", message: expect.stringContaining("closing") });
    expect(pidsIn("one/pids").filter(isAlive)).toEqual([]);
    expect(provider.status()).toEqual({ state: "closed" });
  });
});
