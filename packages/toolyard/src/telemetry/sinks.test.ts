import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "sucrase";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { BufferedSink, ChunkError } from "./line-sink.ts";
import { openFileSink } from "./sinks.ts";

const describeDropped = (count: number): string => `${count} dropped`;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-sink-"));
});

afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

test("appends lines in order, and has written all of them when it is closed", async () => {
  const file = join(folder, "deep", "log.txt");
  const sink = openFileSink(file, { describeDropped });
  for (let line = 0; line < 1000; line += 1) sink.write(`line ${line}`);
  await sink.close();
  expect(await readFile(file, "utf8")).toBe(Array.from({ length: 1000 }, (_, line) => `line ${line}\n`).join(""));
});

test("writes nothing after closing", async () => {
  const file = join(folder, "log.txt");
  const sink = openFileSink(file, { describeDropped });
  sink.write("a");
  await sink.close();
  sink.write("b");
  await sink.close();
  expect(await readFile(file, "utf8")).toBe("a\n");
});

test("writes the first line immediately, and the lines soon after it together", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const chunks: string[] = [];
  const sink = new BufferedSink(async (chunk) => void chunks.push(chunk.toString()), { describeDropped, gatherMs: 20 });
  sink.write("a");
  await vi.advanceTimersByTimeAsync(0);
  expect(chunks).toEqual(["a\n"]);
  for (const line of ["b", "c"]) {
    sink.write(line);
    await vi.advanceTimersByTimeAsync(9);
  }
  await vi.advanceTimersByTimeAsync(2);
  await sink.close();
  expect(chunks).toEqual(["a\n", "b\nc\n"]);
});

test("writes collected lines without a wait if they fill half of the buffer", async () => {
  const chunks: string[] = [];
  const sink = new BufferedSink(async (chunk) => void chunks.push(chunk.toString()), {
    describeDropped,
    gatherMs: 3_600_000,
    maxWaitingChars: 20,
  });
  sink.write("a");
  await until(() => chunks.length > 0);
  sink.write("0123456789");
  await until(() => chunks.length > 1);
  await sink.close();
  expect(chunks).toEqual(["a\n", "0123456789\n"]);
});

test("creates a new file after the file was moved away", async () => {
  const file = join(folder, "log.txt");
  const first = openFileSink(file, { describeDropped });
  first.write("a");
  await first.close();
  const sink = openFileSink(file, { describeDropped });
  sink.write("b");
  await fileHas(file, "b");
  await rename(file, `${file}.1`);
  sink.write("c");
  await sink.close();
  expect([await readFile(`${file}.1`, "utf8"), await readFile(file, "utf8")]).toEqual(["a\nb\n", "c\n"]);
});

test("loses no line while a file is not writable for some time, and reports the problem once", async () => {
  const errors: unknown[] = [];
  const blocked = join(folder, "blocked");
  await writeFile(blocked, "a file where a folder should be");
  const sink = openFileSink(join(blocked, "log.txt"), { describeDropped, onError: (error) => void errors.push(error) });
  sink.write("a");
  await until(() => errors.length > 0);
  await rm(blocked);
  sink.write("b");
  await fileHas(join(blocked, "log.txt"), "b");
  await sink.close();
  expect(await readFile(join(blocked, "log.txt"), "utf8")).toBe("a\nb\n");
  expect(errors).toHaveLength(1);
});

test("limits memory and time for a reader that does not read, and counts dropped lines", async () => {
  const chunks: string[] = [];
  let letGo!: () => void;
  const stuck = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const sink = new BufferedSink(
    async (chunk) => {
      if (chunks.length === 0) await stuck;
      chunks.push(chunk.toString());
    },
    { describeDropped, maxWaitingChars: 1000 },
  );
  sink.write("first");
  await new Promise((resolve) => void setImmediate(resolve));
  for (let line = 0; line < 10_000; line += 1) sink.write("0123456789");
  letGo();
  await sink.close();
  const lines = chunks.join("").trimEnd().split("\n");
  expect(lines.length).toBeLessThan(120);
  expect(lines.at(-1)).toBe(`${10_000 - (lines.length - 2)} dropped`);
});

test("formats delayed lines once, in order, and only if there is room for them", async () => {
  let made = 0;
  const late = (text: string) => ({ chars: 400, text: () => `${text} ${(made += 1)}` });
  const chunks: string[] = [];
  const sink = new BufferedSink(async (chunk) => void chunks.push(chunk.toString()), {
    describeDropped,
    maxWaitingChars: 1000,
  });
  for (const line of ["first", late("late"), "text", late("late"), late("late")]) sink.write(line);
  await sink.close();
  expect([chunks.join(""), made]).toEqual(["first\nlate 1\ntext\nlate 2\n1 dropped\n", 2]);
});

test("continues a partial write after the last written byte", async () => {
  let written = "";
  const sink = new BufferedSink(
    async (chunk) => {
      const part = chunk.subarray(0, 3);
      written += part.toString();
      if (part.length < chunk.length) throw new ChunkError(chunk.subarray(3), false);
    },
    { describeDropped },
  );
  sink.write("abcdefg");
  await until(() => written.endsWith("\n"));
  await sink.close();
  expect(written).toBe("abcdefg\n");
});

test("abandons a target after a final error", async () => {
  let tries = 0;
  const sink = new BufferedSink(
    async (chunk) => {
      tries += 1;
      throw new ChunkError(chunk, true);
    },
    { describeDropped },
  );
  sink.write("a");
  await until(() => tries > 0);
  sink.write("b");
  await sink.close();
  expect(tries).toBe(1);
});

test("waits for at most 2 s when it closes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const sink = new BufferedSink(() => new Promise(() => {}), { describeDropped });
  sink.write("a");
  let isClosed = false;
  void sink.close().then(() => (isClosed = true));
  await vi.advanceTimersByTimeAsync(1999);
  expect(isClosed).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isClosed).toBe(true);
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => void setTimeout(resolve, 2));
}

async function fileHas(file: string, line: string): Promise<void> {
  for (;;) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text.includes(`${line}\n`)) return;
    await new Promise((resolve) => void setTimeout(resolve, 2));
  }
}

// A test cannot read the stderr output of its own process, so a child process writes it.
async function startWriter(script: string): Promise<ChildProcess> {
  for (const name of ["sinks", "line-sink"]) {
    const source = await readFile(new URL(`${name}.ts`, import.meta.url), "utf8");
    const { code } = transform(source, {
      transforms: ["typescript"],
      disableESTransforms: true,
      keepUnusedImports: false,
    });
    await writeFile(join(folder, `${name}.js`), code.replaceAll(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'));
  }
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(
    join(folder, "main.js"),
    `import { openFileSink, openStderrSink } from "./sinks.js";\n` +
      `const sink = openStderrSink({ describeDropped: (n) => n + " dropped" });\n${script}`,
  );
  const child = spawn(process.execPath, [join(folder, "main.js")], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("a pipe that is not read blocks neither the program nor its exit", async () => {
  const child = await startWriter(`for (let i = 0; i < 50_000; i += 1) sink.write("x".repeat(100));
    setTimeout(async () => { await sink.close(); process.stdout.write("alive"); process.exit(3); }, 20);`);
  const [[code], [said]] = (await Promise.all([once(child, "exit"), once(child.stdout!, "data")])) as [
    [number],
    [Buffer],
  ];
  expect([code, said.toString()]).toEqual([3, "alive"]);
});

test("a reader that closes its pipe does not end the program", async () => {
  const child = await startWriter(`const timer = setInterval(() => sink.write("x".repeat(1000)), 1);
    setTimeout(async () => { clearInterval(timer); await sink.close(); process.exit(3); }, 100);`);
  child.stderr!.destroy();
  expect((await once(child, "exit"))[0]).toBe(3);
});

test("many hubs in one program share listeners, and leave none after closing", async () => {
  const file = JSON.stringify(join(folder, "audit.jsonl"));
  const child = await startWriter(`const warnings = [];
    process.on("warning", ({ message }) => warnings.push(message));
    const counts = () => [process.stderr.listenerCount("error"), process.listenerCount("exit")];
    await sink.close();
    const before = counts();
    const describeDropped = String;
    const open = () => [openStderrSink({ describeDropped }), openFileSink(${file}, { describeDropped })];
    const all = Array.from({ length: 12 }, open);
    await new Promise(setImmediate);
    await Promise.all(all.flat().map((one) => one.close()));
    process.stdout.write(JSON.stringify({ warnings, isAsBefore: String(counts()) === String(before) }));`);
  const [said] = (await once(child.stdout!, "data")) as [Buffer];
  expect(JSON.parse(said.toString())).toEqual({ warnings: [], isAsBefore: true });
});

test("writes the last line before the program exits", async () => {
  const child = await startWriter(`sink.write("last words"); process.exit(1);`);
  expect((await once(child.stderr!, "data")).toString()).toBe("last words\n");
});

test("writes the collected lines if the program exits by an exception", async () => {
  const file = JSON.stringify(join(folder, "audit.jsonl"));
  const child = await startWriter(`const { existsSync, statSync } = await import("node:fs");
    const audit = openFileSink(${file}, { describeDropped: String });
    audit.write("a");
    const timer = setInterval(() => {
      if (!existsSync(${file}) || statSync(${file}).size === 0) return;
      for (const line of ["b", "c"]) audit.write(line);
      throw new Error("a fault");
    }, 1);`);
  expect((await once(child, "exit"))[0]).toBe(1);
  expect(await readFile(join(folder, "audit.jsonl"), "utf8")).toBe("a\nb\nc\n");
});
