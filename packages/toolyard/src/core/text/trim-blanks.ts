const SPACE = 0x20;
const TAB = 0x09;

/**
 * Returns the text from position `from`, without surrounding spaces and tabs, which are the blanks of HTTP. `trim`
 * removes more characters, and a regular expression that skips blanks takes quadratic time for many blanks.
 */
export function trimBlanks(text: string, from = 0): string {
  let start = from;
  let end = text.length;
  while (start < end && isBlank(text, start)) start += 1;
  while (end > start && isBlank(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === SPACE || code === TAB;
}
