import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellAssignment, shellVariable, shellWord } from "./shell-word.ts";

const WORDS = ["plain", "a b", "it's", 'say "hi"', '{"a":[1,"x y"]}', "$HOME", "a&b|c", "C:\\my dir\\", "", "a;b", "*"];

test.each(WORDS)(
  "quotes %j so that a POSIX shell passes it unchanged",
  { skip: process.platform === "win32" },
  (word) => {
    const line = `printf %s ${shellWord(word, "linux")}`;
    expect(execFileSync("/bin/sh", ["-c", line], { encoding: "utf8" })).toBe(word);
  },
);

test.each([
  ["plain", "plain"],
  ["C:\\tools\\x.js", "C:\\tools\\x.js"],
  ["a b", '"a b"'],
  ["a=b", '"a=b"'],
  ["it's", `"it's"`],
  ['{"a":1}', String.raw`"{\"a\":1}"`],
  [String.raw`a\"b`, String.raw`"a\\\"b"`],
  ["C:\\my dir\\", String.raw`"C:\my dir\\"`],
  ["", '""'],
])("quotes %j for cmd.exe without single quotes", (word, expected) => {
  expect(shellWord(word, "win32")).toBe(expected);
});

test("writes variables for either shell", () => {
  expect([shellVariable("A", "linux"), shellVariable("A", "win32")]).toEqual(["$A", "%A%"]);
  expect([shellAssignment("A", "1", "darwin"), shellAssignment("A", "1", "win32")]).toEqual(["export A=1", "set A=1"]);
});
