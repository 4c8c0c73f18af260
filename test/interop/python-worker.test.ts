import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PythonWorker } from "../../scripts/partners/python-worker.mjs";

/** Time limit for a hanging script. */
const TIMEOUT_MS = 120_000;
let folder: string;
let worker: PythonWorker;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-worker-"));
  worker = new PythonWorker("python3", { cwd: folder, env: process.env, timeoutMs: TIMEOUT_MS });
});
afterEach(async () => {
  await worker.close();
  await rm(folder, { recursive: true });
});

async function script(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

const TELLING = `import os, sys
import beside
print(__name__, sys.argv[1:], beside.WORD, "LEFT" in os.environ, os.getpid())
os.environ["LEFT"] = "behind"
`;

test("runs scripts as programs, with their arguments and their folder, all in one process", async () => {
  await script("beside.py", 'WORD = "beside"\n');
  const telling = await script("telling.py", TELLING);
  const first = await worker.run([telling, "1", "two"]);
  expect(first).toMatch(/^__main__ \['1', 'two'\] beside False \d+\n$/);
  expect(await worker.run([telling, "1", "two"])).toBe(first);
});

test("reports a failing script with its output, and runs the next one", async () => {
  const failing = await script("failing.py", 'print("so far")\nraise ValueError("no such room")\n');
  const leaving = await script("leaving.py", 'import sys\nsys.exit("not today")\n');
  await expect(worker.run([failing])).rejects.toThrow(/ended with 1:\nso far\n[^]*ValueError: no such room/);
  await expect(worker.run([leaving])).rejects.toThrow(/ended with 1:\nnot today/);
  expect(await worker.run([await script("well.py", 'print("well")\n')])).toBe("well\n");
});

test("a script that ends its process does not affect others", async () => {
  const ending = await script("ending.py", 'import os, sys\nprint("last words", file=sys.__stderr__)\nos._exit(7)\n');
  await expect(worker.run([ending])).rejects.toThrow(/ended with 7:\nlast words/);
  expect(await worker.run([await script("well.py", 'print("well")\n')])).toBe("well\n");
});

test("output of programs that a script starts does not mix with the answers", async () => {
  const starting = await script("starting.py", 'import subprocess\nsubprocess.run(["echo", "{}"])\nprint("own")\n');
  expect(await worker.run([starting])).toBe("own\n");
});

test("a script that exceeds its time limit does not affect others", async () => {
  const impatient = new PythonWorker("python3", { cwd: folder, env: process.env, timeoutMs: 50 });
  const hanging = await script("hanging.py", "import time\nwhile True: time.sleep(60)\n");
  await expect(impatient.run([hanging])).rejects.toThrow(/ended with SIGKILL/);
  await impatient.close();
});

test("names a missing Python", async () => {
  const nobody = new PythonWorker(join(folder, "no-python"), { cwd: folder, env: {}, timeoutMs: TIMEOUT_MS });
  await expect(nobody.run(["well.py"])).rejects.toThrow(/no-python well\.py ended with ENOENT/);
  await nobody.close();
});
