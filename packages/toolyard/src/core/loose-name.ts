import { matchesGlob } from "./text/glob.ts";

/**
 * This file compares tool names as a lenient server may do. The hub compares names exactly. A server that accepts names
 * which it does not list may ignore case, blanks, other separators, or a prefix, so a rule that withholds such a tool
 * applies to each of these spellings.
 */

/**
 * Characters that an unlisted name must not contain: control, format and unassigned characters, characters without a
 * width, leading and trailing blanks, and line separators.
 */
const NOT_SENT = /^\p{Z}|\p{Z}$|[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/**
 * Maximum number of separators in a name. The limit is needed because each part of the name is compared with each part
 * of a pattern.
 */
const MAX_SEPARATORS = 16;
const SEPARATORS = /__|::|[./]/g;
const SEPARATOR_RUN = /[\s_:./-]+/g;
const WILDCARDS_ONLY = /^[*?_]*$/;

/**
 * Returns true if an unlisted name may be sent to a server: it has no character that a program could ignore, and few
 * parts.
 */
export function isPlainName(name: string): boolean {
  return !NOT_SENT.test(name) && Array.from(name.matchAll(SEPARATORS)).length <= MAX_SEPARATORS;
}

/**
 * Returns the common form of all names that differ only in case, blanks, separators, or the width or accents of
 * letters.
 */
export function looseName(name: string): string {
  return name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toUpperCase()
    .toLowerCase()
    .replaceAll(SEPARATOR_RUN, "_")
    .replaceAll(/^_|_$/g, "");
}

/**
 * Returns true if a pattern (`*`, `?`) matches a name. Ignores case, separators and accents, and also compares both
 * without the parts before a separator, such as a namespace.
 */
export function looselyMatches(pattern: string, name: string): boolean {
  const names = looseTails(name);
  return looseTails(pattern).some(
    (loose, at) => (at === 0 || !WILDCARDS_ONLY.test(loose)) && names.some((one) => matchesGlob(loose, one)),
  );
}

/** Returns the common form of a text, and of each part of the text that follows a separator. */
function looseTails(text: string): readonly string[] {
  const starts = Array.from(text.matchAll(SEPARATORS), ({ 0: separator, index }) => index + separator.length);
  return [0, ...starts].map((start) => looseName(text.slice(start)));
}
