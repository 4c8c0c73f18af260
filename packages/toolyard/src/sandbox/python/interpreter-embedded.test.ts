import { afterAll, expect, test } from "vitest";
import { PYTHON_LIMITS } from "../../../../../test/support/python-worker.ts";
import { createEmbeddedEngine } from "../embedded-engine.ts";
import type { SandboxHost, SandboxJob, SandboxOutcome } from "../engine.ts";

const engine = createEmbeddedEngine();
afterAll(() => engine.dispose());

const host: SandboxHost = {
  call: async (path, json) =>
    path === "fails.now" ? { ok: false, kind: "denied", message: "not for you", retryable: false } : { ok: true, json },
  search: async (query, limit) => ({ ok: true, json: JSON.stringify({ query, limit }) }),
};

function run(code: string, job: Partial<SandboxJob> = {}): Promise<SandboxOutcome> {
  const whole: SandboxJob = {
    language: "python",
    code,
    inputs: {},
    files: [],
    profile: "scripting",
    limits: PYTHON_LIMITS,
    ...job,
  };
  return engine.run(whole, host, new AbortController().signal);
}

test("runs Python through the restricted child: values, output, tools, search, files", async () => {
  const code = `
import asyncio
rows = open("in.csv").read().split()
got = await asyncio.gather(*[tools.t.x(n=int(row)) for row in rows])
found = search("x", 3)
open("out.txt", "w").write("done")
print("ü")
try:
    await tools.fails.now()
except ToolError as e:
    return [g["n"] for g in got], found["limit"], e.kind`;
  const done = await run(code, { files: [{ path: "in.csv", bytes: Buffer.from("1\n2\n3\n") }] });
  expect(done).toMatchObject({ end: "finished", resultJson: '[[1,2,3],3,"denied"]', stdout: "ü\n" });
  expect(done.toolCalls.map(({ name, ok }) => [name, ok])).toContainEqual(["fails.now", false]);
  expect(done.artifacts.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual([["out.txt", "done"]]);
});

test("L39: ends an endless loop at its time limit, and returns its output", async () => {
  const limits = { ...PYTHON_LIMITS, wallMs: 300 };
  expect(await run("print('before')\nwhile True: pass", { limits })).toMatchObject({
    end: "timeout",
    stdout: "before\n",
    error: { type: "Timeout" },
  });
  expect(await run("import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')", { limits, profile: "restricted" })).toMatchObject({
    end: "timeout",
  });
});

test("keeps variables in a session, and in no other run", async () => {
  await run("secret = 41", { session: "one" });
  expect(await run("secret + 1", { session: "one" })).toMatchObject({ resultJson: "42" });
  expect(await run("secret", { session: "two" })).toMatchObject({ end: "error", error: { type: "NameError" } });
  expect(await run("secret")).toMatchObject({ end: "error", error: { type: "NameError" } });
});

test("returns different random numbers and names in two runs", async () => {
  const code =
    "import random, uuid, os, secrets\n[random.random(), str(uuid.uuid4()), os.urandom(4).hex(), secrets.token_hex(4)]";
  const [one, two] = [await run(code), await run(code)].map((done) => JSON.parse(done.resultJson!) as unknown[]);
  expect(one!.every((value, index) => value !== two![index])).toBe(true);
});

test("ends no other run if an interpreter dies", async () => {
  expect(await run("import os\nos.abort()")).toMatchObject({ end: "crashed" });
  expect(await run("x = []\nwhile True: x.append(bytes(1_000_000))")).toMatchObject({ end: "memory" });
  expect(await run("1 + 1")).toMatchObject({ end: "finished", resultJson: "2" });
});
