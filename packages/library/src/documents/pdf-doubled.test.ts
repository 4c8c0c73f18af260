import { expect, test } from "vitest";
import { doubledGlyphs } from "./pdf-doubled.ts";
import type { TextRun } from "./pdf-lines.ts";
import { doubledRuns } from "./pdf-order.ts";
import type { DrawnGlyph } from "./pdf-paint.ts";

interface CountedGlyph {
  readonly width: number;
  readonly x?: number;
  readonly y?: number;
}

/** Returns characters at their places, and a function that counts how often their texts were read. */
function countedGlyphs(given: readonly CountedGlyph[]) {
  let reads = 0;
  const glyphs = given.map(({ width, x = 50, y = 50 }) => ({
    get text() {
      reads += 1;
      return "a";
    },
    origin: { x, y },
    width,
  })) as unknown as DrawnGlyph[];
  return { glyphs, reads: () => reads };
}

const times = (count: number, glyph: CountedGlyph): CountedGlyph[] => Array.from({ length: count }, () => glyph);
const isDrawn = (): boolean => true;

test.each([0, 0.001, -0.001, Number.NaN])(
  "compares each of many characters of width %d in one cell with few others, and finds none that is drawn again",
  (width) => {
    // Characters of this width are the same only at a distance of less than 0.00045.
    const { glyphs, reads } = countedGlyphs(Array.from({ length: 5_000 }, (_, at) => ({ width, x: 50 + at * 0.0005 })));
    expect(doubledGlyphs(glyphs, isDrawn)).toEqual(new Set());
    // Each comparison reads two texts. A character is compared with at most 64 others in each of four cells.
    expect(reads()).toBeLessThan(5_000 * (64 * 4 * 2 + 1));
  },
);

test("finds characters that are drawn again at a place with many characters of width 0", () => {
  const { glyphs } = countedGlyphs([
    ...times(30, { width: 0 }),
    ...Array.from({ length: 20 }, (_, at) => ({ width: 5, x: 100 + at * 6 })),
    ...Array.from({ length: 20 }, (_, at) => ({ width: 5, x: 100.5 + at * 6, y: 50.5 })),
  ]);
  expect(doubledGlyphs(glyphs, isDrawn)).toEqual(new Set(Array.from({ length: 20 }, (_, at) => at + 50)));
});

test("finds characters that are drawn again across the edges of cells, and none that are farther away", () => {
  for (const [x, y] of [
    [4, 4],
    [3.9, 8],
    [8, 11.95],
    [0, -4],
  ] as const) {
    const moved = (by: number) =>
      countedGlyphs([
        { width: 5, x, y },
        { width: 5, x: x - by, y: y - by },
      ]).glyphs;
    expect(doubledGlyphs(moved(1.4), isDrawn)).toEqual(new Set([1]));
    expect(doubledGlyphs(moved(1.6), isDrawn)).toEqual(new Set());
  }
});

function runsAt(places: readonly (readonly [x: number, y: number])[], text = "again"): TextRun[] {
  return places.map(([x, y]) => ({ text, x, y, size: 10, width: 30, endsLine: true }));
}

test("finds runs that are drawn again, and compares a run with few of the others", () => {
  let reads = 0;
  const far = runsAt(Array.from({ length: 5_000 }, (_, at) => [(at % 70) * 8, Math.floor(at / 70) * 8] as const));
  const counted = far.map((run) => ({
    ...run,
    get x() {
      reads += 1;
      return run.x;
    },
  }));
  const page = (texts: readonly TextRun[]) => ({ texts, width: 600, height: 800, isScan: false });
  expect(doubledRuns(page(counted))).toEqual(new Set());
  expect(reads).toBeLessThan(5_000 * 20);
  const texts = [...runsAt([[3.9, 50]]), ...runsAt([[4.1, 51]]), ...runsAt([[4, 50]], "other"), ...runsAt([[3.9, 53]])];
  expect(doubledRuns(page(texts))).toEqual(new Set([texts[1]]));
});
