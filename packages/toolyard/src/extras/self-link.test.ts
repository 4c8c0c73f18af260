import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { linkSelf, ownRoot } from "./self-link.ts";

let home: string;

beforeEach(() => void (home = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-link-")))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

function writeProgram(name: string): string {
  const root = join(home, name);
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(join(root, "package.json"), JSON.stringify({ name: "toolyard", version: name }));
  return root;
}

function modules(): string {
  const folder = join(home, "modules");
  mkdirSync(folder, { recursive: true });
  return folder;
}

const linkedVersion = (): unknown =>
  (JSON.parse(readFileSync(join(home, "modules/toolyard/package.json"), "utf8")) as { version: string }).version;

test("finds the package that a file belongs to", () => {
  const root = writeProgram("one");
  expect(ownRoot(join(root, "dist/extras/x.js"))).toBe(root);
  expect(ownRoot()).toMatch(/toolyard$/);
  expect(() => ownRoot(join(home, "modules/x.js"))).toThrow("is not in a package with the name toolyard");
});

test("links the program, and later replaces the link by one to the program in use", () => {
  const folder = modules();
  linkSelf(folder, writeProgram("one"));
  expect(linkedVersion()).toBe("one");
  linkSelf(folder, writeProgram("two"));
  expect(linkedVersion()).toBe("two");
  linkSelf(folder, join(home, "two"));
  expect(linkedVersion()).toBe("two");
});

test("replaces a link to a missing program", () => {
  symlinkSync(join(home, "gone"), join(modules(), "toolyard"), "junction");
  linkSelf(join(home, "modules"), writeProgram("one"));
  expect(linkedVersion()).toBe("one");
});

test("keeps a copy of the program that it cannot replace by a link; throws if there is no copy", () => {
  const folder = modules();
  mkdirSync(join(folder, "toolyard"));
  expect(() => linkSelf(folder, writeProgram("one"))).toThrow();
  writeFileSync(join(folder, "toolyard/package.json"), JSON.stringify({ name: "toolyard", version: "copy" }));
  linkSelf(folder, join(home, "one"));
  expect(linkedVersion()).toBe("copy");
});
