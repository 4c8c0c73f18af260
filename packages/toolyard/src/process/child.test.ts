import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { FailError } from "../core/errors.ts";
import { ChildRegistry } from "./child-registry.ts";
import { spawnChild, type Child, type SpawnOptions } from "./child.ts";
import { childEnvironment } from "./environment.ts";
import { readProcess } from "./process-table.ts";

const children: Child[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill(0)));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function start(command: string, args: readonly string[], options: Partial<SpawnOptions> = {}): Promise<Child> {
  const child = await spawnChild({ command, args, env: childEnvironment(), ...options });
  children.push(child);
  return child;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "toolyard-process-"));
  folders.push(path);
  return path;
}

async function failureOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof FailError) return error.failure;
  throw new Error(`expected a FailError, got ${String(error)}`);
}

async function firstLine(child: Child): Promise<string> {
  let text = "";
  while (!text.includes("\n")) text += String((await once(child.stdout, "data"))[0]);
  return text.slice(0, text.indexOf("\n"));
}

function isAlive(pid: number): boolean {
  const row = readProcess(pid);
  return row !== undefined && !row.isZombie;
}

describe("spawnChild", () => {
  test("a child reads stdin, writes to stdout and descriptor 3, and reports how it exited", async () => {
    const child = await start("sh", ["-c", 'read -r line; echo "got $line"; echo extra >&3; exit 7'], {
      extraPipes: 1,
    });
    child.stdin.end("hello\n");
    const extra = once(child.pipes[0]!, "data");
    expect(await firstLine(child)).toBe("got hello");
    expect(String((await extra)[0])).toBe("extra\n");
    expect(await child.exited).toEqual({ code: 7, signal: null });
    await child.closed;
  });

  test("S8: passes arguments to the program unchanged, without a shell", async () => {
    const child = await start(process.execPath, [
      "-e",
      "console.log(JSON.stringify(process.argv.slice(1)))",
      "a b",
      "$HOME",
      "`id`",
      '"',
      "*",
    ]);
    expect(JSON.parse(await firstLine(child))).toEqual(["a b", "$HOME", "`id`", '"', "*"]);
  });

  test("S8: a child leads its own process group", async () => {
    const child = await start("sleep", ["60"]);
    expect(readProcess(child.pid)?.group).toBe(child.pid);
  });

  test("ignores a write to a child that has exited", async () => {
    const child = await start("true", []);
    await child.exited;
    child.stdin.write("x".repeat(100_000));
    child.stdin.end();
    await child.closed;
    expect(child.exit).toEqual({ code: 0, signal: null });
  });

  test("reports an unknown program as unavailable, with the attempted programs and advice", async () => {
    const failure = await failureOf(start("no-such-program-anywhere", []));
    expect(failure).toMatchObject({ kind: "unavailable", retryable: false });
    expect(failure.message).toMatch(/`no-such-program-anywhere` was not found in the \d+ folders of PATH. Install it/);
  });

  test("reports a file without execute permission as unavailable, without a path of the machine", async () => {
    const path = join(folder(), "plain.txt");
    writeFileSync(path, "#!/bin/sh\n", { mode: 0o644 });
    const failure = await failureOf(start(path, []));
    expect(failure).toMatchObject({ kind: "unavailable" });
    expect(failure.message).toContain("chmod +x");
    expect(failure.message).not.toContain(tmpdir());
  });

  test("rejects a script without its interpreter as unavailable", async () => {
    const path = join(folder(), "script");
    writeFileSync(path, "#!/no/such/interpreter\n", { mode: 0o755 });
    expect(await failureOf(start(path, []))).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("interpreter in its first line"),
    });
  });

  test("rejects a working folder that is missing, or is a file, as unavailable", async () => {
    const root = folder();
    writeFileSync(join(root, "file"), "");
    expect(await failureOf(start("true", [], { cwd: join(root, "absent") }))).toMatchObject({
      message: expect.stringContaining("does not exist"),
    });
    expect(await failureOf(start("true", [], { cwd: join(root, "file") }))).toMatchObject({
      message: expect.stringContaining("is not a folder"),
    });
  });

  test("rejects, without a throw, an argument with a NUL byte and arguments above the system's limit", async () => {
    expect(await failureOf(start("true", ["a\0b"]))).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("NUL"),
    });
    expect(await failureOf(start("true", ["x".repeat(300_000)]))).toMatchObject({ kind: "too_large" });
  });

  test("rejects a child above the limit, and starts one again after another has exited", async () => {
    const registry = new ChildRegistry({ maxChildren: 1 });
    const first = await start("sleep", ["60"], { registry });
    expect(registry.count).toBe(1);
    expect(await failureOf(start("true", [], { registry }))).toMatchObject({ kind: "limited", retryAfterMs: 1000 });
    await first.kill(0);
    expect(registry.count).toBe(0);
    const second = await start("true", [], { registry });
    await second.gone;
    expect(registry.count).toBe(0);
  });
});

describe("kill", () => {
  test("ends a child that obeys SIGTERM with that signal", async () => {
    const child = await start("sleep", ["60"]);
    await child.kill(5000);
    expect(child.exit).toEqual({ code: null, signal: "SIGTERM" });
  });

  test("kills a child that ignores SIGTERM, and its children that ignore it too, after the grace period", async () => {
    const child = await start("sh", ["-c", "trap '' TERM; sleep 600 & echo $!; wait; sleep 600"]);
    const grandchild = Number(await firstLine(child));
    await child.kill(100);
    expect(child.exit).toEqual({ code: null, signal: "SIGKILL" });
    expect(isAlive(grandchild)).toBe(false);
  });

  test.runIf(process.platform === "linux")(
    "finds a daemon that left its group, session and parent by its marker",
    async () => {
      const child = await start("sh", ["-c", "setsid sh -c 'sleep 600 & echo $!' & wait; sleep 600"]);
      const daemon = Number(await firstLine(child));
      expect(isAlive(daemon)).toBe(true);
      await child.kill(0);
      expect(isAlive(daemon)).toBe(false);
    },
  );

  test.runIf(process.platform === "linux")(
    "kills processes that are left over after a child exits by itself",
    async () => {
      const child = await start("sh", ["-c", "setsid sh -c 'sleep 600 & echo $!' & sleep 600 & wait %1; exit 0"]);
      const daemon = Number(await firstLine(child));
      await child.gone;
      expect(child.exit?.code).toBe(0);
      expect(isAlive(daemon)).toBe(false);
    },
  );

  test("resolves if a child is killed twice, or has already exited", async () => {
    const child = await start("sleep", ["60"]);
    await Promise.all([child.kill(1000), child.kill(0)]);
    await child.kill(0);
    expect(isAlive(child.pid)).toBe(false);
  });

  test("reads the pipes of an exited child even if the event loop was blocked for the grace period", async () => {
    const [go, done] = [join(folder(), "go"), join(folder(), "done")];
    const wait = `while [ ! -e ${go} ]; do sleep 0.01; done; echo said; touch ${done}; exec sleep 60`;
    const child = await start("sh", ["-c", `(${wait}) & exit 0`]);
    const said: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => said.push(chunk));
    await child.exited;
    const drained = child.drained(1);
    // Starts the grace period. Only microtasks run here, so the event loop cannot read data.
    for (let step = 0; step < 10; step += 1) await Promise.resolve();
    writeFileSync(go, "");
    while (!existsSync(done));
    await drained;
    expect(Buffer.concat(said).toString()).toBe("said\n");
  });

  test("does not wait for a silent process that holds a pipe", async () => {
    const child = await start("sh", ["-c", "sleep 60 & exit 3"]);
    let isClosed = false;
    void child.closed.then(() => (isClosed = true));
    await child.drained(1);
    expect([child.exit?.code, isClosed]).toEqual([3, false]);
  });

  test("kills every child when this process exits", async () => {
    const module = pathToFileURL(join(import.meta.dirname, "child.ts")).href;
    const program = `
      const { spawnChild } = await import(${JSON.stringify(module)});
      const child = await spawnChild({ command: "sh", args: ["-c", "trap '' TERM; sleep 600 & echo $!; wait"],
        env: { PATH: process.env.PATH } });
      child.stdout.once("data", (data) => { console.log(child.pid, String(data).trim()); process.exit(3); });`;
    const result = runTypeScript(program);
    const pids = result.stdout.trim().split(" ").map(Number);
    expect(result.status).toBe(3);
    expect(pids).toHaveLength(2);
    // A process needs a moment to exit after SIGKILL. The timeout of the test limits this loop.
    while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

// Runs the TypeScript sources in a process; a loader strips their types.
function runTypeScript(program: string) {
  const loader = `
    import { readFileSync } from "node:fs";
    import { transform } from ${JSON.stringify(import.meta.resolve("sucrase"))};
    export async function load(url, context, next) {
      if (!url.endsWith(".ts")) return next(url, context);
      const { code } = transform(readFileSync(new URL(url), "utf8"),
        { transforms: ["typescript"], disableESTransforms: true });
      return { format: "module", source: code, shortCircuit: true };
    }`;
  const root = folder();
  writeFileSync(join(root, "loader.mjs"), loader);
  writeFileSync(
    join(root, "register.mjs"),
    `import { register } from "node:module"; register("./loader.mjs", import.meta.url);`,
  );
  writeFileSync(join(root, "main.mjs"), program);
  return spawnSync(
    process.execPath,
    ["--import", pathToFileURL(join(root, "register.mjs")).href, join(root, "main.mjs")],
    { encoding: "utf8", timeout: 60_000 },
  );
}
