const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACKET = 0x5b;

/**
 * Returns whether JSON text contains more objects and arrays than the limit, without parsing it. Three characters
 * (`{},`) take about sixty bytes of memory and time to parse, so the length of a text does not limit its cost.
 */
export function hasMoreContainers(json: string, most: number): boolean {
  let count = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if ((code === BRACE || code === BRACKET) && (count += 1) > most) return true;
  }
  return false;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
