import type { DrawnGlyph } from "./pdf-paint.ts";

/** Size of a cell of the page in which characters are compared, in points. */
const CELL = 4;
/** Maximum distance of a character that is drawn again: in points, and as a share of its width. */
const MAX_DISTANCE = 1.5;
const MAX_WIDTH_SHARE = 0.45;
/** A letter or digit. Other signs, such as dashes that form a line, overlap without being text that is drawn again. */
const LETTER = /[\p{L}\p{N}]/u;
const ROW = 100_000;

/**
 * Returns the characters that repeat an earlier one at the same place, as programs draw bold letters and shadows.
 * `isDrawn` returns whether a character counts as drawn.
 */
export function doubledGlyphs(glyphs: readonly DrawnGlyph[], isDrawn: (at: number) => boolean): ReadonlySet<number> {
  const cells = new Map<number, number[]>();
  const doubled = new Set<number>();
  let sequence: number[] = [];
  const close = (): void => {
    if (sequence.some((at) => LETTER.test(glyphs[at]!.text))) for (const at of sequence) doubled.add(at);
    sequence = [];
  };
  for (const [at, glyph] of glyphs.entries()) {
    if (glyph.text.trim() === "" || !isDrawn(at)) continue;
    if (cellsAround(glyph).some((cell) => cells.get(cell)?.some((other) => isSame(glyph, glyphs[other]!)))) {
      sequence.push(at);
      continue;
    }
    close();
    const own = cellOf(glyph.origin.x, glyph.origin.y);
    const others = cells.get(own);
    if (others) others.push(at);
    else cells.set(own, [at]);
  }
  close();
  return doubled;
}

function isSame(one: DrawnGlyph, other: DrawnGlyph): boolean {
  const most = Math.min(MAX_DISTANCE, Math.abs(one.width) * MAX_WIDTH_SHARE);
  const [dx, dy] = [one.origin.x - other.origin.x, one.origin.y - other.origin.y];
  return one.text === other.text && Math.abs(dx) < most && Math.abs(dy) < most;
}

function cellOf(x: number, y: number): number {
  return Math.floor(x / CELL) * ROW + Math.floor(y / CELL);
}

/** Returns the cells within the maximum distance of a character: its own, and up to three others. */
function cellsAround({ origin: { x, y } }: DrawnGlyph): number[] {
  const [left, right] = [Math.floor((x - MAX_DISTANCE) / CELL), Math.floor((x + MAX_DISTANCE) / CELL)];
  const [low, high] = [Math.floor((y - MAX_DISTANCE) / CELL), Math.floor((y + MAX_DISTANCE) / CELL)];
  const cells: number[] = [];
  for (let column = left; column <= right; column += 1)
    for (let row = low; row <= high; row += 1) cells.push(column * ROW + row);
  return cells;
}
