import { contains, type Box } from "./pdf-matrix.ts";
import { doubledGlyphs } from "./pdf-doubled.ts";
import type { Rgb } from "./pdf-graphics.ts";
import { MAX_AREAS, placeKey, type DrawnGlyph, type PagePaint, type PaintedArea } from "./pdf-paint.ts";

/** Maximum difference from the background, in each colour component (0 to 255), at which text is invisible. */
const MAX_DIFFERENCE = 12;
const WHITE: Rgb = [255, 255, 255];

/**
 * Visibility of a character: `layer` is text that the page does not draw, as in the text layer of a scan; `outside` is
 * text beyond the edge of the page, which pdf.js omits; `doubled` is drawn again at the same place.
 */
export type Visibility = "visible" | "hidden" | "layer" | "outside" | "doubled";

/** Returns false if the page has too many areas to examine what is below and above each character. */
export function isBackgroundKnown({ areas }: Pick<PagePaint, "areas">): boolean {
  return areas.length <= MAX_AREAS;
}

/** Returns the visibility of each character of a page. A character counts as visible unless it is proven hidden. */
export function visibilities(paint: PagePaint, view: Box): Visibility[] {
  const { glyphs, areas, masks } = paint;
  const hasColors = areas.some(({ color }) => color !== undefined);
  const rules = { areas: isBackgroundKnown(paint) ? areas : undefined, hasColors, masks };
  const seen = glyphs.map((glyph) => visibilityOf(glyph, rules, view));
  for (const at of doubledGlyphs(glyphs, (one) => seen[one] === "visible")) seen[at] = "doubled";
  return seen;
}

interface PageRules {
  /** Undefined if there are too many areas. */
  readonly areas: readonly PaintedArea[] | undefined;
  readonly hasColors: boolean;
  readonly masks: ReadonlySet<string>;
}

function visibilityOf(glyph: DrawnGlyph, { areas, hasColors, masks }: PageRules, view: Box): Visibility {
  const { ink } = glyph;
  if (isOutside(glyph, view)) return "outside";
  // A browser draws letters with a gradient as a mask, and again without colour for their selection.
  if (masks.size > 0 && masks.has(placeKey(glyph.text, glyph.origin))) return "visible";
  if (ink.isClear || !contains(ink.clip, glyph.middle)) return "hidden";
  if (areas === undefined) return ink.isDrawn ? "visible" : "layer";
  return hasColors && !ink.isClip && isCovered(glyph, areas) ? "hidden" : visibilityOn(areas, glyph);
}

/** Returns the visibility of a character that nothing covers. */
function visibilityOn(areas: readonly PaintedArea[], glyph: DrawnGlyph): Visibility {
  if (!glyph.ink.isDrawn) return isShownByArea(glyph, areas) ? "visible" : "layer";
  return isLikeBackground(glyph, areas) ? "hidden" : "visible";
}

/** Returns whether a character is beyond the page. pdf.js omits such characters from its texts. */
function isOutside({ origin: { x, y }, width }: DrawnGlyph, { left, bottom, right, top }: Box): boolean {
  return x + Math.max(width, 0) < left || x > right || y < bottom || y > top;
}

/** Returns whether text that is not drawn is on a picture, such as a scan, or is filled by an area after it. */
function isShownByArea({ middle, order, ink }: DrawnGlyph, areas: readonly PaintedArea[]): boolean {
  return areas.some(({ isPicture, box }, at) => (isPicture || (ink.isClip && at >= order)) && contains(box, middle));
}

/** Returns whether an opaque area was painted over the character. */
function isCovered({ order, middle }: DrawnGlyph, areas: readonly PaintedArea[]): boolean {
  for (let at = order; at < areas.length; at += 1)
    if (areas[at]!.color !== undefined && contains(areas[at]!.box, middle)) return true;
  return false;
}

/** Returns whether the character has the colour of what is painted below it. */
function isLikeBackground({ order, middle, ink }: DrawnGlyph, areas: readonly PaintedArea[]): boolean {
  if (ink.colors.includes(undefined)) return false;
  const colors = ink.colors as readonly Rgb[];
  for (let at = order - 1; at >= 0; at -= 1) {
    const { box, color } = areas[at]!;
    if (contains(box, middle)) return color !== undefined && colors.every((one) => isLike(one, color));
  }
  return colors.every((one) => isLike(one, WHITE));
}

function isLike(one: Rgb, other: Rgb): boolean {
  return one.every((part, at) => Math.abs(part - other[at]!) <= MAX_DIFFERENCE);
}
