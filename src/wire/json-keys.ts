import { endOfString } from "../core/json-depth.ts";

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** All objects of a text together may have this many times the keys of one. */
export const KEYS_IN_ALL = 20;
/** A key takes two quotes, a colon and a value. */
const MIN_KEY_CHARS = 4;

/**
 * Whether an object in JSON text has more than `maxKeys` keys, or all of them together more than `KEYS_IN_ALL` times as
 * many, told without parsing it: from some ten thousand on, an object costs more with each key that it has already. A
 * key that is there twice counts twice. Text that is not JSON gets some answer, and parsing it fails afterwards.
 */
export function hasMoreKeysThan(text: string, maxKeys: number): boolean {
  if (text.length < maxKeys * MIN_KEY_CHARS) return false;
  /** Keys so far of the objects around the place that is looked at. */
  const around: number[] = [];
  let keys = 0;
  let inAll = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === COLON) {
      keys += 1;
      inAll += 1;
      if (keys > maxKeys || inAll > maxKeys * KEYS_IN_ALL) return true;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      around.push(keys);
      keys = 0;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      keys = around.pop() ?? 0;
    }
  }
  return false;
}

/** What a text is refused with, behind its name. */
export function tooManyKeys(maxKeys: number): string {
  const [one, all] = [maxKeys, maxKeys * KEYS_IN_ALL];
  return (
    `has an object of more than ${one} keys, or more than ${all} keys in all; ` +
    "send less at once, or raise `server.max_json_keys`"
  );
}
