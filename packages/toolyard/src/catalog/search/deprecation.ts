import type { ToolRecord } from "../../core/sources/records.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Replacements of a tool that its definition declares as deprecated. */
export interface Deprecation {
  /** Names that the description gives as replacements. */
  readonly replacements: readonly string[];
}

/** Factor for the score of a deprecated tool. */
export const DEPRECATED_FACTOR = 0.8;

const MAX_READ_CHARS = 2000;
// Matches a declaration that the tool itself is deprecated: at the start, in capitals, or with the tool as subject.
// Does not match "lists deprecated models".
const SAYS_DEPRECATED: readonly RegExp[] = [
  /^\W{0,4}(?:deprecated|obsolete|legacy)\b/i,
  /\b(?:DEPRECATED|OBSOLETE)\b/,
  /\b(?:this|the) (?:tool|function|command) (?:is|has been) (?:now )?(?:deprecated|obsolete|superseded)\b/i,
  /\((?:deprecated|obsolete|legacy)\)/i,
];
const REPLACEMENT =
  /\b(?:use|prefer|replaced by|superseded by|in favou?r of)\s+(?:the\s+)?[`"']?([A-Za-z][\w.-]{2,63})/gi;

/** Returns the replacements that a definition names. Returns `undefined` if the tool is not deprecated. */
export function deprecationOf({ description, definition }: ToolRecord): Deprecation | undefined {
  const text = firstChars(description, MAX_READ_CHARS);
  const isMarked = definition["deprecated"] === true;
  if (!isMarked && !SAYS_DEPRECATED.some((pattern) => pattern.test(text))) return undefined;
  return { replacements: Array.from(text.matchAll(REPLACEMENT), ([, name]) => name!.replace(/(?<![.-])[.-]+$/, "")) };
}
