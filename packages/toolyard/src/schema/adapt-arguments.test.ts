import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../core/json/json.ts";
import { adaptArguments } from "./adapt-arguments.ts";

/** Returns the adapted value of one argument `a` under this schema; `undefined` if nothing was adapted. */
function adapted(schema: unknown, a: unknown, more: JsonObject = {}): unknown {
  const root = { type: "object", properties: { a: schema }, ...more };
  return adaptArguments(root, { a }, { coerces: true })?.checked["a"];
}

const number = { type: "number" };
const integer = { type: "integer" };
const boolean = { type: "boolean" };
const text = { type: "string" };

describe("reads text as a scalar", () => {
  test.each<[unknown, unknown, unknown]>([
    [integer, "1", 1],
    [integer, "-12", -12],
    [number, "1.5", 1.5],
    [number, "1e3", 1000],
    [integer, "9007199254740993", 9007199254740993n],
    [boolean, "true", true],
    [boolean, "False", false],
    [{ type: ["integer", "null"] }, "7", 7],
    [{ anyOf: [number, { type: "null" }] }, "7", 7],
    [{ anyOf: [integer, number] }, "7", 7],
    [{ allOf: [{ minimum: 1 }, { type: "integer" }] }, "7", 7],
    [{ $ref: "#/$defs/count" }, "7", 7],
    [{ enum: [1, 2, 3] }, "2", 2],
    [{ const: true }, "true", true],
  ])("under the schema %j: %j", (schema, given, expected) => {
    expect(adapted(schema, given, { $defs: { count: integer } })).toBe(expected);
  });

  test("reads text inside lists, tuples, nested objects and additional members", () => {
    const schema = {
      type: "object",
      properties: {
        list: { type: "array", items: integer },
        tuple: { type: "array", prefixItems: [boolean, text], items: number },
        inner: { type: "object", properties: { deep: boolean } },
      },
      additionalProperties: number,
    };
    const args = { list: ["1", 2], tuple: ["true", "3", "4"], inner: { deep: "false" }, other: "5" };
    expect(adaptArguments(schema, args, { coerces: true })?.checked).toEqual({
      list: [1, 2],
      tuple: [true, "3", 4],
      inner: { deep: false },
      other: 5,
    });
    expect(args.list).toEqual(["1", 2]);
  });
});

describe("keeps text", () => {
  test.each<[unknown, string]>([
    [integer, ""],
    [integer, " 1"],
    [integer, "1,000"],
    [integer, "+1"],
    [integer, "0x10"],
    [integer, "01"],
    [integer, "one"],
    [number, "NaN"],
    [number, "Infinity"],
    [number, "1e999"],
    [number, "0.12345678901234567890"],
    [boolean, "yes"],
    [boolean, "1"],
    [boolean, ""],
    [text, "1"],
    [{ anyOf: [text, number] }, "1"],
    [{ type: ["boolean", "integer"] }, "1"],
    [{ enum: [1, "1"] }, "1"],
    [{ anyOf: [number, { const: "auto" }] }, "1"],
    [{}, "1"],
    [{ type: "array", items: number }, "1"],
  ])("under the schema %j: %j", (schema, given) => {
    expect(adapted(schema, given)).toBeUndefined();
  });

  test("with `coerces` false", () => {
    const schema = { type: "object", properties: { a: integer } };
    expect(adaptArguments(schema, { a: "1" }, { coerces: false })).toBeUndefined();
  });
});

describe("removes a value that equals the default of its schema", () => {
  test.each<[unknown, unknown]>([
    [{ type: "string", default: null }, null],
    [{ type: "integer", default: null }, null],
    [{ type: "array", items: {}, default: null }, null],
    [{ enum: ["a", "b"], default: "" }, ""],
    [{ type: "integer", default: "10" }, "10"],
    [{ type: "string", default: false }, false],
  ])("before validation, and restores it afterwards: %j", (schema, value) => {
    const root = { type: "object", properties: { a: schema, b: text } };
    const read = adaptArguments(root, { a: value, b: "x" }, { coerces: false })!;
    expect(read.checked).toEqual({ b: "x" });
    expect(read.restore({ b: "x", c: 1 })).toEqual({ a: value, b: "x", c: 1 });
  });

  test("in a list of objects, and for a member with `default` next to a reference", () => {
    const item = { type: "object", properties: { a: { $ref: "#/$defs/t", default: null } } };
    const root = { type: "object", $defs: { t: text }, properties: { list: { type: "array", items: item } } };
    const args = { list: [{ a: "x" }, { a: null, b: 1 }] };
    const read = adaptArguments(root, args, { coerces: true })!;
    expect(read.checked).toEqual({ list: [{ a: "x" }, { b: 1 }] });
    expect(read.restore(read.checked)).toEqual(args);
  });

  test("but keeps the value if the default is different", () => {
    expect(adapted({ type: "string", default: "x" }, null)).toBeUndefined();
    expect(adapted({ type: "string" }, null)).toBeUndefined();
    expect(adapted({ type: "object", default: {} }, {})).toBeUndefined();
  });
});

test("ends for circular references and very deep arguments", () => {
  const circle = {
    type: "object",
    properties: { a: { $ref: "#" } },
    anyOf: [{ $ref: "#" }],
    additionalProperties: integer,
  };
  let args: JsonObject = { b: "1" };
  for (let depth = 0; depth < 50; depth += 1) args = { a: args };
  expect(JSON.stringify(adaptArguments(circle, args, { coerces: true })?.checked)).toContain('{"b":1}');
  const many = { type: "object", properties: { list: { type: "array", items: integer } } };
  expect(adaptArguments(many, { list: Array(20_000).fill("1") }, { coerces: true })).toBeUndefined();
});

test("converts the text of any JSON number to that number, and does not change other values", () => {
  fc.assert(
    fc.property(fc.oneof(fc.integer(), fc.bigInt(), fc.double({ noNaN: true, noDefaultInfinity: true })), (value) => {
      const read = adapted(number, typeof value === "bigint" ? String(value) : JSON.stringify(value));
      if (read !== undefined) expect(String(read)).toBe(String(value));
    }),
    { seed: 27, numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      if (typeof value !== "string") expect(adapted(integer, value)).toBeUndefined();
    }),
    { seed: 27, numRuns: 300 },
  );
});

describe("restores the defaults", () => {
  const wrong = { type: "string", default: null };

  test("restores defaults at every depth of lists and objects, each once", () => {
    const entry = {
      type: "object",
      properties: { a: wrong, n: integer, inner: { type: "array", items: { properties: { b: wrong } } } },
    };
    const schema = { type: "object", properties: { n: integer, list: { type: "array", items: entry }, top: wrong } };
    const one = { a: null, n: "1", inner: [{ b: null }, {}, { b: "x" }] };
    const args = { n: "3", list: [one, {}, one], top: null };
    const { checked, restore } = adaptArguments(schema, args, { coerces: true })!;
    expect(checked).toEqual({
      n: 3,
      list: [{ n: 1, inner: [{}, {}, { b: "x" }] }, {}, { n: 1, inner: [{}, {}, { b: "x" }] }],
    });
    const read = { ...one, n: 1 };
    expect(restore(checked)).toEqual({ n: 3, list: [read, {}, read], top: null });
    expect(args.list[0]).toBe(one);
  });

  test("copies an object with thousands of adapted members once", () => {
    const schema = { type: "object", properties: { n: integer }, additionalProperties: wrong };
    const names = Array.from({ length: 9_000 }, (_, at) => `k${at}`);
    const args = { n: "3", ...Object.fromEntries(names.map((name) => [name, null])) };
    const { checked, restore } = adaptArguments(schema, args, { coerces: true })!;
    let copies = 0;
    const counted = new Proxy(checked, {
      ownKeys: (target) => {
        copies += 1;
        return Reflect.ownKeys(target);
      },
    });
    expect(Object.keys(restore(counted))).toHaveLength(9_001);
    expect(copies).toBe(1);
  });
});

test("does not adapt large arguments if a union has very many branches", () => {
  const branches = Array.from({ length: 1_000 }, (_, at) => ({ type: "number", minimum: -at }));
  const schema = { type: "object", additionalProperties: { anyOf: branches } };
  const args = (length: number): JsonObject => Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, "5"]));
  expect(adaptArguments(schema, args(20), { coerces: true })?.checked["k19"]).toBe(5);
  expect(adaptArguments(schema, args(500), { coerces: true })).toBeUndefined();
});
