import { expect, test } from "vitest";
import { isJsonObject } from "../../core/json/json.ts";
import { ANNOTATIONS, ICONS, PROMPT, RESOURCE, RESOURCE_TEMPLATE, ROOT_SCHEMA, TOOL } from "./definitions.ts";
import { repairResult } from "./results.ts";
import { CAPABILITIES, SERVER_INFO } from "./server.ts";
import { Faults, type Shape } from "./shape.ts";

const SHAPES: Readonly<Record<string, Shape>> = {
  ANNOTATIONS,
  CAPABILITIES,
  ICONS,
  PROMPT,
  RESOURCE,
  RESOURCE_TEMPLATE,
  ROOT_SCHEMA,
  SERVER_INFO,
  TOOL,
};

/** Members that some shapes require. */
const NAMED = { name: "a", uri: "a:b", uriTemplate: "a:{b}" };

const NAMES = [
  ..."name title description icons _meta uri uriTemplate mimeType annotations size src sizes theme audience".split(" "),
  ..."priority lastModified arguments required execution taskSupport readOnlyHint properties $schema".split(" "),
  ..."tools resources prompts listChanged subscribe logging experimental version websiteUrl other".split(" "),
];
const TEXTS = ["a", "", "light", "user", "required", "2026-01-31T12:00:00Z", "2026-02-31T12:00:00Z"];
const LEAVES: readonly unknown[] = [...TEXTS, 0, 1, 0.5, -1, 2n ** 60n, true, false, null, undefined];

/** Returns a sequence of numbers from 0 to 1 that depends only on the seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

function randomValue(next: () => number, depth = 0): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  const kind = depth > 3 ? 1 : next();
  if (kind > 0.75) return pick(LEAVES);
  const length = Math.floor(next() * 4);
  if (kind > 0.55) return Array.from({ length }, () => randomValue(next, depth + 1));
  return Object.fromEntries(Array.from({ length: length + 1 }, () => [pick(NAMES), randomValue(next, depth + 1)]));
}

test.each(Object.entries(SHAPES))(
  "%s accepts a value if and only if its reader returns the value without a fault",
  (_, shape) => {
    const next = numbers(20261126);
    const fitting = { yes: 0, no: 0 };
    for (let round = 0; round < 4000; round += 1) {
      const members = randomValue(next);
      const value = round % 2 === 0 && isJsonObject(members) ? { ...NAMED, ...members } : members;
      const faults = new Faults();
      const isSame = shape.read(value, undefined, faults) === value && faults.count === 0;
      expect(
        shape.fits(value),
        JSON.stringify(value, (_key, one) => (typeof one === "bigint" ? String(one) : one)),
      ).toBe(isSame);
      fitting[isSame ? "yes" : "no"] += 1;
    }
    expect(fitting.yes).toBeGreaterThan(10);
    expect(fitting.no).toBeGreaterThan(10);
  },
);

test.each([
  ["tools/call", { content: [{ type: "text", text: "a", annotations: { priority: 1 } }], isError: false }],
  ["tools/call", { content: [{ type: "unknown", annotations: 7 }] }],
  ["resources/read", { contents: [{ uri: "a:b", text: "a", mimeType: "text/plain" }] }],
  ["prompts/get", { description: "a", messages: [{ role: "user", content: { type: "text", text: "a" } }] }],
  ["completion/complete", { completion: { values: Array.from({ length: 100 }, String), total: 100 } }],
  ["extension", { anything: null }],
] as const)("returns no repair for a valid result of %s", (method, result) => {
  expect(repairResult(method, result)).toBeUndefined();
});

test.each([
  ["tools/call", { content: [{ type: "text", text: "a", annotations: { priority: 2 } }] }],
  ["tools/call", { content: [], isError: null }],
  ["tools/call", { content: [], _meta: { progressToken: {} } }],
  ["resources/read", { contents: [{ uri: "a:b", text: "a", mimeType: 7 }] }],
  ["prompts/get", { description: null, messages: [] }],
  ["completion/complete", { completion: { values: Array.from({ length: 101 }, String) } }],
] as const)("repairs an invalid result of %s and reports the fault", (method, result) => {
  const repaired = repairResult(method, result);
  expect(repaired?.result).not.toEqual(result);
  expect(repaired?.faults.count).toBe(1);
});
