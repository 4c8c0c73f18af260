import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfinedFiles } from "./confined-files.ts";
import { FileRefusal } from "./confined-path.ts";

let yard: string;
let root: string;
let outside: string;
beforeEach(() => {
  yard = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-files-")));
  root = join(yard, "files");
  outside = join(yard, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "secret.txt"), "kept");
});
afterEach(() => rmSync(yard, { recursive: true, force: true }));

const bytes = (text: string): Buffer => Buffer.from(text);
const open = (options: { readonly roots?: readonly string[]; readonly maxBytes?: number } = {}): ConfinedFiles =>
  new ConfinedFiles({ roots: [root], maxBytes: 100, ...options });
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Checks that nothing outside the root has changed. */
function expectNothingElse(): void {
  expect(readdirSync(outside)).toEqual(["secret.txt"]);
  expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("kept");
  expect(readdirSync(yard).filter((name) => name !== "files" && name !== "outside")).toEqual([]);
}

describe("with a path inside a root", () => {
  test("S6: writes the file and creates its folders", async () => {
    expect(await open().overwrite("notes/2024/today.md", bytes("one"))).toBe(join(root, "notes/2024/today.md"));
    expect(read("notes/2024/today.md")).toBe("one");
  });

  test("S6: accepts `..` if the path ends inside, and an absolute path", async () => {
    await open().overwrite("a/../b/./c.txt", bytes("relative"));
    await open().overwrite(join(root, "d.txt"), bytes("absolute"));
    expect([read("b/c.txt"), read("d.txt")]).toEqual(["relative", "absolute"]);
  });

  test("S6: follows a link that ends inside", async () => {
    mkdirSync(join(root, "real"), { recursive: true });
    symlinkSync("real", join(root, "link"));
    expect(await open().overwrite("link/x.txt", bytes("x"))).toBe(join(root, "real/x.txt"));
  });

  test("S6: accepts a root that is a link, and a second root", async () => {
    const second = join(yard, "outside", "..", "second");
    mkdirSync(root);
    rmSync(root, { recursive: true });
    mkdirSync(join(yard, "real-root"));
    symlinkSync(join(yard, "real-root"), root);
    const files = open({ roots: [root, join(yard, "second")] });
    const written = await files.overwrite("x.txt", bytes("x"));
    expect(written).toBe(join(yard, "real-root/x.txt"));
    expect(await files.append(written, bytes("y"))).toBe(written);
    expect(await files.overwrite(join(second, "y.txt"), bytes("y"))).toBe(join(yard, "second/y.txt"));
  });
});

describe("with a path outside all roots", () => {
  test.each([
    "../outside/secret.txt",
    "a/../../outside/secret.txt",
    "/etc/passwd",
    "..",
    "../files-2/x",
    "../../../../../../tmp/toolyard-x",
  ])("S6: rejects %s", async (path) => {
    await expect(open().overwrite(path, bytes("x"))).rejects.toBeInstanceOf(FileRefusal);
    await expect(open().append(path, bytes("x"))).rejects.toBeInstanceOf(FileRefusal);
    expectNothingElse();
  });

  test.each([
    ["a link to a folder", "link/secret.txt", () => symlinkSync(outside, join(root, "link"))],
    [
      "a link to a link to a folder",
      "second/new.txt",
      () => (symlinkSync(outside, join(root, "first")), symlinkSync("first", join(root, "second"))),
    ],
    ["a link and back up", "link/../outside/secret.txt", () => symlinkSync(outside, join(root, "link"))],
    ["a link to a file", "secret.txt", () => symlinkSync(join(outside, "secret.txt"), join(root, "secret.txt"))],
    ["new folders behind a link", "link/a/b/c.txt", () => symlinkSync(outside, join(root, "link"))],
  ])("S6: rejects a path through %s, or keeps it inside", async (_what, path, prepare) => {
    mkdirSync(root);
    prepare();
    await open()
      .overwrite(path, bytes("x"))
      .catch((error: unknown) => expect(error).toBeInstanceOf(FileRefusal));
    await open()
      .append(path, bytes("x"))
      .catch((error: unknown) => expect(error).toBeInstanceOf(FileRefusal));
    expectNothingElse();
  });

  test("S6: replaces a link to a missing file without following it", async () => {
    mkdirSync(root);
    symlinkSync(join(outside, "new.txt"), join(root, "dangling.txt"));
    await open()
      .append("dangling.txt", bytes("x"))
      .catch((error: unknown) => expect(error).toBeInstanceOf(FileRefusal));
    await open()
      .overwrite("dangling.txt", bytes("x"))
      .catch((error: unknown) => expect(error).toBeInstanceOf(FileRefusal));
    expectNothingElse();
  });

  test("S6: does not append to a hard link of an outside file; overwriting leaves that file unchanged", async () => {
    mkdirSync(root);
    linkSync(join(outside, "secret.txt"), join(root, "hard.txt"));
    await expect(open().append("hard.txt", bytes("x"))).rejects.toThrow(/hard link/);
    await open().overwrite("hard.txt", bytes("new"));
    expect(read("hard.txt")).toBe("new");
    expectNothingElse();
  });
});

describe("writing", () => {
  test("S6: replaces the whole file in one step, keeps its mode, and leaves no other file", async () => {
    mkdirSync(root);
    writeFileSync(join(root, "x.txt"), "a long text from before", { mode: 0o600 });
    const { ino } = statSync(join(root, "x.txt"));
    await open().overwrite("x.txt", bytes("short"));
    expect(read("x.txt")).toBe("short");
    expect(statSync(join(root, "x.txt")).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, "x.txt")).ino).not.toBe(ino);
    expect(readdirSync(root)).toEqual(["x.txt"]);
  });

  test("S6: keeps group write permission", async () => {
    mkdirSync(root);
    writeFileSync(join(root, "x.txt"), "before");
    chmodSync(join(root, "x.txt"), 0o666);
    await open().overwrite("x.txt", bytes("after"));
    expect(statSync(join(root, "x.txt")).mode & 0o777).toBe(0o666);
  });

  test("S6: keeps the earlier content, and leaves no other file, after a failed write", async () => {
    mkdirSync(join(root, "folder"), { recursive: true });
    writeFileSync(join(root, "file"), "kept");
    await expect(open().overwrite("folder", bytes("x"))).rejects.toThrow(/is a folder/);
    await expect(open().overwrite("file/x.txt", bytes("x"))).rejects.toThrow(/is a file, not a folder/);
    await expect(open().overwrite(`${"n".repeat(300)}.txt`, bytes("x"))).rejects.toThrow(/too long/);
    expect(readdirSync(root).toSorted()).toEqual(["file", "folder"]);
    expect(read("file")).toBe("kept");
  });

  test("appends to the existing content in the order of the calls", async () => {
    const files = open();
    await Promise.all(["a", "b", "c", "d"].map((letter) => files.append("log.txt", bytes(letter))));
    expect(read("log.txt")).toBe("abcd");
  });

  test("rejects content that exceeds the limit together with the existing content", async () => {
    const files = open({ maxBytes: 5 });
    await expect(files.overwrite("x.txt", bytes("123456"))).rejects.toThrow(/max_file_size/);
    expect(existsSync(join(root, "x.txt"))).toBe(false);
    await files.append("x.txt", bytes("1234"));
    await expect(files.append("x.txt", bytes("56"))).rejects.toThrow(/max_file_size/);
    expect(read("x.txt")).toBe("1234");
  });

  test.each(["", "  ", ".", "a/..", "folder/", "nul\0", "x".repeat(1025)])(
    "rejects %j as a file path",
    async (path) => {
      await expect(open().overwrite(path, bytes("x"))).rejects.toBeInstanceOf(FileRefusal);
    },
  );

  test.runIf(process.platform !== "win32")("rejects a pipe without waiting for it", async () => {
    mkdirSync(root);
    execFileSync("mkfifo", [join(root, "pipe")]);
    await expect(open().overwrite("pipe", bytes("x"))).rejects.toThrow(/no ordinary file/);
    await expect(open().append("pipe", bytes("x"))).rejects.toThrow(/no ordinary file/);
    expect(lstatSync(join(root, "pipe")).isFIFO()).toBe(true);
  });

  test("adds a number to a name that exists", async () => {
    const files = open();
    const written = await Promise.all([
      files.add("otter.png", bytes("1")),
      files.add("otter.png", bytes("2")),
      files.add("otter.png", bytes("3")),
    ]);
    expect(written.map((path) => path.slice(root.length + 1)).toSorted()).toEqual([
      "otter-2.png",
      "otter-3.png",
      "otter.png",
    ]);
  });
});
