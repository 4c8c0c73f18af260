import { expect, test } from "vitest";
import { FailError } from "../../core/errors.ts";
import { argumentRule, RULES } from "./argument-rule.ts";
import { expandArguments } from "./arguments.ts";

function failureOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof FailError) return error.failure;
    throw error;
  }
  throw new Error("nothing was thrown");
}

test.each(['x" & calc & "', "a|b", "%TEMP%", "a\r\nb", "!x!", "y) else (calc"])(
  "rejects the value %j for a batch file, and names the parameter",
  (text) => {
    const failure = failureOf(() => expandArguments(["--text", "{text}"], { text }, RULES.batch));
    expect(failure.kind).toBe("invalid_params");
    expect(failure.message).toMatch(/^Argument `text` contains .*, which `cmd\.exe` could execute or replace\. /);
    expect(RULES.batch.isSafeVariable(text)).toBe(false);
  },
);

test("accepts a harmless value for a batch file, and does not check the template around it", () => {
  expect(expandArguments(["--if=a&b:{text}", "{n}"], { text: "C:\\a (1)\\b c", n: 4 }, RULES.batch)).toEqual([
    "--if=a&b:C:\\a (1)\\b c",
    "4",
  ]);
  expect(RULES.batch.isSafeVariable("two words")).toBe(true);
});

test("rejects JSON with quotes for a batch file, and rejects a line break for npm", () => {
  expect(failureOf(() => expandArguments(["{list}"], { list: ["a"] }, RULES.batch)).message).toContain('`"`');
  expect(failureOf(() => expandArguments(["{text}"], { text: "a\nb" }, RULES.npm)).message).toContain("a line break");
  expect(expandArguments(["{text}"], { text: 'a" & b' }, RULES.npm)).toEqual(['a" & b']);
});

test("has no rule for programs on other systems", { skip: process.platform === "win32" }, () => {
  expect(argumentRule("cmd", { env: {} })).toBeUndefined();
  expect(argumentRule("/bin/sh", { env: {} })).toBeUndefined();
});
