import { NearbyPlaces } from "./nearby-places.ts";
import type { DrawnGlyph } from "./pdf-paint.ts";

/** Maximum distance of a character that is drawn again: in points, and as a share of its width. */
const MAX_DISTANCE = 1.5;
const MAX_WIDTH_SHARE = 0.45;
/** A letter or digit. Other signs, such as dashes that form a line, overlap without being text that is drawn again. */
const LETTER = /[\p{L}\p{N}]/u;

/**
 * Returns the characters that repeat an earlier one at the same place, as programs draw bold letters and shadows.
 * `isDrawn` returns whether a character counts as drawn.
 */
export function doubledGlyphs(glyphs: readonly DrawnGlyph[], isDrawn: (at: number) => boolean): ReadonlySet<number> {
  const earlier = new NearbyPlaces<DrawnGlyph>(MAX_DISTANCE);
  const doubled = new Set<number>();
  let sequence: number[] = [];
  const close = (): void => {
    if (sequence.some((at) => LETTER.test(glyphs[at]!.text))) for (const at of sequence) doubled.add(at);
    sequence = [];
  };
  for (const [at, glyph] of glyphs.entries()) {
    if (glyph.text.trim() === "" || !isDrawn(at)) continue;
    if (earlier.some(glyph.origin, (other) => isSame(glyph, other))) {
      sequence.push(at);
      continue;
    }
    close();
    earlier.add(glyph.origin, glyph);
  }
  close();
  return doubled;
}

function isSame(one: DrawnGlyph, other: DrawnGlyph): boolean {
  const most = Math.min(MAX_DISTANCE, Math.abs(one.width) * MAX_WIDTH_SHARE);
  const [dx, dy] = [one.origin.x - other.origin.x, one.origin.y - other.origin.y];
  return one.text === other.text && Math.abs(dx) < most && Math.abs(dy) < most;
}
