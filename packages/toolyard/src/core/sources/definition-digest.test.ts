import { expect, test } from "vitest";
import { definitionDigest } from "./definition-digest.ts";

const tool = { name: "pay", description: "Pays.", inputSchema: { type: "object" } };
const list = { type: "array", items: { type: "string" } };
const wrapped = { type: "object", properties: { result: list }, required: ["result"] };

test("an output that the legacy era cannot say leaves the digest as it is: plain, wrapped or missing", () => {
  const digest = definitionDigest(tool);
  expect(definitionDigest({ ...tool, outputSchema: list })).toBe(digest);
  expect(definitionDigest({ ...tool, outputSchema: wrapped })).toBe(digest);
  expect(definitionDigest({ ...tool, execution: { taskSupport: "forbidden" } })).toBe(digest);
});

test("an output that both eras can say changes it, and so does everything else that a tool says of itself", () => {
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
