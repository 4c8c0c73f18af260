const SPACE = 0x20;
const TAB = 0x09;

/**
 * The text from `from` on without the spaces and tabs around it: the blanks of HTTP. `trim` takes off more, and an
 * expression that skips blanks tries each of many ones anew.
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
