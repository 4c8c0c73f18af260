/**
 * Returns the first `maxChars` UTF-16 code units of a text, and one less where that would split a surrogate pair. (A
 * server knows the package by its public names only, so this is a copy of the hub's function; one test runs both.)
 */
export function firstChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const isPair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(maxChars - 1, maxChars + 1));
  return text.slice(0, isPair ? maxChars - 1 : maxChars);
}
