import { expect, test } from "vitest";
import { cpuMs } from "../../../../test/fixtures/cpu-time.ts";
import { cmdCommandLine } from "./cmd-quoting.ts";

test.each([
  ["a b", 'p.cmd ^"a^ b^"'],
  ['say "hi"', String.raw`p.cmd ^"say^ \^"hi\^"^"`],
  [String.raw`a\\"b`, String.raw`p.cmd ^"a\\\\\^"b^"`],
  [String.raw`dir\ `.trim(), String.raw`p.cmd ^"dir\\^"`],
  [String.raw`a\b`, String.raw`p.cmd ^"a\b^"`],
  ["", 'p.cmd ^"^"'],
])("quotes %j for cmd.exe", (argument, line) => {
  expect(cmdCommandLine("p.cmd", [argument])).toBe(line);
});

test("throws for a line break", () => {
  expect(() => cmdCommandLine("p.cmd", ["a\nb"])).toThrow("line break");
});

test.each([
  ["backslashes before a letter", `${"\\".repeat(400_000)}a`],
  ["backslashes at the end", "\\".repeat(400_000)],
  ["backslashes before quotes", `${"\\".repeat(200)}"`.repeat(2_000)],
])("S18: quotes 400,000 %s in linear time", (_name, argument) => {
  const startedAt = cpuMs();
  cmdCommandLine("p.cmd", [argument]);
  expect(cpuMs() - startedAt).toBeLessThan(2_000);
});
