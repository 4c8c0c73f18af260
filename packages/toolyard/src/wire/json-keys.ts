import { someMark } from "./json-marks.ts";

/** Factor for the maximum number of keys in all objects of a text, relative to the maximum of one object. */
export const KEYS_IN_ALL = 20;
/** Minimum number of characters of a key: two quotes, a colon and a value. */
const MIN_KEY_CHARS = 4;

/**
 * Returns true if an object in JSON text has more than `maxKeys` keys, or all objects together more than `KEYS_IN_ALL`
 * times as many. Does not parse the text: beyond about ten thousand keys, each further key of an object gets more
 * expensive. Repeated keys count each time. For text that is not JSON the result has no meaning; the text is refused
 * later, when it is parsed.
 */
export function hasMoreKeysThan(text: string, maxKeys: number): boolean {
  if (text.length < maxKeys * MIN_KEY_CHARS) return false;
  let inAll = 0;
  return someMark(text, (keys) => {
    if (keys > 0) inAll += 1;
    return keys > maxKeys || inAll > maxKeys * KEYS_IN_ALL;
  });
}

/** Returns the reason for refusing a text, as words that follow the text's name. */
export function tooManyKeys(maxKeys: number): string {
  const [one, all] = [maxKeys, maxKeys * KEYS_IN_ALL];
  return (
    `has an object of more than ${one} keys, or more than ${all} keys in all; ` +
    "send less in one message, or raise `server.max_json_keys`"
  );
}
