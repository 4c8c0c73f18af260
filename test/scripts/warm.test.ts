// Persistent interpreters of Python and Node, with the same guarantees as a process per call.
import { describe, expect, test } from "vitest";
import type { CallNotification } from "../../packages/toolyard/src/core/calls/call.ts";
import { createFoldersProvider } from "../../packages/toolyard/src/providers/folders/provider.ts";
import { resolveFolders } from "../../packages/toolyard/src/providers/folders/options.ts";
import { callTool, folderServices, testSource, textOf } from "../support/tool-folder.ts";
import { ScriptYard, until } from "../support/script-yard.ts";

const WARM = '[run]\nmode = "warm"\n';
const X = '[parameters.x]\ntype = "string"\n';
const ANY = '[parameters.do]\ntype = "string"\n[parameters.x]\ntype = "string"\n';

const PYTHON = `
import os, sys, time
calls = 0

def run(do="count", x=""):
    global calls
    calls += 1
    if do == "count": return {"pid": os.getpid(), "calls": calls}
    if do == "print": print("one", x)
    if do == "both":
        print("told")
        return {"x": x}
    if do == "text": return x
    if do == "throw": raise ValueError("bad " + x)
    if do == "exit": os._exit(3)
    if do == "leave": sys.exit(4)
    if do == "sleep":
        print("sleeps", file=sys.stderr)
        time.sleep(600)
    if do == "spin":
        while True: pass
    if do == "flood":
        while True: print("y" * 1000)
    if do == "stderr": print("note", file=sys.stderr)
    if do == "progress": os.write(3, b'{"progress": 1, "total": 2}\\n')
    if do == "binary": sys.stdout.buffer.write(b"\\x89PNG\\x00\\xff")
    if do == "stdin": return {"read": sys.stdin.read()}
`;

const NODE = `
import { readFileSync, writeSync } from "node:fs";
let calls = 0;
export async function run({ do: what = "count", x = "" }) {
  calls += 1;
  if (what === "count") return { pid: process.pid, calls };
  if (what === "print") console.log("one", x);
  if (what === "both") { console.log("told"); return { x }; }
  if (what === "text") return x;
  if (what === "throw") throw Object.assign(new Error("bad " + x), { name: "ValueError" });
  if (what === "exit") process.exit(3);
  if (what === "leave") process.exit(4);
  if (what === "sleep") console.error("sleeps");
  if (what === "sleep") await new Promise((resolve) => setTimeout(resolve, 600_000));
  if (what === "spin") for (;;);
  if (what === "flood") for (;;) console.log("y".repeat(1000));
  if (what === "stderr") console.error("note");
  if (what === "progress") writeSync(3, '{"progress": 1, "total": 2}\\n');
  if (what === "binary") process.stdout.write(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]));
  if (what === "stdin") return { read: readFileSync(0, "utf8") };
}
`;

interface Count {
  readonly pid: number;
  readonly calls: number;
}

describe.each([
  ["Python", "main.py", PYTHON],
  ["JavaScript", "main.mjs", NODE],
])("warm, in %s", (_, file, text) => {
  function yard(toml = ""): ScriptYard {
    const made = new ScriptYard();
    made.folder.script("one", file, text, `${WARM}${toml}${ANY}`);
    return made;
  }
  const count = async (made: ScriptYard, options = {}) => {
    const outcome = await made.call("one", {}, options);
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome.result["structuredContent"] as unknown as Count;
  };

  test("starts at the first call, and further calls use the same interpreter", async () => {
    await using made = yard();
    await made.provider.listing();
    expect(made.provider.status().info).toMatchObject({ running: 0 });
    const first = await count(made);
    expect(await count(made)).toEqual({ pid: first.pid, calls: 2 });
    expect(made.provider.status().info).toMatchObject({ running: 1 });
    await made.provider.close();
    await until(() => !isThere(first.pid));
  });

  test("returns the returned value; without one, the printed text", async () => {
    await using made = yard();
    expect(await made.call("one", { do: "print", x: "two" })).toEqual({
      ok: true,
      result: { content: [{ type: "text", text: "one two" }] },
    });
    const notifications: CallNotification[] = [];
    expect(await made.call("one", { do: "both", x: "ü" }, { notifications })).toMatchObject({
      ok: true,
      result: { structuredContent: { x: "ü" } },
    });
    expect(notifications.map((notification) => notification.params["data"])).toEqual(["told"]);
    expect(textOf(await made.call("one", { do: "text", x: "plain" }))).toBe("plain");
    expect(textOf(await made.call("one", { do: "text", x: "y".repeat(200_000) }))).toHaveLength(200_000);
    expect(await made.call("one", { do: "binary" })).toMatchObject({ ok: false, kind: "malformed" });
    expect(await made.call("one", { do: "stdin" })).toMatchObject({
      ok: true,
      result: { structuredContent: { read: "" } },
    });
  });

  test("stderr becomes log messages of the call, and descriptor 3 its progress", async () => {
    await using made = yard();
    const notifications: CallNotification[] = [];
    await made.call("one", { do: "stderr" }, { notifications });
    await made.call("one", { do: "progress" }, { notifications });
    expect(notifications.map((notification) => notification.params)).toEqual([
      { level: "info", logger: "one", data: "note" },
      { progress: 1, total: 2 },
    ]);
  });

  test("an exception is the tool's failure, and the interpreter continues", async () => {
    await using made = yard();
    const { pid } = await count(made);
    const outcome = await made.call("one", { do: "throw", x: "input" });
    expect(outcome).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: "ValueError: bad input",
      result: { isError: true },
    });
    expect((await count(made)).pid).toBe(pid);
  });

  test("an interpreter that exits is a failure with the exit code, and the next call is served", async () => {
    await using made = yard();
    expect(await made.call("one", { do: "exit" })).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("exit code 3"),
    });
    expect(await made.call("one", { do: "leave" })).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("code 4"),
    });
    expect((await count(made)).calls).toBe(file === "main.py" ? 2 : 1);
  });

  test("replaces an interpreter that was killed while idle, without an error for the caller", async () => {
    await using made = yard();
    const { pid } = await count(made);
    process.kill(pid, "SIGKILL");
    expect(await count(made)).toMatchObject({ calls: 1 });
  });

  test.each(["sleep", "spin"])(
    "ends an endless call (%s) at its deadline with its interpreter, and serves the next",
    async (what) => {
      await using made = yard();
      const { pid } = await count(made);
      expect(await made.call("one", { do: what }, { timeoutMs: 400 })).toMatchObject({ ok: false, kind: "timeout" });
      expect(isThere(pid)).toBe(false);
      expect((await count(made)).calls).toBe(1);
    },
  );

  test("a caller that disconnects ends the call and its interpreter", async () => {
    await using made = yard();
    const { pid } = await count(made);
    const controller = new AbortController();
    const notifications: CallNotification[] = [];
    const call = made.call("one", { do: "sleep" }, { signal: controller.signal, notifications });
    await until(() => notifications.length > 0);
    controller.abort();
    expect(await call).toMatchObject({ ok: false, kind: "cancelled" });
    expect((await count(made)).pid).not.toBe(pid);
  });

  test("ends endless output at the limit, and serves the next call", async () => {
    await using made = yard('[limits]\noutput = "1MB"\n');
    const { pid } = await count(made);
    expect(await made.call("one", { do: "flood" })).toMatchObject({
      ok: false,
      kind: "too_large",
      message: expect.stringContaining("1 MB"),
    });
    expect(isThere(pid)).toBe(false);
    expect((await count(made)).calls).toBe(1);
  });

  test.runIf(process.platform === "linux")("`limits.cpu` applies to each call separately", async () => {
    await using made = yard('[limits]\ncpu = "0.3s"\n');
    await count(made);
    expect(await made.call("one", { do: "spin" })).toMatchObject({
      ok: false,
      kind: "timeout",
      details: { cpuMs: 300 },
    });
    expect((await count(made)).calls).toBe(1);
  });

  test("the next call uses an edited script or imported file; a running call keeps the old one", async () => {
    await using made = yard();
    const { pid } = await count(made);
    made.folder.write(`one/${file}`, text.replace("calls += 1", "calls += 10"));
    const second = await count(made);
    expect(second).toMatchObject({ calls: 10 });
    expect(second.pid).not.toBe(pid);
    made.folder.write("one/helper.py", "");
    expect((await count(made)).pid).not.toBe(second.pid);
  });

  test("the next call uses an edited manifest", async () => {
    await using made = yard();
    const { pid } = await count(made);
    made.folder.script("one", file, text, `${WARM}[env]\nSETTING = "new"\n${ANY}`);
    expect((await count(made)).pid).not.toBe(pid);
  });

  test("`workers` limits the number of interpreters, and further calls wait", async () => {
    await using made = yard();
    const counts = await Promise.all(Array.from({ length: 12 }, () => count(made)));
    expect(new Set(counts.map(({ pid }) => pid)).size).toBeLessThanOrEqual(2);
    expect(counts.reduce((sum, { calls }) => sum + (calls === 1 ? 1 : 0), 0)).toBeLessThanOrEqual(2);
  });

  test("an interpreter is replaced after `max_calls`, and ends after `idle`", async () => {
    await using made = new ScriptYard();
    made.folder.script("one", file, text, `[run]\nmode = "warm"\nmax_calls = 2\nidle = "50ms"\n${ANY}`);
    const first = await count(made);
    expect(await count(made)).toEqual({ pid: first.pid, calls: 2 });
    const second = await count(made);
    expect(second.calls).toBe(1);
    await until(() => !isThere(second.pid));
  });
});

test("reports a file that does not load at each call, until it is fixed", async () => {
  await using made = new ScriptYard();
  made.folder.script("py", "main.py", "import no_such_module\ndef run(): pass", WARM);
  made.folder.script("js", "main.mjs", "export const other = 1;", WARM);
  for (let time = 0; time < 2; time += 1) {
    expect(await made.call("py")).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("no_such_module"),
    });
    expect(await made.call("js")).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("exports no function `run(arguments)`"),
    });
  }
  made.folder.write("js/main.mjs", "export const run = () => 'mended';");
  expect(textOf(await made.call("js"))).toBe("mended");
});

test("TypeScript and CommonJS interpreters are persistent, too", async () => {
  await using made = new ScriptYard();
  made.folder.script(
    "ts",
    "main.ts",
    "enum K { a = 'from ts' }\nexport function run({ x }: { x: string }): string { return K.a + x; }",
    WARM + X,
  );
  made.folder.script("cjs", "main.cjs", "exports.run = ({ x }) => 'from cjs' + x;", WARM + X);
  expect(textOf(await made.call("ts", { x: "!" }))).toBe("from ts!");
  expect(textOf(await made.call("cjs", { x: "!" }))).toBe("from cjs!");
});

test("the helpers work as in a separate process: arguments and results belong to their call", async () => {
  await using made = new ScriptYard();
  made.folder.script(
    "py",
    "main.py",
    "import toolyard\ndef run(**_):\n  toolyard.return_object({'x': toolyard.get('x')})",
    WARM + X,
  );
  made.folder.script(
    "js",
    "main.mjs",
    "import { get, returnObject } from 'toolyard/script';\nexport const run = () => returnObject({ x: get('x') });",
    WARM + X,
  );
  for (const name of ["py", "js"]) {
    for (const x of ["a", "b"])
      expect(await made.call(name, { x })).toMatchObject({ ok: true, result: { structuredContent: { x } } });
  }
});

test("refuses mode warm for scripts that cannot persist, and ignores the section's mode warm for them", async () => {
  await using made = new ScriptYard();
  made.folder.script("sh", "main.sh", "echo shell");
  made.folder.script("own", "main.sh", "echo", WARM);
  made.folder.script("args", "main.py", "def run(): pass", `args = ["{x}"]\n${WARM}${X}`);
  made.folder.script("py", "main.py", "def run():\n  return 'python'");
  const provider = made.provide({ run: { mode: "warm" } });
  const { tools, problems } = await provider.listing();
  expect(tools.map((tool) => tool.name)).toEqual(["py", "sh"]);
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringContaining("`args` has no meaning"),
    expect.stringContaining("needs a `script` in Python"),
  ]);
  expect(textOf(await made.call("sh"))).toBe("shell");
  expect(textOf(await made.call("py"))).toBe("python");
});

test("`execute` of a tool folder persists too: logs its output, and keeps its client instance", async () => {
  await using made = new ScriptYard();
  const metadata = (name: string) =>
    JSON.stringify({ name, description: "d", input_schema: { type: "object" }, run: { mode: "warm" } });
  made.folder.write("py/py.mcp.json", metadata("py"));
  made.folder.write(
    "py/py.py",
    "n = 0\ndef execute(params, lollms_client_instance=None):\n  global n\n  n += 1\n  print('printed')\n" +
      "  lollms_client_instance.logger.info('logged')\n  return {'n': n}",
  );
  made.folder.write("js/js.mcp.json", metadata("js"));
  made.folder.write(
    "js/js.mjs",
    "let n = 0;\nexport const execute = (params, client) => { console.log('printed'); " +
      "client.logger.info('logged'); return { n: (n += 1) }; };",
  );
  const provider = createFoldersProvider(
    testSource("folders"),
    resolveFolders({ tools_path: made.folder.path }),
    folderServices(),
  );
  try {
    for (const name of ["py", "js"]) {
      expect((await provider.listing()).tools.find((tool) => tool.name === name)!.definition).not.toHaveProperty("run");
      for (const n of [1, 2]) {
        const notifications: CallNotification[] = [];
        expect(await callTool(provider, name, {}, { notifications })).toMatchObject({
          ok: true,
          result: { structuredContent: { n } },
        });
        expect(notifications.map((notification) => notification.params["data"]).toSorted()).toEqual([
          "logged",
          "printed",
        ]);
      }
    }
  } finally {
    await provider.close();
  }
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
