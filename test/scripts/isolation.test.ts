// Script tools with bubblewrap: their view of the machine, and operations that it prevents.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { probeBwrap } from "../../packages/toolyard/src/runtimes/bwrap/probe.ts";
import { textOf } from "../support/tool-folder.ts";
import { ScriptYard, until } from "../support/script-yard.ts";

const { found } = await probeBwrap();
const BWRAP = '[isolation]\nmode = "bwrap"\n';

/** If the tests run as root, the user inside of the isolation is `nobody`. */
function openYard(): ScriptYard {
  const yard = new ScriptYard();
  chmodSync(yard.folder.path, 0o755);
  return yard;
}

test("reports a tool that requires missing bubblewrap, and refuses a call", async () => {
  await using yard = openYard();
  yard.folder.script("one", "main.sh", "echo ran > proof", `${BWRAP}program = "/no/such/bwrap"\n`);
  const { tools, problems } = await yard.provider.listing();
  expect(tools).toHaveLength(1);
  expect(problems).toEqual([
    {
      source: "scripts",
      subject: "one",
      message: expect.stringMatching(/cannot be called now: Bubblewrap .* is not installed/),
    },
  ]);
  expect(await yard.call("one")).toMatchObject({
    ok: false,
    kind: "unavailable",
    retryable: false,
    message: expect.stringContaining("requires isolation"),
  });
  expect(existsSync(join(yard.folder.path, "one/proof"))).toBe(false);
});

describe("S8: with bubblewrap", () => {
  beforeEach(({ skip }) => skip(!found, "bubblewrap is not on this machine"));

  test.each([
    ["Python", "main.py", "import json, sys\nprint(json.dumps({'got': json.load(sys.stdin)['x']}))"],
    [
      "JavaScript",
      "main.mjs",
      "import { readFileSync } from 'node:fs'; console.log(JSON.stringify({ got: JSON.parse(readFileSync(0, " +
        "'utf8')).x }));",
    ],
    [
      "TypeScript",
      "main.ts",
      "import { readFileSync } from 'node:fs'; enum K { got = 'got' } console.log(JSON.stringify({ [K.got]: " +
        "JSON.parse(readFileSync(0, 'utf8')).x }));",
    ],
    ["shell", "main.sh", 'echo "{\\"progress\\": 1}" >&3; printf \'{"got": "%s"}\' "$TOOL_ARG_X"'],
  ])("a script in %s works as without bubblewrap", async (_, file, text) => {
    await using yard = openYard();
    yard.folder.script("one", file, text, `${BWRAP}[parameters.x]\ntype = "string"\n`);
    expect(await yard.call("one", { x: "hello" })).toMatchObject({
      ok: true,
      result: { structuredContent: { got: "hello" } },
    });
  });

  test("a script sees only its own folder, and writes only to `write` and /tmp", async () => {
    await using yard = openYard();
    yard.folder.write("two/secret", "of another tool");
    yard.folder.write("one/data", "its own");
    const text =
      `cat data; cat ${yard.folder.path}/two/secret; ls ${yard.folder.path} /root /home; echo x > made; ` +
      "echo x > /tmp/made && echo tmp; echo kept > out/file; true";
    yard.folder.script("one", "main.sh", text, `${BWRAP}write = ["out"]\n`);
    yard.folder.write("one/out/.keep", "");
    chmodSync(join(yard.folder.path, "one/out"), 0o777);
    const outcome = await yard.call("one");
    expect(textOf(outcome).split("\n").at(0)).toContain("its own");
    expect(textOf(outcome)).not.toContain("another tool");
    expect(textOf(outcome)).toContain("tmp");
    expect(existsSync(join(yard.folder.path, "one/made"))).toBe(false);
    expect(existsSync(join(yard.folder.path, "one/out/file"))).toBe(true);
  });

  test("libraries and the folders in `read` are visible", async () => {
    await using yard = openYard();
    yard.folder.write("libs/helper.py", "WORD = 'library'");
    yard.folder.write("more/data", "further");
    yard.folder.script(
      "tools/one",
      "main.py",
      "import helper\nprint(helper.WORD, open('../../more/data').read())",
      `${BWRAP}read = ["../../more"]\n`,
    );
    yard.provide({ tools_path: join(yard.folder.path, "tools"), libraries_path: join(yard.folder.path, "libs") });
    expect(textOf(await yard.call("tools/one"))).toBe("library further");
  });

  test("refuses a folder in `write` outside of the tools folder", async () => {
    await using yard = openYard();
    yard.folder.script("one", "main.sh", "echo", `${BWRAP}write = ["../.."]\n`);
    expect(await yard.call("one")).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("`isolation.write`"),
    });
  });

  test("a script reaches no listener of this machine without `network`", async () => {
    await using yard = openYard();
    const server = createServer((socket) => socket.end("heard"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const text = `import socket\nprint(socket.create_connection(("127.0.0.1", ${port}), 5).recv(9).decode())`;
    yard.folder.script("closed", "main.py", text, BWRAP);
    yard.folder.script("open", "main.py", text, `${BWRAP}network = true\n`);
    try {
      expect(textOf(await yard.call("open"))).toBe("heard");
      expect(await yard.call("closed")).toMatchObject({ ok: false, kind: "tool_error" });
    } finally {
      server.close();
    }
  });

  test("reports a signal and a limit as without isolation", async () => {
    await using yard = openYard();
    yard.folder.script("signal", "main.sh", "kill -SEGV $$", BWRAP);
    yard.folder.script("cpu", "main.sh", "while :; do :; done", `${BWRAP}[limits]\ncpu = "1s"\n`);
    expect(await yard.call("signal")).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: expect.stringContaining("was ended by SIGSEGV"),
    });
    expect(await yard.call("cpu")).toMatchObject({
      ok: false,
      kind: "timeout",
      message: expect.stringContaining("`limits.cpu`"),
    });
  });

  test("stops an endless fork bomb at `procs`, and leaves no process at the deadline", async () => {
    await using yard = openYard();
    const bomb =
      "import os, time\nsigns = 0\nwhile True:\n  try:\n    os.fork()\n  except OSError:\n    time.sleep(0.01)";
    yard.folder.script("one", "main.py", bomb, `${BWRAP}[limits]\nprocs = 30\n`);
    expect(await yard.call("one", {}, { timeoutMs: 1500 })).toMatchObject({ ok: false, kind: "timeout" });
    await until(() => processesNamed(join(yard.folder.path, "one")) === 0);
  });

  test("when a call ends, ends its daemon that has left the process group and emptied its environment", async () => {
    await using yard = openYard();
    yard.folder.script(
      "one",
      "main.sh",
      `setsid env -i /usr/bin/python3 -c 'import time; name="${yard.folder.path}"; ` +
        "time.sleep(600)' >/dev/null 2>&1 3>&- 4>&- & sleep 0.2; echo started",
      BWRAP,
    );
    expect(textOf(await yard.call("one"))).toBe("started");
    await until(() => processesNamed(yard.folder.path) === 0);
  });

  test.each([
    [
      "Python",
      "main.py",
      "import os\nn = 0\ndef run():\n  global n\n  n += 1\n" +
        "  return {'n': n, 'uid': os.getuid(), 'root': os.path.exists('/etc/passwd')}",
    ],
    [
      "JavaScript",
      "main.mjs",
      "import { existsSync } from 'node:fs'; let n = 0; export const run = () => ({ n: (n += 1), uid: " +
        "process.getuid(), root: existsSync('/etc/passwd') });",
    ],
  ])("warm and bubblewrap combine, in %s: one isolation around a persistent interpreter", async (_, file, text) => {
    await using yard = openYard();
    yard.folder.script("one", file, text, `${BWRAP}[run]\nmode = "warm"\n[limits]\nmemory = "1GB"\nprocs = 64\n`);
    for (const n of [1, 2])
      expect(await yard.call("one")).toMatchObject({
        ok: true,
        result: { structuredContent: { n, uid: 65534, root: false } },
      });
    expect(yard.provider.status().info).toMatchObject({ running: 1 });
  });

  test("as root, reports a folder that `nobody` cannot read", async ({ skip }) => {
    skip(process.getuid?.() !== 0, "only as root");
    await using yard = openYard();
    yard.folder.script("one", "main.sh", "echo", BWRAP);
    chmodSync(join(yard.folder.path, "one"), 0o700);
    expect(await yard.call("one")).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("`nobody` may not read its folder"),
    });
    writeFileSync(join(yard.folder.path, "one/x"), "");
  });
});

/** Returns the number of processes whose command line contains a text. */
function processesNamed(text: string): number {
  const { readdirSync, readFileSync } = process.getBuiltinModule("node:fs");
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  }).length;
}
