import { createRequire } from "node:module";
import type * as StringWidthModule from "string-width";
import type stringWidth from "string-width";

/** Truncates a text to a number of columns. The last column is `…` if the text was truncated. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = "";
  let taken = 1;
  for (const { segment } of graphemes().segment(text)) {
    taken += displayWidth(segment);
    if (taken > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

let segmenter: Intl.Segmenter | undefined;

/**
 * Returns the segmenter that splits a text into user-perceived characters: an emoji with several code points is one.
 */
export function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter();
  return segmenter;
}

/**
 * Matches text in which every character takes one column: Latin, Cyrillic, dashes, dots and quotation marks, box
 * drawing, blocks, Braille patterns, and the two marks of a live view.
 */
const NARROW =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2500-\u259f\u2713\u2717\u2800-\u28ff]*$/;

let widthOf: typeof stringWidth | undefined;

/** Returns the number of terminal columns that a text without escape sequences takes. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  // Loaded on demand: the package prepares Unicode segmentation, which takes 10 to 50 ms.
  widthOf ??= (createRequire(import.meta.url)("string-width") as typeof StringWidthModule).default;
  return widthOf(text, { countAnsiEscapeCodes: true });
}
