import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { MemoryTree } from "./memory-tree.ts";
import { mountLibrary, readLibrary } from "./standard-library.ts";

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** Returns a WebAssembly file with one custom section. */
function moduleWith(section: string, files: Readonly<Record<string, string>>): Uint8Array {
  const entries = Object.entries(files).flat().flatMap(counted);
  const content = [...counted(section), ...entries];
  return Uint8Array.from([...HEADER, 0, content.length, ...content]);
}

function counted(text: string): number[] {
  return [text.length, ...Buffer.from(text)];
}

test("mounts the files of the section as read-only files of the guest", () => {
  const tree = new MemoryTree({ bytes: 1000, files: 10 });
  mountLibrary(tree, readLibrary(moduleWith("python-library", { "usr/os.pyc": "one", "usr/json/a.pyc": "two" }))!);
  const file = tree.get(tree.root, "usr/json/a.pyc");
  expect(file.kind === "file" && Buffer.from(file.bytes).toString()).toBe("two");
  expect(() => tree.put("usr/json/a.pyc", Buffer.from("other"))).toThrow("rofs");
  expect(() => tree.put("usr/json/b.pyc", Buffer.from("other"))).toThrow("rofs");
  expect(() => tree.removeFile(tree.find(tree.root, "usr/os.pyc"))).toThrow("rofs");
  expect(tree.get(tree.root, "usr/lib-dynload").kind).toBe("folder");
});

test("finds no library in a module without the section", () => {
  expect(readLibrary(Uint8Array.from(HEADER))).toBeUndefined();
  expect(readLibrary(moduleWith("name", { "usr/os.pyc": "one" }))).toBeUndefined();
});

test("rejects a section that ends within a file", () => {
  const whole = readLibrary(moduleWith("python-library", { "usr/os.pyc": "one" }))!;
  for (let length = 1; length < whole.byteLength; length += 1) {
    const tree = new MemoryTree({ bytes: 1000, files: 10 });
    expect(() => {
      mountLibrary(tree, whole.slice(0, length));
      tree.get(tree.root, "usr/os.pyc");
    }, `${length}`).toThrow("damaged");
  }
});

test("the interpreter in the repository has the recorded digest", () => {
  const file = createRequire(import.meta.url).resolve("@toolyard/python-wasi/python.wasm");
  const digest = createHash("sha256").update(readFileSync(file)).digest("hex");
  expect(readFileSync(join(dirname(file), "SHA256SUMS"), "utf8")).toBe(`${digest}  python.wasm\n`);
});
