import { describe, expect, test } from "vitest";
import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { compileSchema } from "../compile.ts";

const schemaOf = (text: string): JsonObject => parseExact(text) as JsonObject;
const check = (schema: string, value: string) => compileSchema(schemaOf(schema)).check(parseExact(value));
const property = (rules: string): string => `{"type":"object","properties":{"id":${rules}}}`;

describe("integers beyond 2^53", () => {
  test.each([
    ['{"type":"integer"}', "9007199254740993"],
    ['{"type":"number"}', "-123456789012345678901234567890"],
    ['{"type":["string","integer"]}', "18446744073709551615"],
    ["{}", "9007199254740993"],
    ['{"minimum":9007199254740993}', "9007199254740993"],
    ['{"maximum":9223372036854775807}', "9223372036854775807"],
    ['{"maximum":18446744073709551615}', "7"],
    ['{"minimum":-9223372036854775808,"maximum":9223372036854775807}', "-9223372036854775808"],
    ['{"exclusiveMinimum":9007199254740992}', "9007199254740993"],
    ['{"exclusiveMaximum":9007199254740994}', "9007199254740993"],
    ['{"minimum":0.5}', "9007199254740993"],
    ['{"multipleOf":3}', "9007199254740993"],
    ['{"multipleOf":0.5}', "9007199254740993"],
    ['{"multipleOf":9007199254740993}', "27021597764222979"],
    ['{"enum":[9007199254740992,9007199254740993]}', "9007199254740993"],
    ['{"enum":["a",{"id":9007199254740993}]}', '{"id":9007199254740993}'],
    ['{"const":[1,[9007199254740993]]}', "[1,[9007199254740993]]"],
    ['{"const":1e20}', "100000000000000000000"],
    ['{"type":"array","uniqueItems":true}', "[9007199254740992,9007199254740993]"],
    ['{"type":"array","uniqueItems":true}', '[{"a":9007199254740992},{"a":9007199254740993}]'],
    ['{"anyOf":[{"type":"string"},{"type":"integer","maximum":9007199254740993}]}', "9007199254740993"],
    ['{"type":"array","items":{"type":"integer"},"contains":{"const":9007199254740993}}', "[1,9007199254740993]"],
    ['{"type":"string","maxLength":9223372036854775807}', '"a"'],
    ['{"not":{"type":"string"}}', "9007199254740993"],
    [`{"type":"integer"}`, "9".repeat(400)],
  ])("accepts for %s the value %s and returns it unchanged", (rules, value) => {
    const given = `{"id":${value}}`;
    const result = check(property(rules), given);
    expect(result).toMatchObject({ ok: true });
    expect(stringifyExact(result.ok && result.value)).toBe(given);
  });

  test.each([
    ['{"type":"string"}', "9007199254740993", "`id` must be a string, got an integer"],
    ['{"type":"boolean"}', "9007199254740993", "`id` must be a boolean, got an integer"],
    ['{"minimum":9007199254740994}', "9007199254740993", "`id` must be >= 9007199254740994"],
    ['{"maximum":9223372036854775807}', "9223372036854775808", "`id` must be <= 9223372036854775807"],
    ['{"maximum":100}', "18446744073709551615", "`id` must be <= 100"],
    ['{"exclusiveMinimum":9007199254740993}', "9007199254740993", "`id` must be > 9007199254740993"],
    ['{"exclusiveMaximum":9007199254740993}', "9007199254740993", "`id` must be < 9007199254740993"],
    ['{"multipleOf":2}', "9007199254740993", "`id` must be multiple of 2"],
    ['{"enum":[9007199254740992]}', "9007199254740993", "`id` must be one of 9007199254740992"],
    ['{"enum":[9007199254740993]}', "5", "`id` must be one of 9007199254740993"],
    ['{"enum":[{"id":9007199254740992}]}', '{"id":9007199254740993}', "`id` must be one of"],
    ['{"const":9007199254740994}', "9007199254740993", "`id` must be 9007199254740994"],
    ['{"type":"array","uniqueItems":true}', "[9007199254740993,9007199254740993]", "must not hold the same item"],
    ['{"not":{"type":"integer"}}', "9007199254740993", "`id` has a form that is excluded"],
    ['{"type":"object","required":["b"]}', '{"a":9007199254740993}', "Missing required parameter: id.b"],
    ['{"oneOf":[{"type":"integer"},{"minimum":0}]}', "9007199254740993", "fits several of the forms"],
  ])("rejects for %s the value %s", (rules, value, words) => {
    expect(check(property(rules), `{"id":${value}}`)).toMatchObject({
      ok: false,
      message: expect.stringContaining(words),
    });
  });

  test("compares long integers exactly below references", () => {
    const schema =
      '{"type":"object","properties":{"a":{"$ref":"#/$defs/id"},"b":{"type":"array","items":{"$ref":"#/$defs/id"}}},' +
      '"$defs":{"id":{"type":"integer","maximum":9007199254740993}}}';
    expect(check(schema, '{"a":9007199254740993,"b":[1,9007199254740993]}')).toMatchObject({ ok: true });
    expect(check(schema, '{"a":1,"b":[1,9007199254740994]}')).toMatchObject({
      ok: false,
      message: "`b[1]` must be <= 9007199254740993",
    });
  });

  test("adds defaults beyond 2^53 exactly, next to ordinary and long values", () => {
    const schema =
      '{"type":"object","properties":{"id":{"type":"integer"},"max":{"type":"integer","default":9223372036854775807},' +
      '"inner":{"type":"object","properties":{"low":{"default":-9007199254740993},"list":{"default":[9007199254740993]}}}}}';
    for (const id of ["1", "9007199254740993"]) {
      const result = check(schema, `{"id":${id},"inner":{}}`);
      expect(stringifyExact(result.ok && result.value)).toBe(
        `{"id":${id},"inner":{"low":-9007199254740993,"list":[9007199254740993]},"max":9223372036854775807}`,
      );
    }
    const given = check(schema, '{"max":5}');
    expect(stringifyExact(given.ok && given.value)).toBe('{"max":5}');
  });

  test("omits a default that its own schema rejects, next to a long integer", () => {
    const schema =
      '{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string","default":5}},"required":["id"]}';
    const result = check(schema, '{"id":9007199254740993}');
    expect(result.ok && result.value).toEqual({ id: 9_007_199_254_740_993n });
  });

  test("never changes the given value", () => {
    const value = parseExact('{"a":{"id":9007199254740993},"list":[9007199254740993]}');
    compileSchema(schemaOf(property('{"default":1}'))).check(value);
    expect(stringifyExact(value)).toBe('{"a":{"id":9007199254740993},"list":[9007199254740993]}');
  });

  test("keeps a member named __proto__", () => {
    const value = parseExact('{"__proto__":{"id":9007199254740993},"id":9007199254740993}');
    const result = compileSchema(schemaOf(property('{"type":"integer"}'))).check(value);
    expect(stringifyExact(result.ok && result.value)).toBe(
      '{"__proto__":{"id":9007199254740993},"id":9007199254740993}',
    );
  });

  test("checks a long integer that is the whole value", () => {
    const integer = compileSchema({ type: "integer", maximum: 9_007_199_254_740_993n });
    expect(integer.check(9_007_199_254_740_993n)).toEqual({ ok: true, value: 9_007_199_254_740_993n });
    expect(integer.check(9_007_199_254_740_994n)).toMatchObject({ ok: false });
  });

  test.each([
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema",
  ])("compares exactly in the dialect %s", (dialect) => {
    const schema = (limit: string): string =>
      `{"$schema":"${dialect}","properties":{"id":{"type":"integer","maximum":${limit}}}}`;
    expect(check(schema("9007199254740993"), '{"id":9007199254740993}')).toMatchObject({ ok: true });
    expect(check(schema("9007199254740992"), '{"id":9007199254740993}')).toMatchObject({ ok: false });
  });
});
