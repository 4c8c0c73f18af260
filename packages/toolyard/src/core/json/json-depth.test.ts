import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../../../../test/fixtures/cpu-time.ts";
import { isDeeperThan } from "./json-depth.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("S4: accepts nesting at the limit and rejects one level more", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  expect(isDeeperThan(nested(64), 64)).toBe(false);
  expect(isDeeperThan(nested(65), 64)).toBe(true);
});

test("S4: the scan agrees with the parsed value, for any JSON", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 12 }), fc.integer({ min: 1, max: 12 }), (text, bound) => {
      expect(isDeeperThan(text, bound)).toBe(depthOf(JSON.parse(text)) > bound);
    }),
  );
});

test("S18: scans strings full of quotes, brackets and backslashes in linear time", () => {
  const text = JSON.stringify('\\"[{'.repeat(500_000));
  const started = cpuMs();
  expect(isDeeperThan(text, 3)).toBe(false);
  expect(cpuMs() - started).toBeLessThan(500);
});
