import { afterAll, expect, test } from "vitest";
import { echoHost, embedded, valueOf } from "./drive.ts";

const sandbox = embedded({ output: 4000, result: 4000, tool_bytes: 3000, memory: "48MiB", max_timeout: "20s" });
afterAll(() => sandbox.engine.dispose());
const { run } = sandbox;

test.each([
  ["an endless loop", "console.log('begins'); while (true) {}"],
  ["endless promises", "console.log('begins'); (function again() { Promise.resolve().then(again) })()"],
  ["a regular expression that never ends", "console.log('begins'); /(a+)+$/.test('a'.repeat(40) + 'b')"],
  [
    "a loop that catches everything",
    "console.log('begins'); for (;;) { try { for (;;) {} } catch {} finally { continue } }",
  ],
])("C20: ends %s at its CPU time limit", async (_what, code) => {
  const outcome = await run({ code, limits: { cpuMs: 300 } });
  expect(outcome).toMatchObject({
    end: "timeout",
    stdout: "begins\n",
    error: { type: "Timeout", message: expect.stringContaining("300 ms") as string },
  });
  expect(outcome.durationMs).toBeLessThan(4000);
});

test("C20: ends code whose tool call waits beyond the time limit, and reports that call", async () => {
  let aborted = false;
  const host = echoHost({
    slow: (_args, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve((aborted = true)))),
  });
  const outcome = await run({ host, code: "await tools.slow({})", limits: { wallMs: 200 } });
  expect(outcome).toMatchObject({
    end: "timeout",
    error: { message: expect.stringContaining("longer than 200 ms") as string },
    toolCalls: [{ name: "slow", ok: false }],
  });
  await Promise.resolve();
  expect(aborted).toBe(true);
});

test("does not count time in which the code waits for a tool as CPU time", async () => {
  const host = echoHost({ slow: () => new Promise((resolve) => setTimeout(resolve, 400)) });
  const outcome = await run({
    host,
    code: "await tools.slow({}); await new Promise((r) => setTimeout(r, 200)); 'done'",
    limits: { cpuMs: 250 },
  });
  expect(outcome).toMatchObject({ end: "finished", resultJson: '"done"' });
});

test.each([
  ["strings", "const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)"],
  ["buffers", "const all = []; for (;;) all.push(new Uint8Array(4e6))"],
  ["one array", "new Array(1e8).fill(1)"],
])("memory: ends a run with %s that exceed the memory limit", async (_what, code) => {
  expect(await run({ code })).toMatchObject({
    end: "memory",
    error: { type: "MemoryError", message: expect.stringContaining("`sandbox.memory`") as string },
  });
});

test("memory: a job can have a lower limit than the configured one, but never a higher one", async () => {
  const code = "const b = new Uint8Array(30e6); b.length";
  expect(valueOf(await run({ code, limits: { memoryBytes: 1e9 } }))).toBe(30e6);
  expect(await run({ code, limits: { memoryBytes: 16e6 } })).toMatchObject({ end: "memory" });
  expect(await run({ code: "new Uint8Array(60e6).length", limits: { memoryBytes: 1e9 } })).toMatchObject({
    end: "memory",
  });
});

test.each([
  ["functions", "(function f(n) { return f(n + 1) + 1 })(0)"],
  ["text that is parsed", "JSON.parse('['.repeat(200000) + ']'.repeat(200000))"],
  ["source", "eval('('.repeat(200000))"],
])("endless recursion in %s is an error of the code, and the next run succeeds", async (_what, code) => {
  expect(await run({ code })).toMatchObject({ end: "error" });
  expect(valueOf(await run({ code: "try { (function f() { f() })() } catch (e) { e.name }" }))).toBe("RangeError");
});

test("drops output beyond its limit, reports it, and splits no character", async () => {
  const { end, stdout, truncated } = await run({
    code: "for (let i = 0; i < 5000; i += 1) console.log('é€😀'); 'ends'",
  });
  expect({ end, truncated }).toEqual({ end: "finished", truncated: true });
  expect(Buffer.byteLength(stdout)).toBeGreaterThan(3980);
  expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(4000);
  expect(stdout).not.toContain("�");
});

test.each([
  ["too large", "'x'.repeat(5000)", /4000 are returned/u],
  ["nested too deep", "let v = 1; for (let i = 0; i < 1500; i += 1) v = [v]; v", /deeper than 1000/u],
])("ends a run with a result that is %s", async (_what, code, words) => {
  expect(await run({ code, limits: { resultBytes: 1e6 } })).toMatchObject({
    end: "limit",
    error: { type: "LimitError", message: expect.stringMatching(words) as string },
  });
});

test("ends the run at one call above the limit, and the host receives no more than allowed", async () => {
  const code = "for (let i = 0; i < 9; i += 1) { try { await tools.a({ i }) } catch {} } 'ends'";
  expect(await run({ code, limits: { toolCalls: 9 } })).toMatchObject({ end: "finished" });
  const outcome = await run({ code, limits: { toolCalls: 8 } });
  expect(outcome).toMatchObject({
    end: "limit",
    error: { message: expect.stringMatching(/more than 8 tool calls.*`sandbox\.tool_calls`/u) as string },
  });
  expect(outcome.toolCalls).toHaveLength(8);
});

test("makes no more concurrent calls than allowed; the others wait", async () => {
  let [open, most] = [0, 0];
  const waiting: (() => void)[] = [];
  const host = echoHost({
    a: async () => {
      most = Math.max(most, (open += 1));
      // The calls are answered in groups of three: with fewer concurrent calls, none would be answered.
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 3) for (const answer of waiting.splice(0)) answer();
      });
      open -= 1;
    },
  });
  const outcome = await run({
    host,
    code: "(await Promise.all([...Array(12)].map(() => tools.a({})))).length",
    limits: { concurrentToolCalls: 3 },
  });
  expect(valueOf(outcome)).toBe(12);
  expect(most).toBe(3);
});

test("arguments and answers over their limit are errors that the code can catch", async () => {
  const host = echoHost({ big: () => "y".repeat(4000) });
  const code =
    "const kinds = [];\nfor (const call of [() => tools.a({ t: 'x'.repeat(4000) }), () => tools.big({})]) { " +
    "try { await call() } catch (e) { kinds.push(e.kind ?? e.message) } }\nkinds";
  expect(valueOf(await run({ host, code }))).toEqual([expect.stringContaining("3000 bytes"), "too_large"]);
});

test("a tool that throws in the hub is a ToolError without its message", async () => {
  const host = echoHost({
    broken: () => {
      throw new Error("secret path /etc");
    },
  });
  const { error } = await run({ host, code: "await tools.broken({})" });
  expect(error).toMatchObject({ type: "ToolError", message: "The call failed." });
});

test.each([
  ["code of more than a megabyte", { code: " ".repeat(1024 * 1024 + 1) }],
  ["inputs that are too large", { code: "1", inputs: { t: "x".repeat(4000) } }],
  ["a path that climbs", { code: "1", files: [{ path: "../a", bytes: new Uint8Array(1) }] }],
  [
    "two files with one path",
    {
      code: "1",
      files: [
        { path: "a", bytes: new Uint8Array(1) },
        { path: "a", bytes: new Uint8Array(1) },
      ],
    },
  ],
  ["more files than allowed", { code: "1", limits: { files: 0 }, files: [{ path: "a", bytes: new Uint8Array(1) }] }],
])("refuses %s before it runs code", async (_what, job) => {
  expect(await run(job)).toMatchObject({ end: "limit", error: { type: "LimitError" }, toolCalls: [] });
});

test("runs above the number of slots wait, and the hub answers other calls meanwhile", async () => {
  await using small = embedded({ runs: 2, queue: 2 });
  const gates: (() => void)[] = [];
  const host = echoHost({ gate: () => new Promise<void>((resolve) => gates.push(resolve)) });
  const runs = Array.from({ length: 5 }, () => small.run({ host, code: "await tools.gate({}); 1" }));
  // Two run, two wait, and the fifth is refused immediately.
  expect(await Promise.race(runs)).toMatchObject({ end: "busy", error: { type: "Busy" } });
  const opening = setInterval(() => gates.splice(0).forEach((open) => open()), 5);
  const ends = (await Promise.all(runs)).map(({ end }) => end);
  clearInterval(opening);
  expect(ends.toSorted()).toEqual(["busy", "finished", "finished", "finished", "finished"]);
});
