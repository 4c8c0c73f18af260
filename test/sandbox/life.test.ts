import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChildSettings } from "../../packages/toolyard/src/sandbox/child-messages.ts";
import { distFolder, lockedArguments } from "../../packages/toolyard/src/sandbox/node-flags.ts";
import { echoHost, embedded, valueOf, type DrivenEmbedded } from "./drive.ts";

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "toolyard-sandbox-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Starts a run and resolves once it is inside of a tool call. */
async function inCall(
  sandbox: DrivenEmbedded,
  session?: string,
): Promise<{ outcome: ReturnType<DrivenEmbedded["run"]>; signal: AbortController }> {
  const signal = new AbortController();
  let markCalled!: () => void;
  const called = new Promise<void>((resolve) => (markCalled = resolve));
  const host = echoHost({ hang: () => (markCalled(), new Promise(() => {})) });
  const outcome = sandbox.run({
    host,
    code: "globalThis.x = 1; await tools.hang({})",
    signal: signal.signal,
    ...(session === undefined ? {} : { session }),
  });
  await called;
  return { outcome, signal };
}

describe("the child process", () => {
  test("does not exist before the first run, serves all runs, and exits after dispose", async () => {
    const sandbox = embedded();
    expect(sandbox.engine.pid).toBeUndefined();
    expect(await sandbox.engine.unavailable()).toBeUndefined();
    expect(valueOf(await sandbox.run({ code: "1" }))).toBe(1);
    const { pid } = sandbox.engine;
    expect(isAlive(pid!)).toBe(true);
    await sandbox.run({ code: "2" });
    expect(sandbox.engine.pid).toBe(pid);
    await sandbox.engine.dispose();
    expect(isAlive(pid!)).toBe(false);
    expect(await sandbox.run({ code: "3" })).toMatchObject({
      end: "crashed",
      error: { message: "The sandbox is closed." },
    });
  });

  test("dispose ends running code", async () => {
    const sandbox = embedded();
    const { outcome } = await inCall(sandbox);
    const pid = sandbox.engine.pid!;
    await sandbox.engine.dispose();
    expect(await outcome).toMatchObject({ end: "crashed", toolCalls: [{ name: "hang", ok: false }] });
    expect(isAlive(pid)).toBe(false);
  });

  test("stops after a time without runs, and starts again for the next run", async () => {
    await using sandbox = embedded({ idle: "50ms" });
    await sandbox.run({ code: "1" });
    const { pid } = sandbox.engine;
    await expect.poll(() => isAlive(pid!)).toBe(false);
    expect(valueOf(await sandbox.run({ code: "2" }))).toBe(2);
  });

  test("reports a run with a killed process, and serves the next one with another process", async () => {
    await using sandbox = embedded();
    const { outcome } = await inCall(sandbox);
    const pid = sandbox.engine.pid!;
    process.kill(pid, "SIGKILL");
    expect(await outcome).toMatchObject({
      end: "crashed",
      error: { type: "Crashed", message: expect.stringContaining("next run starts a new one") as string },
    });
    expect(valueOf(await sandbox.run({ code: "2" }))).toBe(2);
    expect(sandbox.engine.pid).not.toBe(pid);
  });

  test("killed between two runs, does not affect the second", async () => {
    await using sandbox = embedded();
    await sandbox.run({ code: "1" });
    process.kill(sandbox.engine.pid!, "SIGKILL");
    expect(valueOf(await sandbox.run({ code: "2" }))).toBe(2);
  });

  test("a caller that disconnects ends its run immediately, also a computing one, and others continue", async () => {
    await using sandbox = embedded();
    const other = inCall(sandbox);
    const waiting = await inCall(sandbox);
    waiting.signal.abort();
    expect(await waiting.outcome).toMatchObject({ end: "cancelled" });
    const looping = new AbortController();
    const host = echoHost({ begin: () => void setImmediate(() => looping.abort()) });
    const loop = await sandbox.run({ host, code: "await tools.begin({}); for (;;) {}", signal: looping.signal });
    expect(loop.end).toBe("cancelled");
    expect(loop.durationMs).toBeLessThan(5000);
    expect(await sandbox.run({ code: "1", signal: AbortSignal.abort() })).toMatchObject({ end: "cancelled" });
    const pid = sandbox.engine.pid;
    (await other).signal.abort();
    await (
      await other
    ).outcome;
    expect(valueOf(await sandbox.run({ code: "4" }))).toBe(4);
    expect(sandbox.engine.pid).toBe(pid);
  });

  test("exits with its hub, also if the hub is killed while code computes", async () => {
    const engine = pathToFileURL(join(dirname(distFolder()), "build", "sandbox", "embedded-engine.js")).href;
    const file = join(scratch, "hub.mjs");
    await writeFile(file, `${HUB.replace("ENGINE", engine)}`);
    const hub = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(hub.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    expect(isAlive(pid)).toBe(true);
    hub.kill("SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test("a run cannot see data of another", async () => {
    await using sandbox = embedded();
    await sandbox.run({ code: "globalThis.left = 1; Array.prototype.left = 1; files.write('left', '1')" });
    expect(valueOf(await sandbox.run({ code: "[typeof left, [].left ?? null, files.list()]" }))).toEqual([
      "undefined",
      null,
      [],
    ]);
  });

  test("has no permissions: its process can read no file and start no process", async () => {
    const file = join(scratch, "probe.mjs");
    await writeFile(file, PROBE);
    let args: readonly string[] = [];
    await using sandbox = embedded(
      {},
      {
        command: (settings) =>
          (args = [process.execPath, ...lockedArguments(settings), `--allow-fs-read=${file}`, file]),
      },
    );
    const outcome = await sandbox.run({ code: "1" });
    expect(JSON.parse(outcome.stdout)).toEqual({
      env: [],
      read: "ERR_ACCESS_DENIED",
      write: "ERR_ACCESS_DENIED",
      spawn: "ERR_ACCESS_DENIED",
      eval: "EvalError",
    });
    expect(args.some((argument) => argument.includes("permission"))).toBe(true);
  });
});

/** A hub that prints the id of the process in which its code runs. */
const HUB = `
import { createEmbeddedEngine } from "ENGINE";
const engine = createEmbeddedEngine();
const limits = { wallMs: 60000, cpuMs: 60000, memoryBytes: 1e8, outputBytes: 1e4, resultBytes: 1e4, toolCalls: 9,
  concurrentToolCalls: 1, toolBytes: 1e4, fileBytes: 0, files: 0 };
const host = { call: async () => (console.log(engine.pid), { ok: true, json: "1" }) };
await engine.run({ language: "javascript", code: "await tools.a(); for (;;) {}", inputs: {}, files: [],
  profile: "scripting", limits }, host, new AbortController().signal);
`;

/** Speaks the child's protocol directly. */
const SPEAK = `
import { Socket } from "node:net";
const hub = new Socket({ fd: 3, readable: true, writable: true });
hub.on("close", () => process.exit(0));
const say = (head, body = Buffer.alloc(0)) => {
  const json = Buffer.from(typeof head === "string" ? head : JSON.stringify(head));
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(json.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  hub.write(Buffer.concat([prefix, json, body]));
};
const done = (over) => ({ type: "done", run: 1, files: [], done: { end: "finished", truncated: false, ...over } });
`;

const PROBE = `${SPEAK}
import { readFileSync, writeFileSync } from "node:fs";
const kindOf = (work) => { try { work(); return "done"; } catch (error) { return error.code ?? error.name; } };
const { spawnSync } = process.getBuiltinModule
  ? process.getBuiltinModule("node:child_process") : await import("node:child_process");
hub.once("data", () => {
  const report = {
    env: Object.keys(process.env).filter((name) => name !== "TOOLYARD_CHILD_ID"),
    read: kindOf(() => readFileSync("/etc/hostname")),
    write: kindOf(() => writeFileSync("/tmp/x-probe", "")),
    spawn: kindOf(() => { const { error } = spawnSync("true"); if (error) throw error; }),
    eval: kindOf(() => new Function("return 1")),
  };
  say({ type: "started", run: 1 });
  say({ type: "output", run: 1, stream: "stdout", text: JSON.stringify(report) });
  say(done({}));
});
`;

describe("a child that sends invalid messages", () => {
  async function speaking(script: string, config = {}): Promise<DrivenEmbedded> {
    const file = join(scratch, `${Math.random().toString(36).slice(2)}.mjs`);
    await writeFile(file, `${SPEAK}\nhub.once("data", () => { say({ type: "started", run: 1 }); ${script} });`);
    let starts = 0;
    const sandbox = embedded(config, {
      command: (settings) => (
        (starts += 1),
        starts === 1 ? [process.execPath, file] : [process.execPath, ...REAL(settings)]
      ),
    });
    return sandbox;
  }
  const REAL = (settings: ChildSettings): string[] => [
    ...lockedArguments(settings),
    join(distFolder(), "sandbox", "child", "main.js"),
  ];

  test.each([
    ["text that is no JSON", `say("{not json");`],
    ["a message of no known type", `say({ type: "constructor", run: 1 });`],
    ["a type named like a member of every object", `say({ type: "__proto__", run: 1 });`],
    ["a call without a number", `say({ type: "call", run: 1, path: "a", json: "{}" });`],
    ["a frame that announces four gigabytes", `hub.write(Buffer.from([255, 255, 255, 255, 255, 255, 255, 255]));`],
    ["a frame that ends in the middle", `hub.end(Buffer.from([0, 0, 0, 9, 0, 0, 0, 0, 1]));`],
    ["random bytes", `hub.write(Buffer.from("GET / HTTP/1.1\\r\\n\\r\\n"));`],
    ["more files than it sends bytes for", `say({ ...done({}), files: [{ path: "a", size: 5 }] });`],
    ["a path that climbs", `say({ ...done({}), files: [{ path: "../a", size: 1 }] }, Buffer.from("x"));`],
    ["its own end", `process.exit(1);`],
  ])("%s: the run is reported as crashed, and the next run succeeds", async (_what, script) => {
    await using sandbox = await speaking(script);
    expect(await sandbox.run({ code: "1" })).toMatchObject({ end: "crashed", error: { type: "Crashed" } });
    await expect.poll(async () => (await sandbox.run({ code: "2" })).end).toBe("finished");
  });

  test("ignores output, results and calls over their limits", async () => {
    const host = echoHost();
    await using floods = await speaking(
      `for (let i = 0; i < 50; i += 1) say({ type: "output", run: 1, stream: "stdout", text: "x".repeat(1000) ` +
        "}); say(done({}));",
      { output: 4000 },
    );
    const flood = await floods.run({ code: "1" });
    expect([flood.stdout.length, flood.truncated]).toEqual([4000, true]);
    await using large = await speaking(`say(done({ resultJson: JSON.stringify("x".repeat(5000)) }));`, {
      result: 1000,
    });
    expect(await large.run({ code: "1" })).toMatchObject({ end: "limit" });
    await using bad = await speaking(`say(done({ resultJson: "{bad" }));`);
    expect(await bad.run({ code: "1" })).toMatchObject({ end: "error" });
    await using calls = await speaking(
      `for (let i = 0; i < 5; i += 1) say({ type: "call", run: 1, id: i, path: "a", json: "{}" });`,
      { tool_calls: 3 },
    );
    expect(await calls.run({ code: "1", host })).toMatchObject({ end: "limit", toolCalls: { length: 3 } });
    await using tools = await speaking(`say({ type: "call", run: 1, id: 1, path: "a", json: "{}" });`);
    expect(await tools.run({ code: "1", host, profile: "restricted" })).toMatchObject({
      end: "crashed",
      toolCalls: [],
    });
  });

  test("ignores messages for runs of another process", async () => {
    await using sandbox = await speaking(
      `say({ type: "output", run: 7, stream: "stdout", text: "other" }); say({ ...done({}), run: 99 }); ` +
        `say(done({ resultJson: "1" }));`,
    );
    expect(await sandbox.run({ code: "1" })).toMatchObject({ end: "finished", stdout: "", resultJson: "1" });
  });

  test("C20: does not wait for a child that never ends a run", async () => {
    await using sandbox = await speaking(``);
    const outcome = await sandbox.run({ code: "1", limits: { wallMs: 100 } });
    expect(outcome.end).toBe("timeout");
    expect(outcome.durationMs).toBeLessThan(20_000);
  });
});

describe("sessions", () => {
  test("keep variables, functions, classes and files; the same names can be declared again", async () => {
    await using sandbox = embedded();
    const session = "a";
    const first = await sandbox.run({
      session,
      code:
        "const s = 1; let t = 2; class K { m() { return 7 } }\nfunction next() { return ++t }\n" +
        "files.write('f', 'x')",
    });
    expect(first).toMatchObject({ end: "finished", session: "new", artifacts: [{ path: "f" }] });
    const second = await sandbox.run({ session, code: "[s, next(), t, new K().m(), files.read('f')]" });
    expect(second).toMatchObject({ session: "kept", artifacts: [] });
    expect(valueOf(second)).toEqual([1, 3, 3, 7, "x"]);
    expect(
      valueOf(await sandbox.run({ session, code: "const s = 5; const { a: t } = { a: 6 }; class K {}\nreturn s + t" })),
    ).toBe(11);
    expect(valueOf(await sandbox.run({ session, language: "typescript", code: "const n: number = s + t; n" }))).toBe(
      11,
    );
    expect(valueOf(await sandbox.run({ session: "b", code: "typeof s" }))).toBe("undefined");
    expect(valueOf(await sandbox.run({ code: "typeof s" }))).toBe("undefined");
  });

  test("an exception keeps the session; a timeout ends it, and the next run reports that", async () => {
    await using sandbox = embedded();
    const session = "a";
    await sandbox.run({ session, code: "let n = 1" });
    expect(await sandbox.run({ session, code: "n = 2; throw new Error('x')" })).toMatchObject({
      end: "error",
      session: "kept",
    });
    expect(valueOf(await sandbox.run({ session, code: "n" }))).toBe(2);
    expect(await sandbox.run({ session, code: "for (;;) {}", limits: { cpuMs: 100 } })).toMatchObject({
      end: "timeout",
      session: "kept",
      sessionEnded: true,
    });
    expect(await sandbox.run({ session, code: "typeof n" })).toMatchObject({
      session: "lost",
      resultJson: '"undefined"',
    });
    expect(await sandbox.run({ session, code: "typeof n" })).toMatchObject({ session: "kept" });
    process.kill(sandbox.engine.pid!, "SIGKILL");
    expect(await sandbox.run({ session, code: "1" })).toMatchObject({ end: "finished", session: "lost" });
  });

  test("run one at a time; a new session replaces the oldest idle one, and is refused if all are busy", async () => {
    await using sandbox = embedded({ sessions: 2 });
    const a = await inCall(sandbox, "a");
    expect(await sandbox.run({ session: "a", code: "1" })).toMatchObject({
      end: "busy",
      error: { message: expect.stringContaining("one program at a time") as string },
    });
    await sandbox.run({ session: "b", code: "1" });
    expect(await sandbox.run({ session: "c", code: "1" })).toMatchObject({ end: "finished", session: "new" });
    expect(await sandbox.run({ session: "b", code: "1" })).toMatchObject({ session: "lost" });
    const b = await inCall(sandbox, "b");
    expect(await sandbox.run({ session: "d", code: "1" })).toMatchObject({
      end: "busy",
      error: { message: expect.stringContaining("All 2 sessions") as string },
    });
    for (const each of [a, b]) each.signal.abort();
    expect(await a.outcome).toMatchObject({ end: "cancelled", sessionEnded: true });
  });

  test("are removed when unused, and the child after them", async () => {
    await using sandbox = embedded({ session_idle: "100ms", idle: "30ms" });
    await sandbox.run({ session: "a", code: "1" });
    const pid = sandbox.engine.pid!;
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await sandbox.run({ session: "a", code: "1" })).toMatchObject({ session: "lost" });
  });

  test("can be disabled", async () => {
    await using sandbox = embedded({ sessions: 0 });
    expect(await sandbox.run({ session: "a", code: "1" })).toMatchObject({
      end: "busy",
      error: { message: expect.stringContaining("switched off") as string },
    });
    expect(await sandbox.run({ code: "1" })).toMatchObject({ end: "finished" });
  });
});
