import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Random } from "../support/random.ts";

/** A schema that is expensive to check, and a value for it. */
export interface Attack {
  readonly name: string;
  readonly schema: JsonObject;
  readonly value: JsonObject;
}

export const ATTACKS: readonly Attack[] = [
  attack("defaults next to references that double, 28 levels", fillingLevels(28)),
  attack("the same behind a member of the caller", behindMember(fillingLevels(28)), { go: {} }),
  attack("a default that is filled with itself", { properties: { a: { $ref: "#", default: {} } } }),
  attack("a default of almost a megabyte", { properties: { a: { default: "x".repeat(900_000) } } }),
  attack("defaults that bring members which bring defaults", fillingMembers(28)),
  attack("long names above many members", {
    properties: { ["n".repeat(7000)]: properties(95, () => ({ minLength: 1 })) },
  }),
  attack("names upon names", longPath(28)),
  attack("63 KB of nested anyOf", { anyOf: many(40, () => nestedUnion(40)) }, { a: 1 }),
  attack("nested anyOf of 190 levels", { properties: { a: nestedUnion(90) } }, { a: {} }),
  attack("1,000 branches of oneOf", { oneOf: many(1000, branch) }, { a: -1 }),
  attack(
    "2,000 plain properties",
    properties(2000, () => ({ type: "string" })),
    { p1: 1 },
  ),
  attack(
    "20,000 plain properties",
    properties(20_000, () => ({ type: "string", minLength: 1 })),
    { p1: 1 },
  ),
  attack(
    "99 unions",
    properties(24, () => ({ anyOf: many(3, (at) => ({ const: at })) })),
    { p1: "a", p2: "b" },
  ),
  attack("20,000 definitions", { $defs: Object.fromEntries(many(20_000, (at) => [`d${at}`, { $id: `urn:${at}` }])) }),
  attack("90,000 values of enum", { properties: { a: { enum: many(90_000, String) } } }, { a: "a" }),
  attack("references that multiply", doublingReferences(40)),
  attack("a recursion that doubles", doublingRecursion(), deepValue("x", 28)),
  attack("a recursion that never ends", doublingRecursion(), deepValue("x", 60)),
  attack("$dynamicRef", { $dynamicAnchor: "n", additionalProperties: { $dynamicRef: "#n" } }, deepValue("x", 300)),
  attack(
    "patterns that repeat",
    properties(90, (at) => ({ pattern: `((a{100}){100})${at}` })),
    { p1: "a" },
  ),
  attack(
    "patterns of classes",
    properties(90, (at) => ({ pattern: `[${String.fromCodePoint(0x4e00 + at)}-\\u{ffff}]{9}` })),
    { p1: "a" },
  ),
  attack(
    "patterns of names",
    { patternProperties: Object.fromEntries(many(40, (at) => [`(x+x+)+y${at}`, {}])) },
    Object.fromEntries(many(2000, (at) => [`${"x".repeat(40)}${at}`, at])),
  ),
  attack(
    "a pattern against a long text",
    { properties: { a: { pattern: "^(?:a|b|[ab]){1,300}$" } } },
    {
      a: "a".repeat(100_000),
    },
  ),
  attack(
    "formats against long texts",
    { properties: { a: { items: { format: "url" } } } },
    {
      a: many(500, () => `http://${"0:".repeat(1000)}`),
    },
  ),
  attack(
    "unique items, nested",
    { items: { $ref: "#/$defs/u" }, $defs: { u: unique() }, ...unique() },
    {
      a: deepList(900),
    },
  ),
  attack(
    "unique items of many objects",
    { properties: { a: { uniqueItems: true } } },
    {
      a: many(40_000, (at) => ({ at })),
    },
  ),
  attack(
    "18,000 errors of 50 branches",
    { properties: { a: { items: { anyOf: many(50, (at) => ({ const: at })) } } } },
    {
      a: many(18_000, () => "z"),
    },
  ),
  attack(
    "more errors than are sent",
    { properties: { a: { items: { anyOf: many(50, (at) => ({ const: at })) } } } },
    {
      a: many(100_000, () => "z"),
    },
  ),
  attack("a name of a megabyte", { additionalProperties: { required: many(20, String) } }, { ["k".repeat(1e6)]: {} }),
];

/** Returns a schema that is randomly composed of expensive parts. */
export function randomAttack(random: Random): Attack {
  const depth = 1 + random.below(4);
  const schema = {
    type: "object",
    ...randomSchema(random, depth),
    $defs: { a: randomSchema(random, 2), b: RECURSIVE },
  };
  return { name: "random", schema, value: { a: randomValue(random, 3), b: deepValue("a", random.below(40)) } };
}

const RECURSIVE: JsonObject = { properties: { a: { $ref: "#/$defs/b", default: {} } }, allOf: [{ $ref: "#/$defs/a" }] };

function randomSchema(random: Random, depth: number): JsonObject {
  const count = 1 + random.below(random.pick([2, 5, 40]));
  const inner = (): JsonObject => (depth === 0 ? leaf(random) : randomSchema(random, depth - 1));
  switch (random.below(9)) {
    case 0:
      return { [random.pick(["anyOf", "oneOf", "allOf"])]: many(count, inner) };
    case 1:
      return properties(count, inner);
    case 2:
      return { items: inner(), uniqueItems: true };
    case 3:
      return { $ref: random.pick(["#", "#/$defs/a", "#/$defs/b", "#/properties/p0", "urn:other"]) };
    case 4:
      return { patternProperties: { [random.pick(["^(a+)+$", "(a|a)*", "[^x]{1,99}"])]: inner() } };
    case 5:
      return { ...properties(count, () => ({ ...inner(), default: random.pick([{}, [], "a", { p0: {} }]) })) };
    case 6:
      return { if: inner(), else: inner(), not: inner() };
    case 7:
      return { additionalProperties: inner(), unevaluatedProperties: inner(), propertyNames: leaf(random) };
    default:
      return leaf(random);
  }
}

function leaf(random: Random): JsonObject {
  return random.pick<JsonObject>([
    { type: "string", pattern: "^(?:a|b|[ab]){1,90}$" },
    { format: random.pick(["url", "uri", "email", "regex", "date-time"]) },
    { enum: many(random.below(3000), String) },
    { const: { a: [1, { b: 2 }] } },
    { type: ["integer", "null"], multipleOf: 0.1 },
    { $dynamicRef: "#n" },
    { type: "array", prefixItems: [{ default: {} }], contains: { type: "string" } },
  ]);
}

function randomValue(random: Random, depth: number): unknown {
  if (depth === 0) return random.pick<unknown>(["a".repeat(random.below(5000)), 1, null, true, "http://0:0:"]);
  const count = random.below(random.pick([3, 30, 300]));
  const members = many(count, () => randomValue(random, depth - 1));
  return random.pick([true, false]) ? members : Object.fromEntries(members.map((one, at) => [`p${at}`, one]));
}

function attack(name: string, schema: JsonObject, value: JsonObject = {}): Attack {
  return { name, schema: { type: "object", ...schema }, value };
}

function many<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

export function properties(count: number, make: (at: number) => JsonObject): JsonObject {
  return { properties: Object.fromEntries(many(count, (at) => [`p${at}`, make(at)])) };
}

function branch(at: number): JsonObject {
  return { type: "object", properties: { a: { const: at } }, required: ["a"] };
}

function nestedUnion(levels: number): JsonObject {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < levels; level += 1) schema = { anyOf: [schema, { type: "integer" }] };
  return schema;
}

export function fillingLevels(levels: number): JsonObject {
  const next = (at: number): JsonObject => ({ $ref: `#/$defs/d${at + 1}`, default: {} });
  const definitions = many(levels, (at) => [`d${at}`, { type: "object", properties: { a: next(at), b: next(at) } }]);
  const last = { type: "object", properties: { s: { default: "x" } } };
  return { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(definitions), [`d${levels}`]: last } };
}

function fillingMembers(levels: number): JsonObject {
  const next = (at: number): JsonObject => ({ $ref: `#/$defs/d${at + 1}` });
  const level = (at: number): JsonObject => ({ default: { l: {}, r: {} }, properties: { l: next(at), r: next(at) } });
  const definitions = many(levels, (at) => [`d${at}`, { type: "object", properties: { x: level(at) } }]);
  return { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(definitions), [`d${levels}`]: {} } };
}

function longPath(levels: number): JsonObject {
  let schema = properties(60, () => ({ type: "string", minLength: 1 }));
  for (let level = 0; level < levels; level += 1) schema = { properties: { ["n".repeat(200)]: schema } };
  return schema;
}

function behindMember({ $ref, $defs }: JsonObject): JsonObject {
  return { properties: { go: { $ref } }, $defs };
}

function doublingReferences(levels: number): JsonObject {
  const next = (at: number): JsonObject => ({ $ref: `#/$defs/d${at + 1}` });
  const definitions = many(levels, (at) => [`d${at}`, { allOf: [next(at), next(at)] }]);
  return { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(definitions), [`d${levels}`]: {} } };
}

export function doublingRecursion(): JsonObject {
  const again = { properties: { x: { $ref: "#/$defs/a" } } };
  return { $ref: "#/$defs/a", $defs: { a: { allOf: [again, again] } } };
}

function unique(): JsonObject {
  return { uniqueItems: true, items: { $ref: "#/$defs/u" }, additionalProperties: { $ref: "#/$defs/u" } };
}

export function deepValue(key: string, levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 0; level < levels; level += 1) value = { [key]: value };
  return value;
}

function deepList(levels: number): unknown {
  let value: unknown = [1];
  for (let level = 0; level < levels; level += 1) value = [value, level];
  return value;
}
