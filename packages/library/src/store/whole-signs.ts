/**
 * Replacer for `JSON.stringify`: replaces each lone surrogate, which a broken PDF may contain, with U+FFFD. Keeps the
 * length of the text.
 */
export function wholeSigns(_name: string, value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll(/\p{Surrogate}/gu, "\uFFFD") : value;
}
