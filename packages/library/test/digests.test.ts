import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openFile } from "../src/documents/open-file.ts";
import { FileDigests } from "../src/ingest/file-digests.ts";

const ALL = { most: 1_000 };
const LATER_MS = 60_000;

let folder: string;
let file: string;
let kept: string;

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");
/** Returns a time this many milliseconds after the file's last change. */
const later = (ms = LATER_MS): number => statSync(file).ctimeMs + ms;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-digests-")));
  file = join(folder, "a.txt");
  kept = join(folder, "kept", "digests.jsonl");
  writeFileSync(file, "one");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("digests of files", () => {
  test("reads an unchanged file once, also across processes", async () => {
    expect(await new FileDigests(kept).of(file, ALL, later())).toBe(digestOf("one"));
    // Stores a false digest, so that the test sees whether a digest comes from this file.
    writeFileSync(kept, readFileSync(kept, "utf8").replace(digestOf("one"), "kept"));
    const next = new FileDigests(kept);
    expect(await next.of(file, ALL, later())).toBe("kept");
    expect(await next.of(file, ALL, later())).toBe("kept");
  });

  test("reads a changed file again even if its size and times were restored", async () => {
    const digests = new FileDigests(kept);
    await digests.of(file, ALL, later());
    const { atime, mtime } = statSync(file);
    writeFileSync(file, "two");
    utimesSync(file, atime, mtime);
    expect(await digests.of(file, ALL, later())).toBe(digestOf("two"));
  });

  test("does not store the digest of a file that changed immediately before", async () => {
    expect(await new FileDigests(kept).of(file, ALL, later(50))).toBe(digestOf("one"));
    expect(() => statSync(kept)).toThrow("ENOENT");
  });

  test("ignores a truncated digest file", async () => {
    await new FileDigests(kept).of(file, ALL, later());
    writeFileSync(kept, `${readFileSync(kept, "utf8").slice(0, -40)}\n["a"]\nnull\n`);
    expect(await new FileDigests(kept).of(file, ALL, later())).toBe(digestOf("one"));
  });
});

describe("opening of a file", () => {
  test("opens a path without links, and refuses the path if a link replaced a part of it", async () => {
    await (await openFile(file, { ...ALL, isReal: true })).handle.close();
    mkdirSync(join(folder, "open"));
    symlinkSync(file, join(folder, "open", "link.txt"));
    symlinkSync(folder, join(folder, "open", "way"));
    for (const path of [join(folder, "open", "link.txt"), join(folder, "open", "way", "a.txt")]) {
      await (await openFile(path, ALL)).handle.close();
      await expect(openFile(path, { ...ALL, isReal: true })).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    }
  });

  test("opens a file up to the size limit; refuses a larger one, a missing one, and a folder", async () => {
    await expect(openFile(file, { most: 2 })).rejects.toMatchObject({ code: "TOO_LARGE" });
    await expect(openFile(join(folder, "b.txt"), ALL)).rejects.toMatchObject({ code: "DOCUMENT_NOT_FOUND" });
    await expect(openFile(folder, ALL)).rejects.toThrow(/is not an ordinary file|cannot be opened/);
  });

  test.runIf(process.platform !== "win32")("refuses a pipe without a writer immediately", async () => {
    execFileSync("mkfifo", [join(folder, "pipe.txt")]);
    await expect(openFile(join(folder, "pipe.txt"), ALL)).rejects.toThrow("is not an ordinary file");
  });
});
