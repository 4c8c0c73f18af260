import { describe, expect, test } from "vitest";
import { fail, ok } from "../../core/calls/outcome.ts";
import {
  fromAnthropicToolCall,
  fromGoogleToolCall,
  fromMistralToolCall,
  fromOpenAIToolCall,
  toAnthropicTools,
  toGoogleTools,
  toMistralTools,
  toOpenAITools,
  toResultText,
  type ListedTool,
} from "./formats.ts";
import { rewriteSchema } from "./rewrite-schema.ts";

const schema = { type: "object", properties: { location: { type: "string" } }, required: ["location"] };
const LONG = `weather.${"x".repeat(80)}`;
const TOOLS: readonly ListedTool[] = [
  { name: "get_weather", description: "Weather of a place", inputSchema: schema },
  { name: "weather.get", description: "The same", input_schema: schema },
  { name: "weather_get", description: "Another", inputSchema: schema },
  { name: LONG, description: "Long", inputSchema: schema },
  { name: "météo/paris", inputSchema: { type: "object" } },
  { name: "7up", description: "", inputSchema: { type: "object" } },
];
const SAFE = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

test("R31: converts one tool to the exact format of each vendor", () => {
  const [tool] = TOOLS;
  const asFunction = {
    type: "function",
    function: { name: "get_weather", description: "Weather of a place", parameters: schema },
  };
  expect(toOpenAITools([tool!])).toEqual([asFunction]);
  expect(toMistralTools([tool!])).toEqual([asFunction]);
  expect(toAnthropicTools([tool!])).toEqual([
    { name: "get_weather", description: "Weather of a place", input_schema: schema },
  ]);
  expect(toGoogleTools([tool!])).toEqual([
    { functionDeclarations: [{ name: "get_weather", description: "Weather of a place", parameters: schema }] },
  ]);
});

test("R31: each name is safe for every vendor, unique, and refers to its tool", () => {
  const names = toOpenAITools(TOOLS).map(({ function: { name } }) => name);
  expect(new Set(names).size).toBe(TOOLS.length);
  for (const name of names) expect(name).toMatch(SAFE);
  expect(toGoogleTools(TOOLS)[0]!.functionDeclarations.map(({ name }) => name)).toEqual(names);
  for (const [index, name] of names.entries()) {
    const tool = TOOLS[index]!.name;
    expect(fromOpenAIToolCall({ id: "1", function: { name, arguments: "{}" } }, TOOLS)).toEqual({
      ok: true,
      id: "1",
      tool,
      arguments: {},
    });
    expect(fromAnthropicToolCall({ id: "1", name, input: {} }, TOOLS)).toMatchObject({ ok: true, tool });
  }
});

describe("conversion of a vendor's call", () => {
  const wanted = { ok: true, tool: "get_weather", arguments: { location: "Tokyo" } };
  const text = '{"location":"Tokyo"}';

  test.each([
    [
      "chat completions",
      fromOpenAIToolCall({ id: "c1", type: "function", function: { name: "get_weather", arguments: text } }, TOOLS),
      "c1",
    ],
    ["responses", fromOpenAIToolCall({ id: "fc_1", call_id: "c2", name: "get_weather", arguments: text }, TOOLS), "c2"],
    [
      "Mistral",
      fromMistralToolCall({ id: "c3", function: { name: "get_weather", arguments: { location: "Tokyo" } } }, TOOLS),
      "c3",
    ],
    [
      "Anthropic",
      fromAnthropicToolCall({ type: "tool_use", id: "c4", name: "get_weather", input: { location: "Tokyo" } }, TOOLS),
      "c4",
    ],
    ["Google", fromGoogleToolCall({ functionCall: { name: "get_weather", args: { location: "Tokyo" } } }, TOOLS), ""],
  ])("converts a call of %s to a call of the hub", (_vendor, call, id) => {
    expect(call).toEqual({ ...wanted, id });
  });

  test.each([
    [{ id: "1", function: { name: "get_wether", arguments: "{}" } }, 'Unknown tool "get_wether".'],
    [
      { id: "1", function: { name: "get_weather", arguments: '{"location":' } },
      'The arguments of get_weather must be one JSON object. Received: {"location":',
    ],
    [
      { id: "1", function: { name: "get_weather", arguments: "[1]" } },
      "The arguments of get_weather must be one JSON object. Received: [1]",
    ],
  ])("reports to the model that %j cannot be called", (call, message) => {
    expect(fromOpenAIToolCall(call, TOOLS)).toMatchObject({ ok: false, id: "1", message });
  });

  test("converts a result to JSON, and a failure to an object with `error`", () => {
    expect(toResultText(ok({ content: [{ type: "text", text: '{"temperature":21}' }] }))).toBe('{"temperature":21}');
    expect(JSON.parse(toResultText(fail("unavailable", "weather is away")))).toEqual({
      error: "weather is away",
      kind: "unavailable",
      retryable: true,
    });
  });
});

describe("schemas", () => {
  const VENDORS = ["openai", "anthropic", "mistral", "google"] as const;

  test.each(VENDORS)("%s gets a schema whose top level is a single object, for any schema of a tool", (vendor) => {
    const branches = {
      oneOf: [{ properties: { id: { type: "string" } }, required: ["id"] }, { $ref: "#/$defs/byName" }],
      $defs: { byName: { properties: { name: { type: "string" } }, required: ["name"] } },
    };
    const rewritten = rewriteSchema(branches, vendor);
    expect(rewritten).toMatchObject({
      type: "object",
      properties: { id: { type: "string" }, name: { type: "string" } },
    });
    for (const key of ["oneOf", "anyOf", "allOf", "required"]) expect(rewritten).not.toHaveProperty(key);
    expect(
      rewriteSchema(
        { $schema: "x", $ref: "#/$defs/a", $defs: { a: { type: "object", properties: { n: { type: "number" } } } } },
        vendor,
      ),
    ).toMatchObject({ type: "object", properties: { n: { type: "number" } } });
  });

  test("leaves nested schemas unchanged for vendors that support JSON Schema", () => {
    const deep = {
      type: "object",
      properties: { at: { $ref: "#/$defs/at" }, unit: { anyOf: [{ const: "C" }, { const: "F" }] } },
      $defs: { at: { type: "object" } },
      additionalProperties: false,
    };
    for (const vendor of ["openai", "anthropic", "mistral"] as const) expect(rewriteSchema(deep, vendor)).toEqual(deep);
  });

  test("Google gets resolved references, nullable types, single-value enums, and only supported keywords", () => {
    const rewritten = rewriteSchema(
      {
        type: "object",
        properties: {
          place: { $ref: "#/$defs/place" },
          unit: { const: "C" },
          days: { type: ["integer", "null"], enum: [1, 3, null], exclusiveMinimum: 0 },
          when: { anyOf: [{ type: "string", format: "date" }, { type: "integer" }, { type: "null" }] },
          tags: { type: "array" },
          both: {
            allOf: [
              { properties: { a: { type: "string" } }, required: ["a"] },
              { properties: { b: { type: "number" } } },
            ],
          },
          bare: {},
        },
        required: ["place", "gone"],
        additionalProperties: false,
        $defs: {
          place: { type: "object", properties: { city: { type: "string", minLength: 1 } }, patternProperties: {} },
        },
      },
      "google",
    );
    expect(rewritten).toEqual({
      type: "object",
      properties: {
        place: { type: "object", properties: { city: { type: "string", minLength: 1 } } },
        unit: { type: "string", enum: ["C"] },
        days: { type: "integer", nullable: true, description: "One of: 1, 3." },
        when: { nullable: true, anyOf: [{ type: "string" }, { type: "integer" }] },
        tags: { type: "array", items: { type: "string" } },
        both: { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] },
        bare: { type: "string" },
      },
      required: ["place"],
    });
  });

  test("conversion of a recursive schema terminates", () => {
    const tree = { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } } };
    expect(JSON.stringify(rewriteSchema(tree, "google")).length).toBeLessThan(5000);
    expect(rewriteSchema({ $ref: "#" }, "openai")).toEqual({ type: "object", properties: {} });
    const wide = {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`p${index}`, { $ref: "#" }])),
    };
    expect(JSON.stringify(rewriteSchema(wide, "google")).length).toBeLessThan(1_000_000);
  });
});
