import { array, assert, constantFrom, property, string } from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../../../test/fixtures/cpu-time.ts";
import { cmdCommandLine, findUnsafe } from "./cmd-quoting.ts";

test.each([
  ["plain", "p.cmd plain"],
  ["--flag", "p.cmd --flag"],
  ["a b", 'p.cmd "a b"'],
  ["key=value", 'p.cmd "key=value"'],
  ["C:\\Program Files (x86)\\x", 'p.cmd "C:\\Program Files (x86)\\x"'],
  ["a,b;c", 'p.cmd "a,b;c"'],
  ["it's *.txt?", `p.cmd "it's *.txt?"`],
  [String.raw`my dir\ `.trim(), String.raw`p.cmd "my dir\\"`],
  ["", 'p.cmd ""'],
  ["größe", 'p.cmd "größe"'],
])("quotes %j for a batch file", (argument, line) => {
  expect(cmdCommandLine("p.cmd", [argument])).toBe(`"p.cmd"${line.slice("p.cmd".length)}`);
});

test.each([
  ['say "hi"', '`"`'],
  ['x" & calc & "', '`"`'],
  ["a&calc", "`&`"],
  ["a|calc", "`|`"],
  ["a>file", "`>`"],
  ["a<file", "`<`"],
  ["100%", "`%`"],
  ["%PATH%", "`%`"],
  ["!PATH!", "`!`"],
  ["a^", "`^`"],
  ["a\ncalc", "a line break"],
  ["a\rcalc", "a line break"],
  ["a\0b", "a NUL character"],
  ["x) else (calc", "`) else`"],
  ["x)ELSE calc", "`)ELSE`"],
])("rejects %j, which quotes cannot make safe", (argument, part) => {
  expect(() => cmdCommandLine("p.cmd", ["first", argument])).toThrow(
    `An argument of a batch file contains ${part}, which \`cmd.exe\` could execute or replace.`,
  );
});

test("quotes the path of a batch file, and rejects a path that contains a variable", () => {
  expect(cmdCommandLine("C:/R & D/run.cmd", ["x"])).toBe(String.raw`"C:\R & D\run.cmd" x`);
  expect(() => cmdCommandLine("C:\\%TEMP%\\run.cmd", [])).toThrow("contains `%`");
});

test("puts every character that has a meaning for cmd.exe inside quotes", () => {
  const text = string({
    unit: constantFrom(..."ab \\\"%!^&|<>()=;,'`\r\n\t/-".split(""), "else", "ä"),
    maxLength: 12,
  });
  assert(
    property(array(text, { maxLength: 4 }), (args) => {
      if (args.some((argument) => findUnsafe(argument) !== undefined)) {
        expect(() => cmdCommandLine("p.cmd", args)).toThrow("could execute or replace");
        return;
      }
      const line = cmdCommandLine("p.cmd", args);
      expect(line.match(/"/g)!.length % 2).toBe(0);
      expect(line.replaceAll(/"[^"]*"/g, "")).toMatch(/^[\w\-./\\:@+~#$ ]*$/);
      expect(line).not.toMatch(/[%!^&|<>\r\n]/);
    }),
    { seed: 33_8, numRuns: 500 },
  );
});

test.each([
  ["backslashes before a letter", `${"\\".repeat(400_000)} a`],
  ["backslashes at the end", ` ${"\\".repeat(400_000)}`],
  ["backslashes before blanks", `${"\\".repeat(200)} `.repeat(2_000)],
  ["closing brackets before blanks", `${")".repeat(2_000)}${" ".repeat(2_000)}`.repeat(100)],
])("S18: quotes 400,000 %s in linear time", (_name, argument) => {
  const startedAt = cpuMs();
  cmdCommandLine("p.cmd", [argument]);
  expect(cpuMs() - startedAt).toBeLessThan(2_000);
});
