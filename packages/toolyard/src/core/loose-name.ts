import { matchesGlob } from "./text/glob.ts";

/**
 * Tool names in the comparison of a lenient server. The hub compares names exactly. A server that accepts names which
 * it does not list may ignore case, blanks, other separators, or a prefix, so a rule that withholds such a tool applies
 * to each of these spellings.
 */

/** Control, format and unassigned characters, characters without a width, blanks at an end, and line separators. */
const NOT_SENT = /^\p{Z}|\p{Z}$|[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
/** Limit, since each part is compared with each part of a pattern. */
const MAX_SEPARATORS = 16;
const SEPARATORS = /__|::|[./]/g;
const SEPARATOR_RUN = /[\s_:./-]+/g;
const WILDCARDS_ONLY = /^[*?_]*$/;

/** Returns whether an unlisted name may be sent: programs cannot read it as another name, and it has few parts. */
export function isPlainName(name: string): boolean {
  return !NOT_SENT.test(name) && Array.from(name.matchAll(SEPARATORS)).length <= MAX_SEPARATORS;
}

/**
 * Returns the common form of all names that differ only in case, blanks, width or accents of letters, and separators.
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

/** Returns whether a pattern (`*`, `?`) matches a name in some spelling, with or without prefixes on either side. */
export function looselyMatches(pattern: string, name: string): boolean {
  const names = looseTails(name);
  return looseTails(pattern).some(
    (loose, at) => (at === 0 || !WILDCARDS_ONLY.test(loose)) && names.some((one) => matchesGlob(loose, one)),
  );
}

/** Returns the loose form of a text, and of the rest after each separator in it. */
function looseTails(text: string): readonly string[] {
  const starts = Array.from(text.matchAll(SEPARATORS), ({ 0: separator, index }) => index + separator.length);
  return [0, ...starts].map((start) => looseName(text.slice(start)));
}
