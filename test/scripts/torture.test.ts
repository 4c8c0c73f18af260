// Faults of a script tool, for both ways of running it. Each has one clear outcome, in limited time, and leaves no
// child. Cases that need a separate process (daemons, descriptors, command lines) are also in
// packages/toolyard/src/providers/scripts/provider-calls.test.ts.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { withTimeToBegin } from "../fixtures/time-to-begin.ts";
import type { Outcome } from "../../packages/toolyard/src/core/calls/outcome.ts";
import { CHILDREN } from "../../packages/toolyard/src/process/child-registry.ts";
import { textOf } from "../support/tool-folder.ts";
import { ScriptYard, until } from "../support/script-yard.ts";

interface Way {
  readonly way: string;
  readonly toml: string;
  /** Returns a Python script with `x` and `emit(bytes)` in scope, which prints its result. */
  script(body: string): string;
}

const indent = (body: string) =>
  body
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
const EMIT = "def emit(data):\n    sys.stdout.buffer.write(data)\n    sys.stdout.flush()\n";

const WAYS: readonly Way[] = [
  {
    way: "a process a call",
    toml: "",
    script: (body) =>
      `import json, os, subprocess, sys, time, signal\n${EMIT}def main(x=""):\n${indent(body)}\n` +
      "main(**json.load(sys.stdin))",
  },
  {
    way: "a warm interpreter",
    toml: '[run]\nmode = "warm"\n',
    script: (body) => `import json, os, subprocess, sys, time, signal\n${EMIT}def run(x=""):\n${indent(body)}`,
  },
];

const X = '[parameters.x]\ntype = "string"\n';

describe.each(WAYS)("torture, with $way", ({ toml, script }) => {
  function yard(body: string, more = ""): ScriptYard {
    const made = new ScriptYard();
    made.folder.script("one", "main.py", script(body), `${toml}${more}${X}`);
    return made;
  }

  const RECORD = "open('pids', 'a').write('%d\\n' % os.getpid())\n";

  test("ends a tree of processes that fork and ignore SIGTERM at the deadline", async () => {
    const bomb =
      `${RECORD}signal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor depth in range(6):\n    os.fork()\n` +
      `${RECORD}time.sleep(600)`;
    await using made = yard(bomb);
    const outcome = await withTimeToBegin(
      (timeoutMs) => made.call("one", {}, { timeoutMs }),
      () => made.hasLines("one/pids", 11),
    );
    expect(outcome).toMatchObject({ ok: false, kind: "timeout" });
    expect(made.living("one/pids")).toEqual([]);
  });

  test("ends a daemon in another group and session when its call fails", async () => {
    const daemon =
      `p = subprocess.Popen(["sleep", "600"], start_new_session=True)\n` +
      `open("pids", "a").write("%d\\n" % p.pid)\ntime.sleep(600)`;
    await using made = yard(daemon);
    const outcome = await withTimeToBegin(
      (timeoutMs) => made.call("one", {}, { timeoutMs }),
      () => made.hasLines("one/pids", 1),
    );
    expect(outcome).toMatchObject({ ok: false, kind: "timeout" });
    expect(made.living("one/pids")).toEqual([]);
  });

  test("stops a gigabyte of output at the limit", async () => {
    await using made = yard(`${RECORD}for i in range(1000): emit(b"x" * 1000000)`);
    expect(await made.call("one")).toMatchObject({ ok: false, kind: "too_large", details: { maxBytes: 10_000_000 } });
    expect(made.living("one/pids")).toEqual([]);
  });

  test("stops endless output at the limit, also on stderr", async () => {
    await using made = yard(
      `${RECORD}while True: (print if x == "out" else sys.stderr.write)("y" * 1000)`,
      '[limits]\noutput = "500kB"\n',
    );
    for (const x of ["out", "err"])
      expect(await made.call("one", { x })).toMatchObject({ ok: false, kind: "too_large" });
    expect(made.living("one/pids")).toEqual([]);
  });

  test("returns an empty text if there is no output", async () => {
    await using made = yard("pass");
    expect(await made.call("one")).toEqual({ ok: true, result: { content: [{ type: "text", text: "" }] } });
  });

  test("a closed stdin is not a problem; with all three streams closed, the next call is served", async () => {
    await using made = yard(
      `for number in ((0, 1, 2) if x else (0,)): os.close(number)\nif not x: print("fine")\nelse: os._exit(3)`,
    );
    expect(await made.call("one", { x: "all" })).toMatchObject({
      ok: false,
      kind: "tool_error",
      details: { exitCode: 3 },
    });
    expect(textOf(await made.call("one"))).toBe("fine");
  });

  test("gives each of a hundred concurrent calls its own answer", async () => {
    await using made = yard("print(x)");
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => made.call("one", { x: String(index) }, { timeoutMs: 60_000 })),
    );
    expect(outcomes.map(textOf)).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  });

  test("passes 130 kB in one argument, quotes, line ends, NUL and astral characters unchanged", async () => {
    await using made = yard("print(json.dumps({'x': x}))");
    for (const x of ["y".repeat(130_000), "\"'\\\n\r\t$(id)", "a\0b", "🦉ü\u2028"]) {
      expect(await made.call("one", { x })).toMatchObject({ ok: true, result: { structuredContent: { x } } });
    }
  });

  test("marks invalid UTF-8, refuses binary data, and keeps NUL bytes in text", async () => {
    await using made = yard("emit(bytes.fromhex(x))");
    expect(textOf(await made.call("one", { x: "636166e9" }))).toBe("caf\uFFFD");
    expect(await made.call("one", { x: "89504e4700ff" })).toMatchObject({ ok: false, kind: "malformed" });
    expect(textOf(await made.call("one", { x: "610062" }))).toBe("a\0b");
  });

  test("an edit or removal of the script does not affect a running call", async () => {
    await using made = yard(`${RECORD}while not os.path.exists("go"): time.sleep(0.01)\nprint("old")`);
    const call = made.call("one");
    await made.lines("one/pids", 1);
    made.folder.write("one/main.py", script('print("new")'));
    expect(textOf(await made.call("one"))).toBe("new");
    made.folder.remove("one/main.py");
    made.folder.write("one/go", "");
    expect(textOf(await call)).toBe("old");
    expect((await made.provider.listing()).tools).toEqual([]);
  });

  test("breaking and repairing the manifest does not affect a running call", async () => {
    await using made = yard(`${RECORD}while not os.path.exists("go"): time.sleep(0.01)\nprint("done")`);
    const call = made.call("one");
    await made.lines("one/pids", 1);
    made.folder.write("one/tool.toml", "name = ");
    expect((await made.provider.listing()).tools).toEqual([]);
    made.folder.script("one", "main.py", script('print("mended")'), toml + X);
    expect(textOf(await made.call("one"))).toBe("mended");
    made.folder.write("one/go", "");
    expect(textOf(await call)).toBe("done");
  });

  test("a script that kills or crashes its interpreter fails as a tool", async () => {
    await using made = yard("os.kill(os.getpid(), getattr(signal, x))");
    for (const x of ["SIGKILL", "SIGSEGV"])
      expect(await made.call("one", { x })).toMatchObject({
        ok: false,
        kind: "tool_error",
        message: expect.stringContaining(x),
      });
  });

  test("ignores invalid data on the descriptors to the hub", async () => {
    const body =
      'os.write(3, b"junk\\n{\\"end\\": 99}\\n{\\"begin\\": 1, \\"out\\": 7}\\n{\\"id\\": 1}\\n[1]\\n" * ' +
      '50)\nos.write(3, bytes(range(256)) + b"\\n")\nprint("honest")';
    await using made = yard(body);
    expect(textOf(await made.call("one"))).toBe("honest");
  });

  test("a grandchild that keeps the output open delays the answer briefly, and ends with the provider", async () => {
    await using made = yard(
      `p = subprocess.Popen(["sleep", "600"])\nopen("pids", "a").write("%d\\n" % p.pid)\nprint("answer")`,
    );
    expect(textOf(await made.call("one"))).toBe("answer");
    await made.provider.close();
    await until(() => made.living("one/pids").length === 0);
  });
});

test("leaves no child after all cases", async () => {
  await until(() => CHILDREN.count === 0);
  expect(CHILDREN.count).toBe(0);
});

test("S8: a template stays one argument, and is not passed to a shell", async () => {
  await using made = new ScriptYard();
  made.folder.script(
    "one",
    "main.py",
    "import json, sys\nprint(json.dumps({'argv': sys.argv[1:]}))",
    `args = ["--x={x}", "{x}", "{{x}}"]\n${X}`,
  );
  for (const x of ["a b", "$(touch hacked); `touch hacked` && touch hacked", "--flag", "a\nb", "*", ""]) {
    const outcome: Outcome = await made.call("one", { x });
    expect(outcome).toMatchObject({ ok: true, result: { structuredContent: { argv: [`--x=${x}`, x, "{x}"] } } });
  }
  expect(() => made.pids(join("one", "hacked"))).toThrow();
});

test("passes only a value up to 32 kB as a variable; hundreds of arguments still start", async () => {
  await using made = new ScriptYard();
  const names = Array.from({ length: 300 }, (_, index) => `p${index}`);
  const text =
    "import os\nfound = [k for k in os.environ if k.startswith('TOOL_ARG_')]\n" +
    "print('TOOL_ARG_P0' in found, 'TOOL_ARG_P1' in found, len(found) > 10)";
  made.folder.script("one", "main.py", text, names.map((name) => `[parameters.${name}]\ntype = "string"\n`).join(""));
  const args = Object.fromEntries(
    names.map((name, index) => [name, "y".repeat(index === 0 ? 32_769 : index === 1 ? 32_000 : 5000)]),
  );
  expect(textOf(await made.call("one", args))).toBe("False True True");
});
