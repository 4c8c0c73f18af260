import { someMark } from "./json-marks.ts";

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
  let parts = 0;
  return someMark(text, (keys) => {
    parts += keys > NARROW_KEYS ? WIDE_KEY_PARTS : 1;
    return parts > maxParts;
  });
}

/** What such a text has, behind "more than". */
export function partsWords(maxParts: number): string {
  return `${maxParts} keys, objects and lists`;
}
