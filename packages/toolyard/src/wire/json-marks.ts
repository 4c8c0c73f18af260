import { endOfString } from "../core/json/json-depth.ts";

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Scans JSON text without parsing it. Calls `isEnough` at each key with the number of keys of its object so far, and
 * with 0 at the start of each object or list. Stops when `isEnough` returns true, and returns true; otherwise returns
 * false. For text that is not JSON the result has no meaning.
 */
export function someMark(text: string, isEnough: (keys: number) => boolean): boolean {
  /** Numbers of keys so far in the objects that enclose the current position. */
  const around: number[] = [];
  let keys = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === COLON) {
      keys += 1;
      if (isEnough(keys)) return true;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (isEnough(0)) return true;
      around.push(keys);
      keys = 0;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      keys = around.pop() ?? 0;
    }
  }
  return false;
}
