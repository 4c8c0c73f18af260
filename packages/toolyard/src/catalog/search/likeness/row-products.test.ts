import { afterEach, expect, test, vi } from "vitest";
import { plainProducts, rowProducts, vectorProducts } from "./row-products.ts";

afterEach(() => vi.unstubAllGlobals());

/** Returns pseudo-random numbers, the same in every run, including the extremes. */
function numbers(length: number, most: number): number[] {
  return Array.from({ length }, (_, at) =>
    at % 7 === 0 ? (at % 2 === 0 ? most : -most) : ((at * 7919) % (2 * most)) - most,
  );
}

test.each([
  [1, 8],
  [3, 128],
  [1000, 384],
])("%i rows of %i numbers have the same products with and without vector instructions", (count, width) => {
  const wanted = Int16Array.from(numbers(width, 1000));
  const [plain, vector] = [plainProducts(count, width), vectorProducts(count, width)];
  for (const { values } of [plain, vector]) values.set(numbers(count * width, 127));
  expect([...vector.of(wanted, 0, count)]).toEqual([...plain.of(wanted, 0, count)]);
});

test("returns products from the requested row on", () => {
  const rows = vectorProducts(100, 8);
  rows.values.set([1, 2, 3, 4, 5, 6, 7, 8], 70 * 8);
  const wanted = Int16Array.from([1, 1, 1, 1, 1, 1, 1, 10]);
  expect([...rows.of(wanted, 69, 3).subarray(0, 3)]).toEqual([0, 108, 0]);
});

test("products are the same without WebAssembly", () => {
  vi.stubGlobal("WebAssembly", undefined);
  const rows = rowProducts(1000, 8);
  rows.values.set([1, 2, 3], 8);
  expect(rows.of(Int16Array.from([5, 6, 7, 0, 0, 0, 0, 0]), 1, 1)[0]).toBe(38);
});

test("if memory cannot be allocated, tries no further allocation and returns the same products", async () => {
  vi.resetModules();
  const anew = await import("./row-products.ts");
  let tries = 0;
  const refuse = function (): never {
    tries += 1;
    throw new RangeError("could not allocate memory");
  };
  vi.stubGlobal("WebAssembly", { Memory: refuse });
  for (let time = 0; time < 3; time += 1) {
    const rows = anew.rowProducts(1000, 8);
    rows.values.set([1, 2, 3], 8);
    expect(rows.of(Int16Array.from([5, 6, 7, 0, 0, 0, 0, 0]), 1, 1)[0]).toBe(38);
  }
  expect(tries).toBe(1);
});
