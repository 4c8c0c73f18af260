import { expect, test } from "vitest";
import { cpuMs } from "../../../../test/fixtures/cpu-time.ts";
import type { JsonObject } from "../core/json/json.ts";
import { compileSchema, type CheckResult } from "./compile.ts";

const weather: JsonObject = {
  type: "object",
  properties: {
    city: { type: "string" },
    unit: { type: "string", enum: ["celsius", "fahrenheit"], default: "celsius" },
    days: { type: "integer", minimum: 1 },
    options: { type: "object", properties: { lang: { type: "string", default: "en" } } },
  },
  required: ["city"],
  additionalProperties: false,
};

function messageOf(result: CheckResult): string {
  return result.ok ? "accepted" : result.message;
}

function check(schema: JsonObject, value: unknown): string {
  return messageOf(compileSchema(schema).check(value));
}

test("C37: fills in defaults, including nested ones, in a copy", () => {
  const value = { city: "Bonn", options: {} };
  expect(compileSchema(weather).check(value)).toEqual({
    ok: true,
    value: { city: "Bonn", unit: "celsius", options: { lang: "en" } },
  });
  expect(value).toEqual({ city: "Bonn", options: {} });
});

test("returns the caller's own object if the schema has no defaults", () => {
  const value = { a: 1 };
  expect(compileSchema({ type: "object", properties: { a: { type: "number" } } }).check(value)).toEqual({
    ok: true,
    value,
  });
  const result = compileSchema({ type: "object" }).check(value);
  expect(result.ok && result.value).toBe(value);
});

test("does not fill in defaults if the option is off", () => {
  const value = { city: "Bonn" };
  const result = compileSchema(weather, { fillDefaults: false }).check(value);
  expect(result.ok && result.value).toBe(value);
});

test("ignores a default that its own schema rejects, because the author of the schema made the mistake", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string", default: null }, b: { type: "number", default: 2 } },
  };
  expect(compileSchema(schema).check({})).toEqual({ ok: true, value: { b: 2 } });
  expect(check(schema, { a: 5 })).toBe("`a` must be a string, got an integer");
});

test("does not share a filled-in object between calls", () => {
  const compiled = compileSchema({ type: "object", properties: { list: { type: "array", default: [] } } });
  const first = compiled.check({});
  const second = compiled.check({});
  expect(first.ok && second.ok && (first.value as JsonObject)["list"] !== (second.value as JsonObject)["list"]).toBe(
    true,
  );
});

test("G12: names a missing parameter with the fixed wording", () => {
  expect(check(weather, {})).toBe("Missing required parameter: city");
  expect(compileSchema(weather).check({})).toMatchObject({
    ok: false,
    errors: [{ path: "city", expected: "a string", received: "nothing" }],
  });
});

test("G12: rejects a wrong type with the path, the expected and the received value", () => {
  expect(compileSchema(weather).check({ city: "Bonn", days: "3" })).toEqual({
    ok: false,
    message: "`days` must be an integer, got a string",
    errors: [
      {
        path: "days",
        message: "`days` must be an integer, got a string",
        expected: "an integer",
        received: "a string",
      },
    ],
  });
});

test("suggests the parameter for a misspelt name", () => {
  expect(check(weather, { ctiy: "Bonn" })).toBe(
    'Missing required parameter: city ("ctiy" was given, did you mean "city"?); ' +
      'Unknown parameter: ctiy, did you mean "city"?',
  );
});

test("lists the known parameters for an unknown name that resembles none", () => {
  expect(check(weather, { city: "Bonn", zzz: 1 })).toBe(
    'Unknown parameter: zzz (accepted: one of "city", "unit", "days", "options")',
  );
});

test("C37: allows additional properties unless the schema forbids them", () => {
  expect(check({ type: "object", properties: {} }, { more: 1 })).toBe("accepted");
});

test("lists the allowed values and suggests a similar one", () => {
  expect(check(weather, { city: "Bonn", unit: "celcius" })).toBe(
    '`unit` must be one of "celsius", "fahrenheit"; did you mean "celsius"?',
  );
});

test("reports all errors up to a limit", () => {
  const schema = { type: "object", required: Array.from({ length: 50 }, (_, index) => `p${index}`) };
  const result = compileSchema(schema).check({});
  expect(result.ok ? 0 : result.errors.length).toBe(20);
  expect(messageOf(result)).toMatch(/^Missing required parameter: p0; .*; and 10 more$/);
});

test("includes array indexes in the path", () => {
  const schema = {
    type: "object",
    properties: {
      to: { type: "array", items: { type: "object", properties: { email: { type: "string", format: "email" } } } },
    },
  };
  expect(check(schema, { to: [{ email: "a@b.de" }, { email: "nobody" }] })).toBe(
    "`to[1].email` must be in the format email",
  );
});

test("explains the branch of a union that accepts the type of the value", () => {
  const schema = {
    type: "object",
    properties: {
      to: {
        anyOf: [{ type: "null" }, { type: "object", properties: { email: { type: "string" } }, required: ["email"] }],
      },
    },
  };
  expect(check(schema, { to: { email: 5 } })).toBe(
    "`to` must be null or an object with email; closest: `to.email` must be a string, got an integer",
  );
  expect(check(schema, { to: 5 })).toBe("`to` must be null or an object with email, got an integer");
  expect(check(schema, { to: null })).toBe("accepted");
});

test("does not take names inherited from Object for parameters", () => {
  expect(check({ type: "object", required: ["toString"] }, {})).toBe("Missing required parameter: toString");
  const value = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject;
  const result = compileSchema({ type: "object", properties: { a: { default: 1 } } }).check(value);
  expect(result.ok && Object.keys(result.value as JsonObject)).toEqual(["__proto__", "a"]);
  expect(({} as JsonObject)["polluted"]).toBeUndefined();
});

test.each([
  ["2020-12 by default", { prefixItems: [{ type: "string" }], items: false }, ["a"], ["a", 1]],
  [
    "2020-12 by name",
    { $schema: "https://json-schema.org/draft/2020-12/schema", dependentRequired: { a: ["b"] } },
    { a: 1, b: 1 },
    { a: 1 },
  ],
  [
    "2019-09",
    { $schema: "https://json-schema.org/draft/2019-09/schema", items: [{ type: "string" }], additionalItems: false },
    ["a"],
    ["a", 1],
  ],
  [
    "draft-07",
    { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }], additionalItems: false },
    ["a"],
    ["a", 1],
  ],
  [
    "draft-06",
    { $schema: "http://json-schema.org/draft-06/schema#", definitions: { a: { const: 1 } }, $ref: "#/definitions/a" },
    1,
    2,
  ],
  ["an unknown one", { $schema: "https://example.com/mine", type: "string" }, "a", 1],
])("C37: supports the dialect %s", (_, schema, good, bad) => {
  expect(compileSchema(schema as JsonObject)).toMatchObject({ usable: true, warnings: [] });
  expect([
    compileSchema(schema as JsonObject).check(good).ok,
    compileSchema(schema as JsonObject).check(bad).ok,
  ]).toEqual([true, false]);
});

test("checks recursive values with a recursive schema", () => {
  const tree: JsonObject = {
    type: "object",
    properties: { children: { type: "array", items: { $ref: "#" } }, name: { type: "string" } },
    required: ["name"],
  };
  expect(check(tree, { name: "a", children: [{ name: "b" }] })).toBe("accepted");
  expect(check(tree, { name: "a", children: [{}] })).toBe("Missing required parameter: children[0].name");
});

test.each([
  [
    "a reference outside",
    { $ref: "https://example.com/schema.json" },
    /references to other documents are not followed/,
  ],
  ["a wrong keyword", { type: "strnig" }, /type/],
  ["a wrong shape", { type: "object", required: true }, /required/],
  ["an asynchronous one", { $async: true, type: "object" }, /asynchronous/],
  ["a stolen identity", { $id: "http://json-schema.org/draft-07/schema", type: "object" }, /identity/],
  ["endless nesting", nested(1000), /nested/],
  ["too many parts", { enum: Array.from({ length: 60_000 }, () => ({})) }, /parts/],
  ["references that multiply", doubling(40), /multiply/],
])("with %s the schema is unusable and accepts everything", (_, schema, reason) => {
  const compiled = compileSchema(schema as JsonObject);
  expect(compiled.usable).toBe(false);
  expect(compiled.reason).toMatch(reason);
  expect(compiled.check({ any: "thing" })).toEqual({ ok: true, value: { any: "thing" } });
});

test("resolves a reference to a published meta-schema", () => {
  const schema = {
    type: "object",
    properties: { schema: { $ref: "http://json-schema.org/draft-07/schema#" } },
    $schema: "http://json-schema.org/draft-07/schema#",
  };
  expect(check(schema, { schema: { type: "string" } })).toBe("accepted");
  expect(check(schema, { schema: { type: 5 } })).not.toBe("accepted");
});

test("ignores an `id` inside an old schema", () => {
  expect(check({ id: "x", type: "object", properties: { a: { id: "a", type: "string" } } }, { a: 1 })).toBe(
    "`a` must be a string, got an integer",
  );
});

test("omits a pattern that cannot be checked and reports it; checks the rest", () => {
  const compiled = compileSchema({
    type: "object",
    properties: { a: { type: "string", pattern: "(?<=x)y" }, b: { type: "string", pattern: "^b$" } },
  });
  expect(compiled.warnings).toEqual([
    'The pattern "(?<=x)y" is not checked: it has a look behind or a group modifier.',
  ]);
  expect([compiled.check({ a: "z" }).ok, compiled.check({ b: "z" }).ok]).toEqual([true, false]);
});

test.each([
  ["a pattern", { properties: { a: { type: "string", pattern: "^(a+)+$" } } }, { a: `${"a".repeat(50_000)}!` }],
  [
    "many patterns",
    { patternProperties: { "^(a|a)*$": {}, "(x+x+)+y": {} } },
    Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`${"a".repeat(50)}${index}`, 1])),
  ],
  ["an email", { properties: { a: { format: "email" } } }, { a: `${"a.".repeat(50_000)}@` }],
  ["a uri", { properties: { a: { format: "uri" } } }, { a: `http://${"a:".repeat(50_000)}` }],
  [
    "unique items",
    { properties: { a: { uniqueItems: true } } },
    { a: Array.from({ length: 100_000 }, (_, index) => ({ index })) },
  ],
  [
    "a million wrong items",
    { properties: { a: { items: { type: "string" } } } },
    { a: Array.from({ length: 1_000_000 }, () => 1) },
  ],
  [
    "a deep value",
    { $ref: "#/$defs/a", $defs: { a: { type: "array", items: { $ref: "#/$defs/a" } } } },
    JSON.parse("[".repeat(50_000) + "]".repeat(50_000)),
  ],
])("S18: checks %s from an attacker in bounded time", (_, schema, value) => {
  const compiled = compileSchema(schema as JsonObject);
  compiled.check({});
  const startedAt = cpuMs();
  compiled.check(value);
  expect(cpuMs() - startedAt).toBeLessThan(3000);
});

test("S18: rejects text that is too long for its pattern and advises to send less", () => {
  expect(
    check({ properties: { a: { type: "string", pattern: "^(?:a|b|[ab]){1,900}$" } } }, { a: "a".repeat(900_000) }),
  ).toBe("The value is too long to be checked against the patterns of its schema; send shorter text");
});

test("accepts a long data URI as a URI", () => {
  expect(
    check(
      { properties: { a: { format: "uri" }, b: { format: "email" } } },
      { a: `data:text/plain;base64,${"A".repeat(100_000)}` },
    ),
  ).toBe("accepted");
  expect(check({ properties: { b: { format: "email" } } }, { b: `${"a".repeat(5000)}@b.de` })).toBe(
    "`b` must be in the format email",
  );
});

test("finds repeated items in any order of their members", () => {
  const schema = { type: "array", uniqueItems: true };
  expect(
    check(schema, [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]),
  ).toBe("The value must not hold the same item twice");
  expect(check(schema, [1, "1", true, "true", null, [1], ["1"]])).toBe("accepted");
});

test("compiles a schema object only once", () => {
  expect(compileSchema(weather)).toBe(compileSchema(weather));
});

function nested(depth: number): JsonObject {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < depth; level += 1) schema = { type: "object", properties: { a: schema } };
  return schema;
}

function doubling(count: number): JsonObject {
  const definitions: JsonObject = { d0: { type: "string" } };
  for (let index = 1; index <= count; index += 1)
    definitions[`d${index}`] = { allOf: [{ $ref: `#/$defs/d${index - 1}` }, { $ref: `#/$defs/d${index - 1}` }] };
  return { $ref: `#/$defs/d${count}`, $defs: definitions };
}
