import { expect, test } from "vitest";
import type { Way } from "./asking-yard.ts";
import { cellsOf, Deck, type Cell } from "./deck.ts";

const WAYS: readonly Way[] = [
  { era: "legacy", endpoint: "stdio" },
  { era: "modern", endpoint: "stdio" },
  { era: "legacy", endpoint: "HTTP" },
  { era: "legacy", endpoint: "HTTP+SSE" },
];
const CELLS = cellsOf(WAYS, ["first", "second"]);

function drawn(deck: Deck, rules: number): readonly Cell[] {
  return Array.from({ length: rules }, () => deck.draw(false)).flat();
}

test.each([1, 2, 20_261_126, 4_294_967_295])(
  "with seed %i, a deck draws for each rule one combination of each era",
  (seed) => {
    const deck = new Deck(CELLS, seed);
    for (let rule = 0; rule < 50; rule += 1)
      expect(deck.draw(false).map(({ way }) => way.era)).toEqual(["legacy", "modern"]);
  },
);

test.each([1, 2, 20_261_126, 4_294_967_295])(
  "with seed %i, a deck draws each combination of an era equally often",
  (seed) => {
    const cells = drawn(new Deck(CELLS, seed), 20);
    for (const era of ["legacy", "modern"]) {
      const counts = CELLS.filter(({ way }) => way.era === era).map(
        (cell) => cells.filter((one) => one === cell).length,
      );
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(Math.min(...counts)).toBeGreaterThan(0);
    }
  },
);

test("a deck draws the same combinations with the same seed, and others with another seed", () => {
  const first = drawn(new Deck(CELLS, 7), 10);
  expect(drawn(new Deck(CELLS, 7), 10)).toEqual(first);
  expect(drawn(new Deck(CELLS, 8), 10)).not.toEqual(first);
});

test("the full product contains every combination exactly once", () => {
  const cells = new Deck(CELLS, 7).draw(true);
  expect(cells).toHaveLength(CELLS.length);
  expect(new Set(cells)).toEqual(new Set(CELLS));
});

test("a deck with combinations of one era draws one for each rule", () => {
  const legacy = cellsOf(
    WAYS.filter(({ era }) => era === "legacy"),
    [""],
  );
  expect(new Deck(legacy, 7).draw(false)).toHaveLength(1);
});
