import { someMark } from "./json-marks.ts";

/** Keys of one object up to here count once. */
const NARROW_KEYS = 1000;
/** Each further one costs that many times as much: V8 keeps such an object as a table. */
const WIDE_KEY_PARTS = 4;

/**
 * Returns whether JSON text has more keys, objects and lists than `maxParts`, without parsing: parsing takes a
 * microsecond for each, and processing the value about as long again. Keys beyond 1,000 in one object count four times.
 * For text that is not JSON the result is arbitrary; parsing it fails afterwards.
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

/** Returns the description of the limit, to follow "more than". */
export function partsWords(maxParts: number): string {
  return `${maxParts} keys, objects and lists`;
}
