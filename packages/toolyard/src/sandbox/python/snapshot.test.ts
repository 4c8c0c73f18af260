import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PythonWorker, type PythonJob } from "../../../../../test/support/python-worker.ts";
import { canResume } from "./interpreter.ts";
import { compilePython } from "./module.ts";
import { createSnapshotRoom } from "./snapshot.ts";

const MB = 1_048_576;

let warm: Promise<SharedArrayBuffer> | undefined;

/** Creates a room with a snapshot. The first worker boots and stores none; the second one does. */
function warmRoom(): Promise<SharedArrayBuffer> {
  return (warm ??= (async () => {
    const room = createSnapshotRoom();
    const state = new Int32Array(room, 0, 4);
    for (const stage of [0, 2]) {
      await runFresh(room, "1");
      expect(state[1]).toBe(stage);
    }
    return room;
  })());
}

async function runFresh(room: SharedArrayBuffer, code: string, job?: PythonJob): ReturnType<PythonWorker["run"]> {
  await using worker = new PythonWorker(room);
  return await worker.run(code, job);
}

test("an interpreter from a snapshot behaves like one that booted", async () => {
  const room = await warmRoom();
  const code = `
import asyncio, random, sys, os
async def one(n):
    await asyncio.sleep(0.001)
    return (await tools.t.x(n=n))["n"]
got = await asyncio.gather(*[one(n) for n in range(3)])
seen = "kept" in globals()
kept = True
print("out"); print("err", file=sys.stderr)
open("made.txt", "w").write(str(os.path.exists("made.txt")))
[got, seen, sorted(os.listdir("/")), random.random()]`;
  const runs = [];
  for (const from of [undefined, room, room]) {
    await using worker = new PythonWorker(from);
    runs.push(await worker.run(code));
  }
  for (const run of runs) {
    expect(run).toMatchObject({
      end: "finished",
      stdout: "out\n",
      stderr: "err\n",
      files: { "made.txt": "True" },
      value: [[0, 1, 2], false, ["site", "tmp", "usr", "work"], expect.any(Number)],
    });
  }
  expect(new Set(runs.map(({ value }) => (value as unknown[])[3])).size).toBe(3);
});

test("an interpreter from a snapshot keeps its limits, and reports the same errors", async () => {
  const room = await warmRoom();
  expect(await runFresh(room, "kept = []\nwhile True: kept.append(bytes(1_000_000))")).toMatchObject({ end: "memory" });
  expect(await runFresh(room, "def f(): return f()\nf()")).toMatchObject({
    end: "error",
    error: { type: "RecursionError" },
  });
  expect(await runFresh(room, "import os\nos._exit(1)")).toMatchObject({ end: "error", error: { type: "SystemExit" } });
  expect(await runFresh(room, "import os\nos.abort()")).toMatchObject({ end: "crashed" });
  expect(await runFresh(room, "exit(2)")).toMatchObject({
    end: "error",
    error: { message: expect.stringContaining("exit code 2") },
  });
  expect(
    await runFresh(
      room,
      "import os\nfd = os.open('/.rpc', os.O_RDWR)\nos.write(fd, b'{\"op\":\"park\"}')\nimport time\ntime.time() > 0",
    ),
  ).toMatchObject({ value: true });
  expect(await runFresh(room, "import time\ntime.sleep(60)", { limits: { wallMs: 100 } })).toMatchObject({
    end: "timeout",
  });
  expect(await runFresh(room, "print('x')", { profile: "restricted" })).toMatchObject({ stdout: "x\n" });
});

test("a build without the exports for snapshots cannot be resumed, and the build of this package can", async () => {
  expect(canResume((await compilePython(64 * MB)).module)).toBe(true);
  const other = Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 3, 1, 0, 1]);
  const folder = await mkdtemp(join(tmpdir(), "toolyard-wasm-"));
  try {
    await writeFile(join(folder, "other.wasm"), other);
    await writeFile(join(folder, "text.wasm"), "no wasm at all");
    expect(canResume((await compilePython(64 * MB, join(folder, "other.wasm"))).module)).toBe(false);
    await expect(compilePython(64 * MB, join(folder, "text.wasm"))).rejects.toThrow("no WebAssembly module");
    await expect(compilePython(64 * MB, join(folder, "absent.wasm"))).rejects.toThrow("cannot be read");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("rejects a memory limit that is too small for an interpreter", async () => {
  await expect(compilePython(4 * MB)).rejects.toThrow("Python needs at least 20 MB");
});
