import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "sucrase";
import { afterAll, beforeAll, expect, test } from "vitest";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "stdout-guard-"));
  const source = await readFile(new URL("./stdout-guard.ts", import.meta.url), "utf8");
  await writeFile(join(folder, "stdout-guard.mjs"), transform(source, { transforms: ["typescript"] }).code);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface ProgramOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `code` in a real child with a pipe as standard output. */
async function run(code: string): Promise<ProgramOutput> {
  const script = join(folder, "script.mjs");
  await writeFile(script, `import { guardStdout } from "./stdout-guard.mjs";\nconst guard = guardStdout();\n${code}\n`);
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "pipe"] });
  const printed = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (printed.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (printed.stderr += chunk.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  return printed;
}

test("C44: writes all printed text to standard error, and only protocol messages to standard output", async () => {
  const printed = await run(`
    console.log("a log"); console.info("an info"); console.table([{ a: 1 }]); process.stdout.write("raw\\n");
    guard.sink.write('{"jsonrpc":"2.0"}\\n');
  `);
  expect(printed.stdout).toBe('{"jsonrpc":"2.0"}\n');
  for (const words of ["a log", "an info", "(index)", "raw"]) expect(printed.stderr).toContain(words);
});

test("restores standard output after the release", async () => {
  const printed = await run(`guard.release(); console.log("back");`);
  expect(printed).toEqual({ stdout: "back\n", stderr: "" });
});

test("does not block on a slow reader, and flushing waits for it", async () => {
  const printed = await run(`
    for (let at = 0; at < 100; at += 1) guard.sink.write("x".repeat(99_999) + "\\n");
    console.error("free", guard.sink.backlogBytes > 0);
    await guard.sink.flushed();
    process.exit(0);
  `);
  expect(printed.stderr).toContain("free true");
  expect(printed.stdout.length).toBe(10_000_000);
});

test("leaves no listener behind after flushing", async () => {
  const printed = await run(`
    const counts = () => ["close", "error"].map((name) => process.stdout.listenerCount(name)).join();
    const before = counts();
    for (let at = 0; at < 12; at += 1) await guard.sink.flushed();
    console.error(counts() === before);
  `);
  expect(printed).toEqual({ stdout: "", stderr: "true\n" });
});
