import { someMark } from "./json-marks.ts";

/** All objects of a text together may have this many times the keys of one. */
export const KEYS_IN_ALL = 20;
/** A key takes two quotes, a colon and a value. */
const MIN_KEY_CHARS = 4;

/**
 * Returns whether an object in JSON text has more than `maxKeys` keys, or all objects together more than `KEYS_IN_ALL`
 * times as many, without parsing: beyond some ten thousand keys, each further key of an object gets more expensive.
 * Repeated keys count each time. For text that is not JSON the result is arbitrary; parsing it fails afterwards.
 */
export function hasMoreKeysThan(text: string, maxKeys: number): boolean {
  if (text.length < maxKeys * MIN_KEY_CHARS) return false;
  let inAll = 0;
  return someMark(text, (keys) => {
    if (keys > 0) inAll += 1;
    return keys > maxKeys || inAll > maxKeys * KEYS_IN_ALL;
  });
}

/** Returns the reason for refusing a text, to follow its name. */
export function tooManyKeys(maxKeys: number): string {
  const [one, all] = [maxKeys, maxKeys * KEYS_IN_ALL];
  return (
    `has an object of more than ${one} keys, or more than ${all} keys in all; ` +
    "send less in one message, or raise `server.max_json_keys`"
  );
}
