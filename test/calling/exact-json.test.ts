import { createRequire } from "node:module";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { jsonText } from "../support/json-text.ts";
import { parseExact, stringifyExact } from "../../packages/toolyard/src/core/json/exact-json.ts";

interface ExactJson {
  parse(text: string): unknown;
  stringify(value: unknown): string;
}

const child = createRequire(import.meta.url)(
  "../../packages/toolyard/src/runtimes/calling/node/toolyard/script/exact-json.cjs",
) as ExactJson;

test("child programs read and write random JSON like the hub", () => {
  fc.assert(
    fc.property(jsonText(), (text) => {
      const value = child.parse(text);
      expect(value).toEqual(parseExact(text));
      expect(child.stringify(value)).toBe(text);
      expect(stringifyExact(value)).toBe(text);
    }),
    { seed: 54, numRuns: 1_000 },
  );
});

test.each([
  "[12345678901234567890.5,1e0000000000000000010,0.12345678901234567890,-0,1.0]",
  '{"a":"\\"12345678901234567890","b":"\\\\","__proto__":{"id":9007199254740993}}',
  " [ 9007199254740993\n, -9007199254740993 ] ",
  `[${"9".repeat(4300)}]`,
])("child programs read %s like the hub", (text) => {
  expect(child.parse(text)).toEqual(parseExact(text));
  expect(child.stringify(child.parse(text))).toBe(stringifyExact(parseExact(text)));
});

test.each([
  "{12345678901234567890:1}",
  "{12345678901234567890 :1}",
  "[012345678901234567890]",
  "[12345678901234567890 5]",
  "[12345678901234567890n]",
  '"12345678901234567890',
  "[--12345678901234567890]",
  `[1${"9".repeat(4300)}]`,
])("child programs reject %s like the hub", (text) => {
  const messageOf = (parse: (json: string) => unknown): string => {
    try {
      return `no error: ${String(parse(text))}`;
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(messageOf(child.parse)).toBe(messageOf(parseExact));
});

test("child programs write numbers even if the program has defined BigInt.prototype.toJSON", () => {
  Object.defineProperty(BigInt.prototype, "toJSON", { value: () => "text", configurable: true });
  try {
    expect(child.stringify({ id: 9_007_199_254_740_993n })).toBe('{"id":9007199254740993}');
  } finally {
    Reflect.deleteProperty(BigInt.prototype, "toJSON");
  }
});
