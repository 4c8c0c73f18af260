import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readText } from "./read-text.ts";

const isPosix = process.platform !== "win32";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-read-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);

function pipe(name: string): string {
  execFileSync("mkfifo", [at(name)]);
  return at(name);
}

test("reads a file, also through a link, across chunks and within multi-byte characters", async () => {
  const text = `a${"é".repeat(100_000)}`;
  writeFileSync(at("file"), text);
  expect(await readText(at("file"))).toBe(text);
  if (isPosix) symlinkSync(at("file"), at("link"));
  if (isPosix) expect(await readText(at("link"))).toBe(text);
});

test("reads one byte more than allowed, so that a longer file is detected", async () => {
  writeFileSync(at("file"), "x".repeat(1000));
  expect(await readText(at("file"), { maxBytes: 10 })).toBe("x".repeat(11));
});

test.each([
  ["an absent file", "absent", "ENOENT"],
  ["a folder", "folder", "EISDIR"],
])("rejects %s with its code", async (_, name, code) => {
  mkdirSync(at("folder"));
  await expect(readText(at(name))).rejects.toMatchObject({ code });
});

test.runIf(isPosix)("rejects a pipe without a writer after the time limit", async () => {
  await expect(readText(pipe("pipe"), { pipeWaitMs: 20 })).rejects.toMatchObject({
    code: "a pipe that did not end within 0.02 s",
  });
});

test("rejects a file above the default limit if the caller sets none", async () => {
  writeFileSync(at("file"), Buffer.alloc(16 * 1024 * 1024 + 1));
  await expect(readText(at("file"))).rejects.toMatchObject({ code: "over 16777216 bytes" });
});

test.runIf(isPosix)("reads a pipe until its end", async () => {
  const path = pipe("pipe");
  const holder = await open(path, "r+");
  const reading = readText(path);
  await holder.write("{}");
  await holder.close();
  expect(await reading).toBe("{}");
});

test.runIf(isPosix)("rejects a pipe that does not end within the time limit", async () => {
  const path = pipe("pipe");
  await using _holder = await open(path, "r+");
  await expect(readText(path, { pipeWaitMs: 20 })).rejects.toMatchObject({
    code: "a pipe that did not end within 0.02 s",
  });
});

test.runIf(isPosix)("reads at most the limit from a device without an end, and an empty device as empty", async () => {
  expect(await readText("/dev/zero", { maxBytes: 100 })).toHaveLength(101);
  expect(await readText("/dev/null")).toBe("");
});
