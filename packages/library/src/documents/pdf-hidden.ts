import type { Box } from "./pdf-matrix.ts";
import type { TextRun } from "./pdf-lines.ts";
import type { DrawnGlyph, PagePaint } from "./pdf-paint.ts";
import { isBackgroundKnown, visibilities, type Visibility } from "./pdf-visible.ts";

/** Minimum share of characters that the page does not draw, by which it is a scan with a text layer. */
const LAYER_SHARE = 0.5;
const LETTER = /[\p{L}\p{N}]/u;
/** Characters that pdf.js adds or omits in texts. */
const LOOSE = /[\s\p{Cc}\p{Cf}]/u;

/** Characters of a page with their visibility. */
export interface PageVisibility {
  readonly glyphs: readonly DrawnGlyph[];
  readonly seen: readonly Visibility[];
  /** Number of letters and digits that are hidden, unless a picture shows them or is their background. */
  readonly suspects: number;
  /** True if the suspects are most of the text and are not drawn, as in the text layer of a scan. */
  readonly isLayer: boolean;
  /** True if there are letters or digits beyond the edge of the page. */
  readonly hasOutside: boolean;
  /** True if text is drawn twice. */
  readonly hasDoubled: boolean;
  /** True if there are letters or digits of which it is not known whether they are covered or like their background. */
  readonly hasUnchecked: boolean;
}

export function visibilityOfPage(paint: PagePaint, view: Box): PageVisibility {
  const { glyphs } = paint;
  const seen = visibilities(paint, view);
  const counts = { visible: 0, hidden: 0, layer: 0, outside: 0, doubled: 0 };
  for (const [at, { text }] of glyphs.entries()) if (LETTER.test(text)) counts[seen[at]!] += 1;
  const { visible, hidden, layer, outside, doubled } = counts;
  const isLayer = hidden === 0 && layer > (visible + layer) * LAYER_SHARE;
  const found = { hasOutside: outside > 0, hasDoubled: doubled > 0 };
  const hasUnchecked = !isBackgroundKnown(paint) && visible + doubled > 0;
  return { glyphs, seen, suspects: hidden + layer, isLayer, ...found, hasUnchecked };
}

export interface VisibleTexts<T extends TextRun> {
  readonly texts: readonly T[];
  /** True if text was omitted that is not also visible on the page. */
  readonly isOmitted: boolean;
}

/** Omits text that cannot be seen. `placeOf` returns the place of a run in the page's own coordinates. */
export function visibleTexts<T extends TextRun>(
  texts: readonly T[],
  page: PageVisibility,
  placeOf: (run: T) => { readonly x: number; readonly y: number },
): VisibleTexts<T> {
  const marks = marksByOrder(texts, page) ?? texts.map((run) => marksByPlace(run, placeOf(run), page));
  const omitted: string[] = [lettersOf(page, "outside")];
  const kept = texts.map((run, at) => {
    const [shown, hidden] = dividedText(run.text, marks[at]!);
    if (hidden !== "") omitted.push(hidden);
    return shown === run.text ? run : { ...run, text: shown };
  });
  const visible = plain(kept.map(({ text }) => text).join(""));
  const isOmitted = omitted.some((text) => LETTER.test(text) && !visible.includes(plain(text)));
  return { texts: kept, isOmitted };
}

function lettersOf({ glyphs, seen }: PageVisibility, visibility: Visibility): string {
  return glyphs.flatMap(({ text }, at) => (seen[at] === visibility ? [text] : [])).join("");
}

function plain(text: string): string {
  return Array.from(text.normalize("NFKC"))
    .filter((character) => !LOOSE.test(character))
    .join("");
}

/** Divides a text into its visible and its hidden characters. Characters that are drawn again are in neither. */
function dividedText(text: string, marks: readonly Visibility[]): readonly [shown: string, hidden: string] {
  if (marks.every((mark) => mark === "visible")) return [text, ""];
  const characters = Array.from(text);
  const shown = characters.map((character, at) => (marks[at] === "visible" ? character : " ")).join("");
  const hidden = characters.filter((_, at) => marks[at] !== "visible" && marks[at] !== "doubled").join("");
  return [shown.replaceAll(/\s+/gu, " "), hidden];
}

/**
 * Returns the visibility of each character of each run, from the order of drawing, which runs share with the glyphs.
 * Undefined if the texts differ, as with scripts that are written from right to left.
 */
function marksByOrder(texts: readonly TextRun[], { glyphs, seen }: PageVisibility): Visibility[][] | undefined {
  const drawn = glyphs.flatMap(({ text }, at) =>
    seen[at] === "outside" ? [] : Array.from(plain(text), (character) => ({ character, mark: seen[at]! })),
  );
  let next = 0;
  const marks: Visibility[][] = [];
  for (const { text } of texts) {
    const own: Visibility[] = [];
    for (const character of text) {
      const parts = Array.from(plain(character));
      own.push(parts.length > 0 ? (drawn[next]?.mark ?? "visible") : "visible");
      for (const part of parts) {
        if (drawn[next]?.character !== part) return undefined;
        next += 1;
      }
    }
    marks.push(own);
  }
  return next === drawn.length ? marks : undefined;
}

/** Returns the visibility of a run's characters: all are hidden if most glyphs at the place of the run are. */
function marksByPlace(
  run: TextRun,
  { x, y }: { readonly x: number; readonly y: number },
  { glyphs, seen }: PageVisibility,
): Visibility[] {
  let [hidden, all] = [0, 0];
  for (const [at, { middle, origin }] of glyphs.entries()) {
    const isThere = Math.abs(origin.y - y) < run.size / 2 && middle.x >= x - 1 && middle.x <= x + run.width + 1;
    if (!isThere || seen[at] === "outside" || seen[at] === "doubled") continue;
    all += 1;
    if (seen[at] !== "visible") hidden += 1;
  }
  return Array.from(run.text, () => (hidden > all / 2 ? "hidden" : "visible"));
}
