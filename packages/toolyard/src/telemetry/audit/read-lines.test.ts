import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRecentLines } from "./read-lines.ts";

let folder: string;
let files: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-audit-"));
  files = ["1", "2", "missing", "empty", "3"].map((name) => join(folder, name));
  await writeFile(files[0]!, "a1\na2\n");
  await writeFile(files[1]!, "b1\nb2\n");
  await writeFile(files[3]!, "");
  await writeFile(files[4]!, "cé\nc2\n");
});
afterAll(() => rm(folder, { recursive: true }));

test.each([
  [1000, ["a1", "a2", "b1", "b2", "cé", "c2"], false],
  // The last file has 7 bytes, because é has two.
  [13, ["b1", "b2", "cé", "c2"], true],
  [10, ["b2", "cé", "c2"], true],
  [7, ["cé", "c2"], true],
  [5, ["c2"], true],
  [1, [], true],
])("reads the last %d bytes as %j", async (maxBytes, texts, isPart) => {
  const read = await openRecentLines(files, { maxBytes, signal: AbortSignal.timeout(10_000) });
  const found: string[] = [];
  for await (const { text } of read.lines) found.push(text);
  expect([found, read.isPart]).toEqual([texts, isPart]);
});

test("stops when the signal is aborted", async () => {
  const { lines } = await openRecentLines(files, { maxBytes: 1000, signal: AbortSignal.abort() });
  await expect(lines[Symbol.asyncIterator]().next()).rejects.toThrow();
});
