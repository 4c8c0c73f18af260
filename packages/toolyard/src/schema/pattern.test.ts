import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../../../test/fixtures/cpu-time.ts";
import { PatternError } from "./pattern-error.ts";
import { LinearPattern, MAX_PATTERN_STEPS, PatternCostError } from "./pattern.ts";
import { stepsLeft } from "./steps-left.ts";

const PATTERNS = [
  "^a+b*$",
  "abc",
  "^(?:ab|cd)*$",
  "^[a-c]{2,4}$",
  "^[^a]+$",
  "a.c",
  "^\\d{1,3}(\\.\\d{1,3}){3}$",
  "^$",
  "",
  "a|b|",
  "^(a|b)*abb$",
  "^(?!.*b).*$",
  "^(?=.*a)(?=.*b).{2,}$",
  "\\bab\\b",
  "a\\Bb",
  "^\\p{L}+$",
  "[\\w-.]+@",
  "^(?<x>a)+$",
  "^a{2}$",
  "^a{2,}$",
  "^{.*}$",
  "[]",
  "[^]",
  "\\u0061\\x62",
  "^(?:(?!ab).)*$",
  "^(a*)*$",
  "^((a|b)+c?)+$",
  "\\/",
  "^\\S+$",
  "^(?:a?){3}a{3}$",
  "c$|^b",
  "^[\\]a]+$",
  "\\.",
];

test.each(PATTERNS)("matches %s like the JavaScript engine", (source) => {
  const native = nativeOf(source);
  const own = new LinearPattern(source);
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("a", "b", "c", ".", "1", "-", "@", " ", "\n", "é", "😀", "{", "}", "]", "/"),
        maxLength: 12,
      }),
      (text) => {
        stepsLeft.patterns = MAX_PATTERN_STEPS;
        expect(own.test(text), JSON.stringify(text)).toBe(native.test(text));
      },
    ),
    { numRuns: 300, seed: 7 },
  );
});

test("matches random patterns like the JavaScript engine", () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    "[ab]",
    "(a|b)",
    "(?:ab)*",
    "a?",
    "b+",
    "(?=a)",
    "(?!b)",
    ".",
    "a{1,3}",
    "^",
    "$",
    "|",
    "\\b",
    "(?:a|)+",
    "(?:(?=b)|a)*",
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 }),
      (pieces, text) => {
        const source = pieces.join("");
        stepsLeft.patterns = MAX_PATTERN_STEPS;
        expect(new LinearPattern(source).test(text), `${source} on ${text}`).toBe(new RegExp(source).test(text));
      },
    ),
    { numRuns: 3000, seed: 11 },
  );
});

test.each([
  "^(a+)+$",
  "^(a|a)*$",
  "^(a|aa)+$",
  "(x+x+)+y",
  "^([a-z]+)*[0-9]$",
  "^(?:a?){30}a{30}$",
  ".*.*.*=.*",
  "^(?=(a+)+$).*b",
])("S18: matches %s in few steps on an attacker's text", (source) => {
  const pattern = new LinearPattern(source);
  for (const text of [`${"a".repeat(5000)}!`, `${"x".repeat(5000)}!`]) {
    stepsLeft.patterns = MAX_PATTERN_STEPS;
    const startedAt = cpuMs();
    expect(outcomeOf(pattern, text)).not.toBe("hung");
    expect(cpuMs() - startedAt).toBeLessThan(2000);
  }
});

test("S18: rejects a match that would take too long", () => {
  stepsLeft.patterns = MAX_PATTERN_STEPS;
  expect(() => new LinearPattern("^(?:a|b|[ab]){1,900}$").test("a".repeat(900_000))).toThrow(PatternCostError);
});

test("matches long text with a plain pattern", () => {
  stepsLeft.patterns = MAX_PATTERN_STEPS;
  expect(new LinearPattern("^[\\s\\S]+$").test("x".repeat(1_000_000))).toBe(true);
});

test.each([
  "(?<=a)b",
  "(a)\\1",
  "\\k<x>",
  "\\Aa",
  "(",
  ")",
  "[",
  "a{3,1}",
  "*a",
  "(?i)a",
  "(?:){999999999}",
  "((?:){20000}){20000}",
  "((a{100}){100}){100}",
  "(".repeat(500),
  "\\",
])("rejects %s with a reason", (source) => {
  expect(() => new LinearPattern(source)).toThrow(PatternError);
});

function nativeOf(source: string): RegExp {
  try {
    return new RegExp(source, "u");
  } catch {
    return new RegExp(source);
  }
}

function outcomeOf(pattern: LinearPattern, text: string): boolean | "refused" {
  try {
    return pattern.test(text);
  } catch (error) {
    if (error instanceof PatternCostError) return "refused";
    throw error;
  }
}
