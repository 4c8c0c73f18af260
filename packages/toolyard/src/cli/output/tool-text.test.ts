import { describe, expect, test } from "vitest";
import { displayWidth } from "./table-width.ts";
import { toolText } from "./tool-text.ts";

const ENTRY = {
  name: "weather__forecast",
  title: "Forecast",
  description: "Returns the forecast.\n\n- one line for each day\n  with its temperature",
  annotations: { readOnlyHint: true, openWorldHint: true },
  inputSchema: {
    type: "object",
    properties: {
      city: { type: "string", description: "A city.", examples: ["Oslo"], minLength: 1 },
      days: { type: "integer", default: 3, maximum: 14, minimum: 1 },
      unit: { enum: ["c", "f"] },
      tags: { type: "array", items: { $ref: "#/$defs/tag" }, description: "Tags." },
      when: { anyOf: [{ type: "string" }, { type: "null" }] },
    },
    required: ["city", "tags"],
    $defs: { tag: { type: "string", description: "A tag." } },
  },
};
const text = (entry: object, flags: readonly string[] = [], width?: number) =>
  toolText({ ...entry }, { io: { color: false, ...(width !== undefined && { width }) }, flags });

test("shows name, annotations, description, parameters and an example", () => {
  const lines = text(ENTRY).split("\n");
  expect(lines.slice(0, 6)).toEqual([
    "weather__forecast  Forecast",
    "changes nothing, uses the network or other systems",
    "Returns the forecast.",
    "",
    "- one line for each day",
    "  with its temperature",
  ]);
  expect(lines.slice(7)).toEqual([
    "parameter  type            default   description",
    "─────────  ──────────────  ────────  ───────────────────────────",
    "city       string          required  A city. (length at least 1)",
    "days       integer         3         (at least 1, at most 14)",
    'unit       "c" or "f"',
    "tags       list of string  required  Tags.",
    "when       string or null",
    "",
    "# an example",
    `toolyard call weather__forecast city=Oslo 'tags:=["text"]'`,
  ]);
});

describe("the example call", () => {
  const call = (inputSchema: object, flags: readonly string[] = []) =>
    text({ name: "t", inputSchema }, flags).split("\n").at(-1);
  test.each([
    ["without parameters", {}, "toolyard call t"],
    ["with text that contains a blank", { a: { type: "string", default: "x y" } }, "toolyard call t 'a=x y'"],
    ["with a quote", { a: { type: "string", const: "it's" } }, String.raw`toolyard call t 'a=it'\''s'`],
    ["with a number", { a: { type: "number", minimum: 0.5 } }, "toolyard call t a=0.5"],
    ["with a value of several types", { a: { type: ["integer", "string"] } }, "toolyard call t a:=1"],
    ["with an object", { a: { type: "object" } }, "toolyard call t 'a:={}'"],
    ["with a name that is not a word", { "a=b": { type: "string" } }, `toolyard call t '{"a=b":"text"}'`],
    ["with a name that begins with a dash", { "-a": { type: "string" } }, `toolyard call t '{"-a":"text"}'`],
  ])("formats the example call: %s", (_what, properties, line) => {
    expect(call({ properties, required: Object.keys(properties) })).toBe(line);
  });

  test("the example call contains the option that selects the hub", () => {
    expect(call({}, ["--url", "http://127.0.0.1:1/mcp"])).toBe("toolyard call t --url http://127.0.0.1:1/mcp");
  });
});

test("shows unusual definitions, without control sequences", () => {
  const odd = text({
    name: "x\u001b[2J",
    description: "a\u001b[2Jb",
    inputSchema: { properties: { p: true, q: { $ref: "#/none" }, r: { type: "array" } } },
  });
  expect(odd).not.toContain("\u001b");
  expect(odd).toMatch(/^p +any$/m);
  expect(text({ name: "x" })).toContain("It has no parameters.");
});

test("lines fit the width of the terminal", () => {
  const lines = text({ ...ENTRY, description: "word ".repeat(100) }, [], 60).split("\n");
  expect(lines.filter((line) => displayWidth(line) > 60)).toEqual([]);
});
