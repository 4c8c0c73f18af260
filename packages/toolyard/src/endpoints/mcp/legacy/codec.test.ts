import { expect, test } from "vitest";
import { LEGACY_REVISIONS } from "../../../wire/legacy/revisions.ts";
import { LegacyCodecs } from "./codec.ts";

test("remembers the most recently listed tools with wrapped output, for any number of tools listed before", () => {
  const codec = new LegacyCodecs().for(LEGACY_REVISIONS[0]!);
  const list = (from: number, count: number): void => {
    const entries = Array.from({ length: count }, (_, at) => ({
      name: `t${from + at}`,
      outputSchema: { type: "array" },
    }));
    codec.list("tools", { entries, json: JSON.stringify(entries), version: String(from) });
  };
  const isWrapped = (name: string): boolean => {
    const { structuredContent } = codec.result!("tools/call", name, { content: [], structuredContent: { a: 1 } });
    return JSON.stringify(structuredContent) === '{"result":{"a":1}}';
  };
  list(0, 2);
  expect(isWrapped("t0")).toBe(true);
  for (let round = 1; round <= 2; round += 1) {
    list(round * 50_000, 50_000);
    // This tool is listed each time, so it is not evicted.
    list(1, 1);
  }
  expect(["t0", "t1", "t149999"].map(isWrapped)).toEqual([false, true, true]);
});
