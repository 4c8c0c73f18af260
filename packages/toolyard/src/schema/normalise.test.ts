import { expect, test } from "vitest";
import { normaliseInputSchema } from "./normalise.ts";

test.each([[{}], [undefined], [null], [true]])("C11: %j goes out as an object schema", (raw) => {
  expect(normaliseInputSchema(raw)).toEqual({ schema: { type: "object" } });
});

test("a proper schema comes back as the same object", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, "x-more": 1 };
  expect(normaliseInputSchema(schema)).toEqual({ schema });
  expect(normaliseInputSchema(schema).schema).toBe(schema);
});

test("C11: a bare map of properties is wrapped, with a warning", () => {
  expect(normaliseInputSchema({ city: { type: "string", description: "Where" }, days: {} })).toEqual({
    schema: { type: "object", properties: { city: { type: "string", description: "Where" }, days: {} } },
    warning: expect.stringContaining("bare map"),
  });
});

test("a parameter may be called like a keyword", () => {
  const { schema } = normaliseInputSchema({
    type: { type: "string" },
    title: { type: "string" },
    properties: { type: "array" },
    items: { type: "array" },
  });
  expect(Object.keys(schema["properties"] as object)).toEqual(["type", "title", "properties", "items"]);
});

test("parameters that are each marked as required are listed as such", () => {
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
])("a schema that only lacks its type gets it: %j", (raw) => {
  expect(normaliseInputSchema(raw)).toEqual({ schema: { type: "object", ...raw } });
});

test.each([["text"], [["a"]], [5], [false], [{ type: "string" }]])(
  "what can be no object schema accepts anything, with a warning: %j",
  (raw) => {
    expect(normaliseInputSchema(raw)).toEqual({
      schema: { type: "object" },
      warning: expect.stringContaining("input schema must be"),
    });
  },
);

test("object among several types is object", () => {
  expect(normaliseInputSchema({ type: ["object", "null"], title: "t" })).toEqual({
    schema: { type: "object", title: "t" },
  });
});
