import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../core/json/json.ts";
import { portableSchema } from "./portable-schema.ts";

const AT = "#/components/schemas/t";
const port = (schema: JsonObject): unknown => portableSchema(schema, AT);

describe("references of a tool's schema", () => {
  test("rewrites references so that they point into the document, including recursive and escaped ones", () => {
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/$defs/Box<a~1b>" }, self: { $ref: "#" }, b: { $ref: "#/properties/a" } },
      $defs: { "Box<a/b>": { type: "string" } },
    };
    expect(port(schema)).toEqual({
      type: "object",
      properties: { a: { $ref: `${AT}/$defs/Box_a_b_` }, self: { $ref: AT }, b: { $ref: `${AT}/properties/a` } },
      $defs: { Box_a_b_: { type: "string" } },
    });
  });

  test("resolves references by identity and by anchor, and removes all identities", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "https://example.com/tree",
      properties: {
        a: { $ref: "https://example.com/tree#/$defs/leaf" },
        b: { $ref: "#leaf" },
        c: { $ref: "node" },
        d: { $dynamicRef: "#leaf" },
      },
      $defs: {
        leaf: { $anchor: "leaf", type: "string" },
        node: { $id: "node", properties: { up: { $ref: "#/properties/name" }, name: { type: "integer" } } },
      },
    };
    const text = JSON.stringify(port(schema));
    expect(text).not.toMatch(/"\$(id|anchor|schema|dynamicRef)"/);
    expect(port(schema)).toMatchObject({
      properties: {
        a: { $ref: `${AT}/$defs/leaf` },
        b: { $ref: `${AT}/$defs/leaf` },
        c: { $ref: `${AT}/$defs/node` },
        d: { $ref: `${AT}/$defs/leaf` },
      },
      $defs: { node: { properties: { up: { $ref: `${AT}/$defs/node/properties/name` } } } },
    });
  });

  test("removes references that lead out of the schema, and mentions them", () => {
    expect(
      port({ properties: { a: { $ref: "https://example.com/other.json" }, b: { $ref: "#/$defs/none" } } }),
    ).toEqual({
      properties: {
        a: { $comment: expect.stringContaining("other.json") },
        b: { $comment: expect.stringContaining("none") },
      },
    });
  });

  test("copies a referenced schema from a place where no schema is expected", () => {
    expect(
      port({
        properties: { a: { $ref: "#/components/x" } },
        components: { x: { properties: { b: { $ref: "#/components/y" } } }, y: { type: "null" } },
      }),
    ).toMatchObject({
      properties: { a: { $ref: `${AT}/$defs/_1` } },
      $defs: { _1: { properties: { b: { $ref: `${AT}/$defs/_2` } } }, _2: { type: "null" } },
    });
  });
});

describe("older drafts of JSON Schema", () => {
  test("converts draft-07 to 2020-12, with its references", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: {
        pair: { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: { type: "null" } },
      },
      properties: {
        p: { $ref: "#/definitions/pair", type: "string", description: "Both." },
        first: { $ref: "#/definitions/pair/items/0" },
        rest: { $ref: "#/definitions/pair/additionalItems" },
      },
      dependencies: { p: ["first"], first: { required: ["p"] } },
    };
    expect(port(schema)).toEqual({
      $defs: {
        pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: { type: "null" } },
      },
      properties: {
        p: { $ref: `${AT}/$defs/pair`, description: "Both." },
        first: { $ref: `${AT}/$defs/pair/prefixItems/0` },
        rest: { $ref: `${AT}/$defs/pair/items` },
      },
      dependentRequired: { p: ["first"] },
      dependentSchemas: { first: { required: ["p"] } },
    });
  });

  test("converts draft-04 bounds to numbers", () => {
    expect(
      port({ properties: { a: { minimum: 1, exclusiveMinimum: true }, b: { maximum: 1, exclusiveMaximum: false } } }),
    ).toEqual({ properties: { a: { exclusiveMinimum: 1 }, b: { maximum: 1 } } });
  });
});

describe("values that are not schemas", () => {
  test("removes a value that is not a schema, and keeps its siblings", () => {
    expect(
      port({
        type: "objekt",
        required: true,
        properties: { a: { type: "string", minLength: -1, description: 5 }, b: "text", c: null },
        items: 3,
        anyOf: [],
        "x-own": { kept: 1 },
      }),
    ).toEqual({
      properties: { a: { type: "string" }, b: true, c: true },
      "x-own": { kept: 1 },
    });
  });

  test("does not treat a parameter or value with the name of a reference keyword as a reference", () => {
    const schema = {
      properties: {
        $ref: { type: "string" },
        $id: { type: "integer" },
        a: { default: { $ref: "#/nowhere" }, type: "object" },
      },
      required: ["$ref"],
      patternProperties: { "^x": true },
    };
    expect(port(schema)).toEqual({
      properties: { a: { type: "object" } },
      required: ["$ref"],
      patternProperties: { "^x": true, "^\\$ref$": { type: "string" }, "^\\$id$": { type: "integer" } },
    });
  });

  test("truncates schemas that are nested too deeply", () => {
    let schema: JsonObject = { type: "object" };
    for (let depth = 0; depth < 5000; depth += 1) schema = { properties: { a: schema } };
    expect(JSON.stringify(port(schema)).length).toBeLessThan(5000);
  });

  test("keeps names of a tool that also exist on the object prototype", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}}',
    ) as JsonObject;
    expect(JSON.stringify(port(schema))).toBe(JSON.stringify(schema));
  });
});
