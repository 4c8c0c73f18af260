import { expect, test } from "vitest";
import { createRandom } from "../../../../test/support/random.ts";
import { GatheredBytes } from "./gathered-bytes.ts";

test("returns added pieces of any size as one buffer, and their first bytes without copying the rest", () => {
  const random = createRandom(20_261_123);
  const gathered = new GatheredBytes();
  for (let round = 0; round < 200; round += 1) {
    const sizes = Array.from({ length: random.below(60) }, () =>
      random.pick([0, 1, 3, 700, 1023, 1024, 16_384, 40_000]),
    );
    const pieces = sizes.map((size) => Buffer.alloc(size, random.below(256)));
    for (const piece of pieces) gathered.push(piece);
    const whole = Buffer.concat(pieces);
    expect(gathered.length).toBe(whole.length);
    expect(gathered.head(5000).equals(whole.subarray(0, 5000))).toBe(true);
    expect(gathered.take().equals(whole)).toBe(true);
    expect(gathered.take()).toHaveLength(0);
  }
});

test("is empty after it was cleared", () => {
  const gathered = new GatheredBytes();
  for (const text of ["a", "b"]) gathered.push(Buffer.from(text));
  gathered.clear();
  gathered.push(Buffer.from("c"));
  expect([gathered.length, String(gathered.take())]).toEqual([1, "c"]);
});

test("a million pieces of one byte use little more memory than their content", () => {
  const gathered = new GatheredBytes();
  const weigh = (): number => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const before = weigh();
  for (let at = 0; at < 1_000_000; at += 1) gathered.push(Buffer.from("x"));
  // Separate Buffer objects would take 120 MB; uncollected garbage may add to the measured size.
  expect(weigh() - before).toBeLessThan(60_000_000);
  expect(gathered.take()).toHaveLength(1_000_000);
});
