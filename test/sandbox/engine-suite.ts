// Behaviour that all engines share, with any isolation. Each engine of this machine runs all of it.
import { parseExact, stringifyExact } from "../../packages/toolyard/src/core/json/exact-json.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEngine } from "../../packages/toolyard/src/sandbox/create-engine.ts";
import type { SandboxEngine, SandboxLanguage } from "../../packages/toolyard/src/sandbox/engine.ts";
import {
  resolveSandbox,
  type SandboxConfig,
  type SandboxEngineName,
} from "../../packages/toolyard/src/sandbox/options.ts";
import { denoProgram } from "../support/deno.ts";
import { drive, echoHost, valueOf, type Driven } from "./drive.ts";
import { JAVASCRIPT, PYTHON, type Phrases } from "./engine-phrases.ts";

const SMALL: SandboxConfig = {
  output: 4000,
  result: 4000,
  memory: "96MiB",
  file_bytes: 100_000,
  files: 4,
  tool_calls: 20,
  deno: denoProgram(),
};

export async function openEngine(
  name: SandboxEngineName,
  config: SandboxConfig = {},
): Promise<{ readonly engine: SandboxEngine; readonly driven: Driven }> {
  const options = resolveSandbox({ ...SMALL, ...config });
  const engine = await createEngine(name, options);
  return { engine, driven: drive(engine, options.limits) };
}

/** Returns the reason why the engine is unavailable here; the embedded one is always available. */
export async function reasonToSkip(name: SandboxEngineName): Promise<string | undefined> {
  if (name === "embedded") return undefined;
  const { engine } = await openEngine(name);
  if ((await engine.unavailable()) === undefined) return undefined;
  return name === "deno" ? "Deno is not on this machine" : "bubblewrap is not on this machine";
}

export async function engineSuite(name: SandboxEngineName): Promise<void> {
  const reason = await reasonToSkip(name);
  const { engine } = await openEngine(name);
  for (const language of engine.languages) {
    describe(`${name} runs ${language}`, () => {
      if (reason !== undefined) test("the engine is available", ({ skip }) => skip(reason));
      else if (language === "typescript") typeScriptSuite(name);
      else suite(name, language, language === "python" ? PYTHON : JAVASCRIPT);
    });
  }
}

/** Features of TypeScript beyond JavaScript. */
function typeScriptSuite(name: SandboxEngineName): void {
  let opened: Awaited<ReturnType<typeof openEngine>>;
  beforeAll(async () => {
    opened = await openEngine(name);
  });
  afterAll(() => opened.engine.dispose());
  const run = (code: string, session?: string) =>
    opened.driven.run({ language: "typescript", code, ...(session === undefined ? {} : { session }) });

  test.each([
    ["interface P { readonly a: number }\nconst p: P = { a: 1 };\np.a as number", 1],
    [
      "enum Colour { Red = 1, Blue }\nclass K { constructor(private readonly c: Colour) {} get() { return " +
        "this.c } }\nnew K(Colour.Blue).get()",
      2,
    ],
    [
      "const rs: readonly number[] = await Promise.all([1, 2].map(async (n: number): Promise<number> => n * " +
        "2));\nrs satisfies readonly number[]",
      [2, 4],
    ],
    ["const id = <T,>(x: T): T => x;\nreturn id<string>('r')", "r"],
  ])("returns the value of %s", async (code, value) => {
    expect(valueOf(await run(code))).toEqual(value);
  });

  test("reports errors with lines of the source, and refuses syntax without a JavaScript equivalent", async () => {
    const thrown = await run(
      "interface P {\n  a: number\n}\nfunction f(p: P): never { throw new TypeError(`${p.a}`) }\nf({ a: 1 })",
    );
    expect(thrown.error?.traceback).toContain("at f (code.ts:4:");
    expect(await run("namespace N { export const a = 1 }\nN.a")).toMatchObject({
      end: "error",
      error: { type: "SyntaxError" },
    });
  });

  test("a session keeps declarations", async () => {
    await run("const n: number = 4; class K { m(): number { return n } }", "ts");
    expect(valueOf(await run("await 1; const twice: number = new K().m() * 2; twice", "ts"))).toBe(8);
    expect(valueOf(await run("twice + n", "ts"))).toBe(12);
  });
}

function suite(name: SandboxEngineName, language: SandboxLanguage, phrases: Phrases): void {
  let opened: Awaited<ReturnType<typeof openEngine>>;
  beforeAll(async () => {
    opened = await openEngine(name);
  });
  afterAll(() => opened.engine.dispose());
  const run: Driven["run"] = (parts) => opened.driven.run({ language, ...parts });

  test.each(phrases.values)("returns the value of %s", async (code, value) => {
    const outcome = await run({ code, inputs: { a: 1, list: [3, 1, 2] } });
    expect(outcome).toMatchObject({ end: "finished" });
    expect(valueOf(outcome)).toEqual(value);
  });

  test("passes integers beyond 2^53 exactly as inputs, arguments, answers, files and results", async () => {
    const ids = [
      "1",
      "9007199254740993",
      "-9007199254740993",
      "18446744073709551615",
      "9".repeat(30),
      `-1${"0".repeat(99)}`,
    ];
    const texts = ids.map((id) => `"${id}":{"id":${id}}`);
    const outcome = await run({ code: phrases.integers, inputs: { ids: parseExact(`[${ids.join(",")}]`) } });
    expect(outcome.error).toBeUndefined();
    const [one, through, same, more, named] = valueOf(outcome) as readonly unknown[];
    expect(stringifyExact([one, through, same])).toBe(`[[${ids.join(",")}],[${ids.join(",")}],[${ids.join(",")}]]`);
    expect(stringifyExact(more)).toBe(`[${ids.map((id) => BigInt(id) + 1n).join(",")}]`);
    expect(stringifyExact(named)).toBe(`{${texts.join(",")}}`);
  });

  test("writes output to its stream, and drops the part beyond its limit", async () => {
    expect(await run({ code: phrases.prints })).toMatchObject({
      end: "finished",
      stdout: "to out\n",
      stderr: "to err\n",
      truncated: false,
    });
    const flood = await run({ code: phrases.floods });
    expect(flood).toMatchObject({ end: "finished", truncated: true, resultJson: '"ends"' });
    expect(Buffer.byteLength(flood.stdout)).toBeGreaterThan(3900);
    expect(Buffer.byteLength(flood.stdout)).toBeLessThanOrEqual(4000);
  });

  test.each(phrases.errors)(
    "reports an error of the code with its line and without internal frames: %s",
    async (code, type, line) => {
      const { end, error } = await run({ code });
      expect([end, error?.type]).toEqual(["error", type]);
      expect(error?.traceback).toContain(line);
      expect(error?.traceback).not.toMatch(/node_modules|dist|sandbox|prelude|boot|ext:/u);
    },
  );

  test("makes concurrent tool calls, throws their failures as exceptions, and searches tools", async () => {
    let [open, most] = [0, 0];
    const waiting: (() => void)[] = [];
    const host = echoHost({
      "a.b": async () => {
        most = Math.max(most, (open += 1));
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === 3) for (const go of waiting.splice(0)) go();
        });
        open -= 1;
        return 1;
      },
    });
    const outcome = await run({ host, code: phrases.calls, limits: { concurrentToolCalls: 3 } });
    expect(outcome.error).toBeUndefined();
    expect(valueOf(outcome)).toEqual([6, "tool_error", "the disk is full", true, "find"]);
    expect(most).toBe(3);
    expect(outcome.toolCalls.map(({ name: tool, ok }) => [tool, ok])).toEqual([
      ...Array.from({ length: 6 }, () => ["a.b", true]),
      ["fails", false],
      ["search", true],
    ]);
  });

  test("ends the run at one tool call above the limit; the restricted profile has no calls", async () => {
    const outcome = await run({ code: phrases.endlessCalls, limits: { toolCalls: 3 } });
    expect(outcome).toMatchObject({ end: "limit" });
    expect(outcome.toolCalls).toHaveLength(3);
    expect(await run({ code: phrases.callsTool, profile: "restricted" })).toMatchObject({
      end: "error",
      toolCalls: [],
    });
  });

  test("reads, writes and changes files; unchanged files are not artifacts", async () => {
    const files = ["kept", "changed"].map((path) => ({ path: `in/${path}.txt`, bytes: Buffer.from(path) }));
    const outcome = await run({ code: phrases.files, files });
    expect(outcome.error).toBeUndefined();
    expect(valueOf(outcome)).toBe("kept");
    const artifacts = outcome.artifacts.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]).toSorted();
    expect(artifacts).toEqual([
      ["in/changed.txt", "changed!"],
      ["made.txt", "made"],
    ]);
    expect(["error", "limit"]).toContain((await run({ code: phrases.writesTooMuch })).end);
  });

  test("ends a run with a result over the limit", async () => {
    expect(await run({ code: phrases.largeResult })).toMatchObject({ end: "limit" });
  });

  test("C20: ends a run at its time limit, whether it computes or waits", async () => {
    // On a busy machine the run may get one second of CPU time in half a minute.
    const computes = await run({ code: phrases.loops, limits: { cpuMs: 1500, wallMs: 110_000 } });
    expect(computes).toMatchObject({
      end: "timeout",
      stdout: "begins\n",
      error: {
        type: "Timeout",
        message: expect.stringContaining("computed for longer than 1.5 s (`sandbox.cpu_time`)") as string,
      },
    });
    const host = echoHost({ hang: () => new Promise(() => {}) });
    const waits = await run({ host, code: phrases.hangs, limits: { wallMs: 1500 } });
    expect(waits).toMatchObject({
      end: "timeout",
      error: { message: expect.stringContaining("longer than 1.5 s") as string },
      toolCalls: [{ name: "hang", ok: false }],
    });
  });

  test("waiting does not count as CPU time", async () => {
    expect(await run({ code: phrases.sleeps, limits: { cpuMs: 1000 } })).toMatchObject({
      end: "finished",
      resultJson: '"woke"',
    });
  });

  test.each(phrases.bombs)("ends a run that exceeds its memory: %s", async (code) => {
    expect((await run({ code })).end).toBe("memory");
    expect(valueOf(await run({ code: "1 + 1" }))).toBe(2);
  });

  test("reports endless recursion as an error of the code", async () => {
    expect(await run({ code: phrases.recurses })).toMatchObject({ end: "error" });
  });

  test("a caller that disconnects ends the run, and does not affect others", async () => {
    const going = new AbortController();
    const host = echoHost({ begin: () => void setImmediate(() => going.abort()) });
    const [gone, other] = await Promise.all([
      run({ host, code: phrases.beginsAndLoops, signal: going.signal }),
      run({ code: "1 + 1" }),
    ]);
    expect([gone.end, valueOf(other)]).toEqual(["cancelled", 2]);
  });

  test("a run cannot see another run; a session only sees its own earlier runs", async () => {
    await run({ code: phrases.leaves });
    expect(valueOf(await run({ code: phrases.finds }))).toBe("nothing");
    const session = "mine";
    expect(await run({ session, code: phrases.leaves })).toMatchObject({ session: "new" });
    const kept = await run({ session, code: phrases.finds });
    expect([kept.session, valueOf(kept)]).toEqual(["kept", 7]);
    expect(valueOf(await run({ session: "other", code: phrases.finds }))).toBe("nothing");
    expect(await run({ session, code: phrases.throws })).toMatchObject({ end: "error", session: "kept" });
    expect(valueOf(await run({ session, code: phrases.finds }))).toBe(7);
    expect(await run({ session, code: phrases.loops, limits: { cpuMs: 200 } })).toMatchObject({
      end: "timeout",
      sessionEnded: true,
    });
    expect(await run({ session, code: phrases.finds })).toMatchObject({ session: "lost", resultJson: '"nothing"' });
  });

  test("dispose ends running code, and no run starts afterwards", async () => {
    const { engine, driven } = await openEngine(name);
    let markBegun!: () => void;
    const begun = new Promise<void>((resolve) => (markBegun = resolve));
    const running = driven.run({
      language,
      code: phrases.beginsAndLoops,
      host: echoHost({ begin: () => markBegun() }),
    });
    await begun;
    await engine.dispose();
    expect(await running).toMatchObject({ end: "crashed" });
    expect(await driven.run({ language, code: "1" })).toMatchObject({
      end: "crashed",
      error: { message: "The sandbox is closed." },
    });
  });
}
