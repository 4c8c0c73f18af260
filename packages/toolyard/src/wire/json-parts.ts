import { someMark } from "./json-marks.ts";

/** Number of keys of one object up to which each key counts once. */
const NARROW_KEYS = 1000;
/** Weight of each key above that number, because V8 stores such an object as a hash table. */
const WIDE_KEY_PARTS = 4;

/**
 * Returns true if JSON text has more keys, objects and lists than `maxParts`. Does not parse the text: parsing takes a
 * microsecond for each of them, and processing the value about as long again. Keys beyond 1,000 in one object count
 * four times. For text that is not JSON the result has no meaning; the text is refused later, when it is parsed.
 */
export function hasMorePartsThan(text: string, maxParts: number): boolean {
  // Each part has at least one character, so a shorter text cannot exceed the limit.
  if (text.length <= maxParts) return false;
  let parts = 0;
  return someMark(text, (keys) => {
    parts += keys > NARROW_KEYS ? WIDE_KEY_PARTS : 1;
    return parts > maxParts;
  });
}

/** Returns the description of the limit, as words that follow "more than". */
export function partsText(maxParts: number): string {
  return `${maxParts} keys, objects and lists`;
}
