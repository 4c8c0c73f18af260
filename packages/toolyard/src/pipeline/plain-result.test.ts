import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonSize } from "../core/json/json-size.ts";
import { plainResultSize } from "./plain-result.ts";
import { withoutTagsIn } from "./result-texts.ts";
import { shapeResult } from "./result-shape.ts";
import { repairResult } from "../wire/shapes/results.ts";

const block = (text: string) => ({ type: "text", text });

describe("a plain result", () => {
  test.each([
    { content: [] },
    { content: [block("")] },
    { content: [block("hello"), block("ä \u{1f600}")] },
    { content: [{ text: "members in another order", type: "text" }] },
    { content: [block("x")], isError: false },
    { isError: false, content: [block("x"), block("y")] },
  ])("has the same size as by the general count: %j", (result) => {
    expect(plainResultSize(result)).toBe(jsonSize(result));
  });

  test("has the same size as by the general count, for any texts", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
        const result = { content: texts.map(block) };
        const size = plainResultSize(result);
        if (size !== undefined) expect(size).toBe(jsonSize(result));
      }),
    );
  });
});

test.each([
  undefined,
  null,
  [],
  "text",
  {},
  { content: undefined },
  { content: "text" },
  { content: [null] },
  { content: ["text"] },
  { content: [{ type: "text" }] },
  { content: [{ type: "text", text: 1 }] },
  { content: [{ type: "image", data: "", mimeType: "image/png" }] },
  { content: [{ ...block("x"), annotations: { audience: ["user"] } }] },
  { content: [{ ...block("x"), _meta: {} }] },
  { content: [block("hidden \u{e0041}")] },
  { content: [block("x")], isError: true },
  { content: [block("x")], isError: null },
  { content: [block("x")], structuredContent: {} },
  { content: [block("x")], structuredContent: null },
  { content: [block("x")], resultType: "complete" },
  { content: [block("x")], _meta: {} },
])("%j is not plain", (result) => {
  expect(plainResultSize(result)).toBeUndefined();
});

test("every plain result passes the other checks unchanged", () => {
  const member = fc.oneof(fc.string(), fc.constant(null), fc.boolean(), fc.constant({}), fc.constant([]));
  const blocks = fc.array(
    fc.record(
      { type: fc.constantFrom("text", "image", "other"), text: member, _meta: member },
      { requiredKeys: ["type"] },
    ),
  );
  const results = fc.record({ content: blocks, isError: member, _meta: member }, { requiredKeys: [] });
  fc.assert(
    fc.property(results, (result) => {
      if (plainResultSize(result) === undefined) return;
      expect(shapeResult("tools/call", result, false)).toEqual({ result });
      expect(withoutTagsIn(result)).toBe(result);
      expect(repairResult("tools/call", result)).toBeUndefined();
    }),
    { numRuns: 2000 },
  );
});
