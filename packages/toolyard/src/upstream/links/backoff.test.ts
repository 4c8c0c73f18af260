import { expect, test } from "vitest";
import { Backoff } from "./backoff.ts";

const options = { firstMs: 100, maxMs: 1000, stableMs: 5000 };

test("doubles the pauses up to the limit, and shortens each by a random part", () => {
  const highest = new Backoff(options, () => 1);
  expect([1, 2, 3, 4, 5, 6].map(() => highest.nextMs(0))).toEqual([100, 200, 400, 800, 1000, 1000]);
  const lowest = new Backoff(options, () => 0);
  expect([1, 2].map(() => lowest.nextMs(0))).toEqual([50, 100]);
});

test("starts again with the first pause after a long connection, but not after a short one", () => {
  const backoff = new Backoff(options, () => 1);
  backoff.nextMs(0);
  backoff.nextMs(0);
  backoff.succeeded(1000);
  expect(backoff.nextMs(2000)).toBe(400);
  backoff.succeeded(3000);
  expect(backoff.nextMs(8000)).toBe(100);
});
