import { endOfString } from "../core/json-depth.ts";

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Keys of one object up to here count once. */
const NARROW_KEYS = 1000;
/** Each further one costs that many times as much: V8 keeps such an object as a table. */
const WIDE_KEY_PARTS = 4;

/**
 * Whether JSON text has more keys, objects and lists than `maxParts`, told without parsing it: that takes a
 * microsecond for each of them, and whatever is done with the value takes as long again. Of an object with more than
 * 1,000 keys each further one counts four times. Text that is not JSON gets some answer, and parsing it fails
 * afterwards.
 */
export function hasMorePartsThan(text: string, maxParts: number): boolean {
  // No part is shorter than a character.
  if (text.length <= maxParts) return false;
  /** Keys so far of the objects around the place that is looked at. */
  const around: number[] = [];
  let keys = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === COLON) {
      keys += 1;
      parts += keys > NARROW_KEYS ? WIDE_KEY_PARTS : 1;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      parts += 1;
      around.push(keys);
      keys = 0;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      keys = around.pop() ?? 0;
    }
    if (parts > maxParts) return true;
  }
  return false;
}

/** What such a text has, behind "more than". */
export function partsWords(maxParts: number): string {
  return `${maxParts} keys, objects and lists`;
}
