// Limits that the operating system enforces: tables of a tool.toml and of the section, and the error of each limit.
import { describe, expect, test } from "vitest";
import { findPrlimit, prlimitArguments } from "../../packages/toolyard/src/process/resource-limits.ts";
import { textOf } from "../support/tool-folder.ts";
import { ScriptYard } from "../support/script-yard.ts";

const hasPrlimit = findPrlimit({ env: { PATH: process.env["PATH"] ?? "" } }) !== undefined;
const isRoot = process.getuid?.() === 0;

test("passes limits to prlimit as arguments, in whole seconds, without core files", () => {
  const limits = { memoryBytes: 1000, cpuMs: 1500, processes: 5, openFiles: 20, fileBytes: 300 };
  expect(prlimitArguments(limits, "address-space")).toEqual([
    "--as=1000",
    "--cpu=2:3",
    "--nproc=5",
    "--nofile=20",
    "--fsize=300",
    "--core=0",
  ]);
  expect(prlimitArguments({ memoryBytes: 1000 }, "data")).toEqual(["--data=1000", "--core=0"]);
});

describe.runIf(hasPrlimit)("S8: limits are enforced", () => {
  test("for memory, in Python and in Node, and the same script runs with less data", async () => {
    await using yard = new ScriptYard();
    const limits = '[limits]\nmemory = "256MB"\n[parameters.mb]\ntype = "integer"\n';
    yard.folder.script(
      "py",
      "main.py",
      "import json, sys\nprint(len(bytearray(json.load(sys.stdin)['mb'] * 1000000)))",
      limits,
    );
    yard.folder.script(
      "js",
      "main.mjs",
      "import { readFileSync } from 'node:fs'; console.log(new Uint8Array(JSON.parse(readFileSync(0)).mb * " +
        "1e6).fill(1).length);",
      limits,
    );
    for (const name of ["py", "js"]) {
      expect(textOf(await yard.call(name, { mb: 10 }))).toBe("10000000");
      expect(await yard.call(name, { mb: 1200 })).toMatchObject({
        ok: false,
        kind: "tool_error",
        message: expect.stringMatching(/MemoryError|allocation failed|ended by SIG/),
      });
    }
  });

  test("for CPU time", async () => {
    await using yard = new ScriptYard();
    yard.folder.script("one", "main.sh", "while :; do :; done", '[limits]\ncpu = "1s"\n');
    expect(await yard.call("one")).toMatchObject({
      ok: false,
      kind: "timeout",
      message: expect.stringContaining("`limits.cpu`"),
      details: { cpuMs: 1000 },
    });
  });

  test("for open files and file size", async () => {
    await using yard = new ScriptYard();
    yard.folder.script(
      "open",
      "main.py",
      "files = []\ntry:\n  while len(files) < 100: files.append(open('/dev/null'))\nexcept OSError: print('refused')",
      "[limits]\nfiles = 32\n",
    );
    yard.folder.script("size", "main.sh", "exec head -c 3000000 /dev/zero > big", '[limits]\nfile_size = "1MB"\n');
    expect(textOf(await yard.call("open"))).toBe("refused");
    expect(await yard.call("size")).toMatchObject({
      ok: false,
      kind: "too_large",
      message: expect.stringContaining("1 MB"),
    });
  });

  test("for processes of the hub's user; as root the hub reports that they do not apply", async () => {
    await using yard = new ScriptYard();
    yard.folder.script("one", "main.sh", "#!/usr/bin/env bash\nulimit -u", "[limits]\nprocs = 4000\n");
    expect(textOf(await yard.call("one"))).toBe("4000");
    const { problems } = await yard.provider.listing();
    expect(problems.map(({ message }) => message)).toEqual(
      isRoot ? [expect.stringContaining("`limits.procs` has no effect")] : [],
    );
  });
});

test("`limits.output` of a tool overrides `max_output` of the section, in either direction", async () => {
  await using yard = new ScriptYard();
  yard.folder.script("more", "main.sh", "head -c 30000 /dev/zero | tr '\\0' x", '[limits]\noutput = "1MB"\n');
  yard.folder.script("less", "main.sh", "head -c 3000 /dev/zero | tr '\\0' x", "[limits]\noutput = 100\n");
  yard.provide({ max_output: "10kB" });
  expect(textOf(await yard.call("more"))).toHaveLength(30_000);
  expect(await yard.call("less")).toMatchObject({ ok: false, kind: "too_large", details: { maxBytes: 100 } });
});

test.runIf(hasPrlimit)("applies the section to tools without their own value, member by member", async () => {
  await using yard = new ScriptYard();
  yard.folder.script("plain", "main.sh", "ulimit -n; ulimit -f");
  yard.folder.script("own", "main.sh", "ulimit -n; ulimit -f", "[limits]\nfiles = 50\n");
  yard.provide({ limits: { files: 40, file_size: "5120000" } });
  expect(textOf(await yard.call("plain"))).toBe("40\n10000");
  expect(textOf(await yard.call("own"))).toBe("50\n10000");
});

test.each([
  ['[limits]\nmemory = "much"\n', "`limits.memory`"],
  ["[limits]\nprocs = 0\n", "`limits.procs` must be a whole number from 1"],
  ["limits = 3\n", "`limits` must be a table"],
  ['[run]\nmode = "hot"\n', '`run.mode` must be one of "spawn", "warm"'],
  ['[isolation]\nmode = "docker"\n', '`isolation.mode` must be one of "process", "bwrap"'],
  ['[isolation]\nnetwork = "no"\n', "`isolation.network` must be true or false"],
  ['[isolation]\nwrite = "out"\n', "`isolation.write` must be a list of texts"],
])("withholds a tool with an invalid table, and reports the reason: %j", async (toml, reason) => {
  await using yard = new ScriptYard();
  yard.folder.script("one", "main.sh", "echo", toml);
  const { tools, problems } = await yard.provider.listing();
  expect(tools).toEqual([]);
  expect(problems[0]!.message).toContain(reason);
});

test("reports an unknown key of a table with a suggestion, and offers the tool", async () => {
  await using yard = new ScriptYard();
  yard.folder.script("one", "main.sh", "echo", '[limits]\nmemmory = "1GB"\n');
  const { tools, problems } = await yard.provider.listing();
  expect(tools).toHaveLength(1);
  expect(problems[0]!.message).toBe("unknown key `limits.memmory` was ignored; did you mean `memory`?");
});
