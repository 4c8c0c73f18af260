import { endOfString, isDeeperThan } from "../core/json/json-depth.ts";

/** Limits of JSON text, which limit the time for parsing it and for walking its value. */
export interface JsonBounds {
  /** Maximum nesting, because code that walks a value may recurse once per level. */
  readonly maxJsonDepth: number;
  /**
   * Maximum number of keys of one object: beyond about ten thousand keys, each further key gets more expensive. All
   * objects together may have `KEYS_IN_ALL` times as many. Repeated keys count each time.
   */
  readonly maxJsonKeys?: number;
  /**
   * Maximum number of keys, objects and lists: parsing takes a microsecond for each, and processing the value about as
   * long again. Keys beyond `NARROW_KEYS` in one object count several times. @default no limit
   */
  readonly maxJsonParts?: number;
}

/** Name of an exceeded limit. */
export type JsonExcess = "depth" | "keys" | "parts";

/** Factor for the maximum number of keys in all objects of a text, relative to the maximum of one object. */
export const KEYS_IN_ALL = 20;
/** Minimum number of characters of a key: two quotes, a colon and a value. */
const MIN_KEY_CHARS = 4;
/** Number of keys of one object up to which each key is one part. */
const NARROW_KEYS = 1000;
/**
 * Number of parts for which each key above `NARROW_KEYS` counts, because V8 stores an object with so many keys as a
 * hash table.
 */
const WIDE_KEY_PARTS = 4;

/**
 * Returns the limit that JSON text exceeds, by one scan, without parsing it. If it exceeds several, the parts have
 * precedence over the depth, and the depth over the keys. For text that is not JSON the result has no meaning; the text
 * is refused later, when it is parsed.
 */
export function excessIn(text: string, bounds: JsonBounds): JsonExcess | undefined {
  const { maxJsonDepth, maxJsonKeys = Infinity, maxJsonParts = Infinity } = bounds;
  // A text that is too short to exceed the other limits is scanned for its depth only, which is faster.
  if (text.length < maxJsonKeys * MIN_KEY_CHARS && text.length <= maxJsonParts)
    return isDeeperThan(text, maxJsonDepth) ? "depth" : undefined;
  return new BoundsScan(bounds).excessIn(text);
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

class BoundsScan {
  readonly #maxDepth: number;
  readonly #maxKeys: number;
  readonly #maxParts: number;
  /** Numbers of keys so far in the objects that enclose the current position. */
  readonly #around: number[] = [];
  #keys = 0;
  #keysInAll = 0;
  #parts = 0;
  #excess: JsonExcess | undefined;

  constructor({ maxJsonDepth, maxJsonKeys = Infinity, maxJsonParts = Infinity }: JsonBounds) {
    this.#maxDepth = maxJsonDepth;
    this.#maxKeys = maxJsonKeys;
    this.#maxParts = maxJsonParts;
  }

  excessIn(text: string): JsonExcess | undefined {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = endOfString(text, at);
      else if (code === COLON) this.#onKey();
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.#onOpen();
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) this.#keys = this.#around.pop() ?? 0;
      if (this.#excess !== undefined && this.#isFinal) return this.#excess;
    }
    return this.#excess;
  }

  /** True if no limit with precedence can be exceeded any more. */
  get #isFinal(): boolean {
    if (this.#excess === "parts") return true;
    return this.#maxParts === Infinity && (this.#excess === "depth" || this.#maxDepth === Infinity);
  }

  #onKey(): void {
    this.#keys += 1;
    this.#keysInAll += 1;
    this.#count(this.#keys > NARROW_KEYS ? WIDE_KEY_PARTS : 1);
    const isTooMuch = this.#keys > this.#maxKeys || this.#keysInAll > this.#maxKeys * KEYS_IN_ALL;
    if (isTooMuch) this.#excess ??= "keys";
  }

  #onOpen(): void {
    this.#around.push(this.#keys);
    this.#keys = 0;
    this.#count(1);
    if (this.#around.length > this.#maxDepth && this.#excess !== "parts") this.#excess = "depth";
  }

  #count(parts: number): void {
    this.#parts += parts;
    if (this.#parts > this.#maxParts) this.#excess = "parts";
  }
}

/** Returns the reason for refusing a text, as words that follow the text's name. */
export function excessText(
  excess: JsonExcess,
  { maxJsonDepth, maxJsonKeys = Infinity, maxJsonParts = Infinity }: JsonBounds,
): string {
  if (excess === "depth") return `nests deeper than ${maxJsonDepth} levels`;
  if (excess === "parts") return `has more than ${partsText(maxJsonParts)}`;
  return (
    `has an object of more than ${maxJsonKeys} keys, or more than ${maxJsonKeys * KEYS_IN_ALL} keys in all; ` +
    "send less in one message, or raise `server.max_json_keys`"
  );
}

/** Returns the description of the limit of parts, as words that follow "more than". */
export function partsText(maxParts: number): string {
  return `${maxParts} keys, objects and lists`;
}
