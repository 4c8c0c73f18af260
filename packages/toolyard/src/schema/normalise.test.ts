import { expect, test } from "vitest";
import { normaliseInputSchema } from "./normalise.ts";

test.each([[{}], [undefined], [null], [true]])("C11: converts %j to an object schema", (raw) => {
  expect(normaliseInputSchema(raw)).toEqual({ schema: { type: "object" } });
});

test("returns a valid object schema as the same object", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, "x-more": 1 };
  expect(normaliseInputSchema(schema)).toEqual({ schema });
  expect(normaliseInputSchema(schema).schema).toBe(schema);
});

test("C11: wraps a bare map of properties, with a warning", () => {
  expect(normaliseInputSchema({ city: { type: "string", description: "Where" }, days: {} })).toEqual({
    schema: { type: "object", properties: { city: { type: "string", description: "Where" }, days: {} } },
    warning: expect.stringContaining("bare map"),
  });
});

test("allows a parameter that is named like a keyword", () => {
  const { schema } = normaliseInputSchema({
    type: { type: "string" },
    title: { type: "string" },
    properties: { type: "array" },
    items: { type: "array" },
  });
  expect(Object.keys(schema["properties"] as object)).toEqual(["type", "title", "properties", "items"]);
});

test("lists parameters as required if each of them is marked as required", () => {
  expect(
    normaliseInputSchema({ a: { type: "string", required: true }, b: { type: "string", required: false } }).schema,
  ).toEqual({
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" } },
    required: ["a"],
  });
});

test.each([
  [{ properties: { a: { type: "string" } }, required: ["a"] }],
  [{ properties: { type: { type: "string" } } }],
  [{ properties: {} }],
  [{ $ref: "#/$defs/a", $defs: { a: { type: "object" } } }],
  [{ anyOf: [{ required: ["a"] }] }],
  [{ additionalProperties: { type: "string" } }],
  [{ additionalProperties: false }],
  [{ description: "anything" }],
])("adds the type to a schema that lacks only the type: %j", (raw) => {
  expect(normaliseInputSchema(raw)).toEqual({ schema: { type: "object", ...raw } });
});

test.each([["text"], [["a"]], [5], [false], [{ type: "string" }]])(
  "accepts anything for a schema that cannot describe an object, with a warning: %j",
  (raw) => {
    expect(normaliseInputSchema(raw)).toEqual({
      schema: { type: "object" },
      warning: expect.stringContaining("input schema must be"),
    });
  },
);

test("narrows a list of types that contains object to object", () => {
  expect(normaliseInputSchema({ type: ["object", "null"], title: "t" })).toEqual({
    schema: { type: "object", title: "t" },
  });
});
