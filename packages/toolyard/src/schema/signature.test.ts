import type { JsonObject } from "../core/json/json.ts";
import { expect, test } from "vitest";
import { signatureOf } from "./signature.ts";

const FORECAST = {
  type: "object",
  properties: {
    days: { type: "integer", default: 3, minimum: 1, maximum: 14 },
    city: { type: "string", description: "Where.\nA name." },
    units: { enum: ["metric", "imperial"] },
    at: { type: "object", properties: { lat: { type: "number" }, "lon-g": { type: "number" } }, required: ["lat"] },
    tags: { type: "array", items: { type: ["string", "null"] } },
  },
  required: ["city"],
};

test("TypeScript: shows optional members, allowed values and descriptions", () => {
  expect(
    signatureOf("typescript", "tools.w.forecast", {
      input: FORECAST,
      output: {
        type: "object",
        properties: { sky: { type: "string" } },
        required: ["sky"],
      },
    }),
  ).toBe(
    "tools.w.forecast(args: { days?: number /* (≥ 1, ≤ 14) */; city: string /* Where. A name. */; " +
      'units?: "metric" | "imperial"; at?: { lat: number; "lon-g"?: number }; ' +
      "tags?: (string | null)[] }): Promise<{ sky: string }>",
  );
});

test("Python: lists required parameters first, then defaults, with one comment line per parameter", () => {
  expect(signatureOf("python", "tools.w.forecast", { input: FORECAST })).toBe(
    [
      'tools.w.forecast(city: str, days: int = 3, units: Literal["metric", "imperial"] = None, at: {"lat": ' +
        'float, "lon-g"?: float} = None, tags: list[str | None] = None) -> Any',
      "  # city: Where. A name.",
      "  # days: (≥ 1, ≤ 14)",
    ].join("\n"),
  );
});

test("passes a parameter whose name is invalid in Python in a dict", () => {
  expect(
    signatureOf("python", "t", {
      input: { type: "object", properties: { "max-size": { type: "integer" }, class: { type: "string" } } },
    }),
  ).toBe('t({"max-size": int, "class": str}) -> Any');
});

test("shows no parameter for a tool without parameters, and an object for a tool that accepts anything", () => {
  expect(signatureOf("typescript", "t", { input: { type: "object" } })).toBe("t(): Promise<unknown>");
  expect(signatureOf("typescript", "t", { input: { type: "object", additionalProperties: true } })).toBe(
    "t(args?: Record<string, unknown>): Promise<unknown>",
  );
});

test("follows a reference inside the schema, and ends at a cycle", () => {
  const schema = {
    type: "object",
    properties: { node: { $ref: "#/$defs/node" } },
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, id: { type: "string" } } } },
  };
  expect(signatureOf("typescript", "t", { input: schema })).toMatch(
    /^t\(args\?: \{ node\?: \{ next\?: \{ .*id\?: string/,
  );
  expect(
    signatureOf("typescript", "t", { input: { type: "object", properties: { x: { $ref: "https://example.org/x" } } } }),
  ).toBe("t(args?: { x?: unknown }): Promise<unknown>");
});

test.each([[null], [7], [{ type: 5 }], [{ properties: [] }], [{ enum: [] }], [{ anyOf: [] }], [{ type: [] }]])(
  "reads an empty schema (%j) as any value",
  (member) => {
    expect(signatureOf("typescript", "t", { input: { type: "object", properties: { x: member } } })).toMatch(
      /^t\(args\?: \{ x\?: .+ \}\): Promise<unknown>$/,
    );
  },
);

test("S18: writes a type that is listed repeatedly once on each level", () => {
  const types = Array.from({ length: 1000 }, () => "object");
  const level = (inner: JsonObject): JsonObject => ({ type: types, properties: { a: inner } });
  const input = level(level(level(level({ type: "string" }))));
  expect(signatureOf("typescript", "t", { input })).toBe(
    "t(args?: { a?: { a?: { a?: { a?: string } } } }): Promise<unknown>",
  );
});
