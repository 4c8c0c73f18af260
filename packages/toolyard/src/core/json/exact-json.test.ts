import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonText } from "../../../../../test/support/json-text.ts";
import { holdsBigInt, IntegerLengthError, MAX_INTEGER_DIGITS, parseExact, stringifyExact } from "./exact-json.ts";

const LONG = [
  "9007199254740992",
  "9007199254740993",
  "-9007199254740993",
  "9223372036854775807",
  "-9223372036854775808",
  "18446744073709551615",
  "1905732849127364519",
  "123456789012345678901234567890",
  "-100000000000000000000",
];

describe("parseExact and stringifyExact", () => {
  test.each(LONG)("keep the integer %s at any place", (digits) => {
    for (const text of [
      digits,
      `[${digits}]`,
      `[[${digits},${digits}],{"a":{"b":[0,${digits}]}}]`,
      `{"id":${digits},"text":"${digits}"}`,
      `{"${digits}":${digits}}`,
      `{"__proto__":${digits},"constructor":{"__proto__":[${digits}]}}`,
      `{"a":"\\"${digits}","b":"\\\\","c":${digits}}`,
    ])
      expect(stringifyExact(parseExact(text))).toBe(text);
    expect(parseExact(` [ ${digits}\n, "${digits}" ] `)).toEqual([BigInt(digits), digits]);
  });

  test.each(["9007199254740991", "-9007199254740991", "0", "-1", "1700000000000"])(
    "reads the safe integer %s as a number",
    (digits) => expect(parseExact(`{"id":${digits}}`)).toEqual({ id: Number(digits) }),
  );

  test.each([
    "0.12345678901234567890",
    "12345678901234567890.5",
    "12345678901234567890.0",
    "1e0000000000000000010",
    "12345678901234567890e2",
    "1.5e-0000000000000000003",
  ])("reads %s, which is not an integer literal, as JSON.parse does", (text) =>
    expect(parseExact(`[${text}]`)).toEqual(JSON.parse(`[${text}]`)),
  );

  test.each([
    "{12345678901234567890:1}",
    '{"a":1, 12345678901234567890 : 1}',
    "[012345678901234567890]",
    "[-012345678901234567890]",
    "[--12345678901234567890]",
    "[+12345678901234567890]",
    "[12345678901234567890n]",
    "[12345678901234567890 5]",
    '[12345678901234567890"a"]',
    "[12345678901234567890.]",
    "[12345678901234567890,]",
    "12345678901234567890]",
    '"12345678901234567890',
    "[- 12345678901234567890]",
  ])("rejects %s with the error of JSON.parse", (text) => {
    const errorOf = (parse: (json: string) => unknown): string => {
      try {
        return `no error: ${String(parse(text))}`;
      } catch (error) {
        return String(error);
      }
    };
    expect(errorOf(parseExact)).toBe(errorOf(JSON.parse));
  });

  test("reads an integer of 4300 digits and rejects a longer one", () => {
    const longest = "9".repeat(MAX_INTEGER_DIGITS);
    expect(stringifyExact(parseExact(`[-${longest},${longest}]`))).toBe(`[-${longest},${longest}]`);
    expect(() => parseExact(`[${longest}9]`)).toThrow(IntegerLengthError);
  });

  test("reads a string of a million digits without converting it", () => {
    const text = JSON.stringify({ digits: "7".repeat(1_000_000) });
    expect(stringifyExact(parseExact(text))).toBe(text);
  });

  test("reads an integer that is nested 100,000 levels deep", () => {
    const text = `${"[".repeat(100_000)}9007199254740993${"]".repeat(100_000)}`;
    let value = parseExact(text);
    while (Array.isArray(value)) value = value[0] as unknown;
    expect(value).toBe(9_007_199_254_740_993n);
  });

  test("keeps the last of two members with the same name", () => {
    expect(parseExact('{"a":9007199254740993,"a":1}')).toEqual({ a: 1 });
    expect(parseExact('{"a":1,"a":9007199254740993}')).toEqual({ a: 9_007_199_254_740_993n });
  });

  test("writes numbers even if the program has defined BigInt.prototype.toJSON", () => {
    Object.defineProperty(BigInt.prototype, "toJSON", { value: () => "as a string", configurable: true });
    try {
      expect(stringifyExact({ id: 9_007_199_254_740_993n, list: [1n] })).toBe('{"id":9007199254740993,"list":[1]}');
    } finally {
      Reflect.deleteProperty(BigInt.prototype, "toJSON");
    }
  });

  test("writes indented text, and undefined for undefined, as JSON.stringify does", () => {
    expect(stringifyExact({ a: [1n] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(stringifyExact(undefined)).toBeUndefined();
  });

  test("throws the error of JSON.stringify for a circular value", () => {
    const value: Record<string, unknown> = { id: 1n };
    value["self"] = value;
    expect(() => stringifyExact(value)).toThrow(TypeError);
  });

  test("keeps random JSON with long integers unchanged", () => {
    fc.assert(
      fc.property(jsonText(), (text) => {
        const value = parseExact(text);
        expect(stringifyExact(value)).toBe(text);
        expect(holdsBigInt(value)).toBe(outsideStrings(text).some((digits) => !Number.isSafeInteger(Number(digits))));
      }),
      { seed: 53, numRuns: 2_000 },
    );
  });
});

function outsideStrings(text: string): readonly string[] {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").match(/-?\d+/g) ?? [];
}
