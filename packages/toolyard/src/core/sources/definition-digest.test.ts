import { expect, test } from "vitest";
import { definitionDigest } from "./definition-digest.ts";

const tool = { name: "pay", description: "Pays.", inputSchema: { type: "object" } };
const list = { type: "array", items: { type: "string" } };
const wrapped = { type: "object", properties: { result: list }, required: ["result"] };

test("an output schema that the legacy era cannot express does not change the digest", () => {
  const digest = definitionDigest(tool);
  expect(definitionDigest({ ...tool, outputSchema: list })).toBe(digest);
  expect(definitionDigest({ ...tool, outputSchema: wrapped })).toBe(digest);
  expect(definitionDigest({ ...tool, execution: { taskSupport: "forbidden" } })).toBe(digest);
});

test("the digest covers an output schema that both eras can express, and all other parts of a definition", () => {
  const object = { type: "object", properties: { result: { type: "object" } }, required: ["result"] };
  const said = [
    { outputSchema: object },
    { outputSchema: { type: "object" } },
    { description: "Pays twice." },
    { title: "Pay" },
    { annotations: { readOnlyHint: true } },
  ];
  expect(new Set([tool, ...said.map((more) => ({ ...tool, ...more }))].map(definitionDigest)).size).toBe(
    said.length + 1,
  );
});
