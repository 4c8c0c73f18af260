import type { ToolRecord } from "../../core/sources/records.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** A tool with a definition that names a replacement. */
export interface Deprecation {
  /** Names that the description gives as replacements. */
  readonly replacements: readonly string[];
}

/** Share of its score that a deprecated tool keeps. */
export const DEPRECATED_FACTOR = 0.8;

const MAX_READ_CHARS = 2000;
// At the start, in capitals, or about the tool itself: "lists deprecated models" is about something else.
const SAYS_DEPRECATED: readonly RegExp[] = [
  /^\W{0,4}(?:deprecated|obsolete|legacy)\b/i,
  /\b(?:DEPRECATED|OBSOLETE)\b/,
  /\b(?:this|the) (?:tool|function|command) (?:is|has been) (?:now )?(?:deprecated|obsolete|superseded)\b/i,
  /\((?:deprecated|obsolete|legacy)\)/i,
];
const REPLACEMENT =
  /\b(?:use|prefer|replaced by|superseded by|in favou?r of)\s+(?:the\s+)?[`"']?([A-Za-z][\w.-]{2,63})/gi;

/** Returns the replacement that a definition names, or `undefined` if the tool is not deprecated. */
export function deprecationOf({ description, definition }: ToolRecord): Deprecation | undefined {
  const text = firstChars(description, MAX_READ_CHARS);
  const isMarked = definition["deprecated"] === true;
  if (!isMarked && !SAYS_DEPRECATED.some((pattern) => pattern.test(text))) return undefined;
  return { replacements: Array.from(text.matchAll(REPLACEMENT), ([, name]) => name!.replace(/(?<![.-])[.-]+$/, "")) };
}
