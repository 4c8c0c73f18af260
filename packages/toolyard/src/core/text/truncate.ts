/**
 * Returns the first `maxChars` UTF-16 code units of a text, and one less if that would split a surrogate pair. UTF-8
 * cannot encode a lone surrogate, and strict JSON parsers refuse it.
 */
export function firstChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, isPairAt(text, maxChars - 1) ? maxChars - 1 : maxChars);
}

/** Returns the last `maxChars` UTF-16 code units of a text, and one less if that would split a surrogate pair. */
export function lastChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const start = text.length - maxChars;
  return text.slice(isPairAt(text, start - 1) ? start + 1 : start);
}

/** Returns a text of at most `maxChars` UTF-16 code units; a longer one is truncated and ends in `mark`. */
export function truncate(text: string, maxChars: number, mark = "…"): string {
  return text.length <= maxChars ? text : firstChars(text, Math.max(0, maxChars - mark.length)) + mark;
}

function isPairAt(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1));
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
