import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeWhole, writeWholeSync } from "./write-whole.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "toolyard-whole-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string): string => join(folder, name);
const modeOf = (name: string): number => statSync(path(name)).mode & 0o777;

describe.each([
  ["later", writeWhole],
  ["at once", async (file: string, content: string) => writeWholeSync(file, content)],
])("a file written %s", (_, write) => {
  test("replaces the file, which is private, and leaves no temporary file", async () => {
    writeFileSync(path("a"), "a long text from before");
    const { ino } = statSync(path("a"));
    await write(path("a"), "new");
    expect(readFileSync(path("a"), "utf8")).toBe("new");
    expect(modeOf("a")).toBe(0o600);
    expect(statSync(path("a")).ino).not.toBe(ino);
    expect(readdirSync(folder)).toEqual(["a"]);
  });

  test("keeps the old file if it cannot be replaced, and leaves no temporary file", async () => {
    mkdirSync(path("b"));
    await expect(write(path("b"), "new")).rejects.toThrow(/EISDIR|ENOTEMPTY|EPERM|EEXIST/);
    await expect(write(path("none/c"), "new")).rejects.toThrow(/ENOENT/);
    expect(readdirSync(folder)).toEqual(["b"]);
  });

  test.runIf(process.platform !== "win32")("refuses to replace a pipe, and keeps it", async () => {
    execFileSync("mkfifo", [path("pipe")]);
    await expect(write(path("pipe"), "new")).rejects.toThrow(/is a device, a pipe or a socket.*Name an ordinary file/);
    expect(statSync(path("pipe")).isFIFO()).toBe(true);
    expect(readdirSync(folder)).toEqual(["pipe"]);
  });

  test("writes a file with a name of the maximum length", async () => {
    const name = "n".repeat(255);
    await write(path(name), "new");
    expect(readdirSync(folder)).toEqual([name]);
  });
});

test("uses the given mode, or the mode reduced by the umask", async () => {
  writeFileSync(path("open"), "");
  chmodSync(path("open"), 0o666);
  writeFileSync(path("usual"), "");
  await writeWhole(path("open"), Buffer.of(1), { mode: 0o666 });
  await writeWhole(path("own"), Buffer.of(1), { mode: 0o666, isModeExact: false, isSynced: false });
  expect([modeOf("open"), modeOf("own")]).toEqual([0o666, modeOf("usual")]);
});
