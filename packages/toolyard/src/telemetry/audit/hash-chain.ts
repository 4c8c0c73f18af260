import { createHash, createHmac, randomBytes } from "node:crypto";
import { parseExact } from "../../core/json/exact-json.ts";

/** Hash to which the first line of an empty file refers. */
export const NO_HASH = "0".repeat(64);

const ID_BYTES = 6;

/**
 * Adds `chain`, `seq`, `prev` and `hash` to lines. The hash covers the text of the line, including the hash of the
 * previous line in `prev`, so that a changed, removed or inserted line is detected. Each process has a separate chain.
 * Its first line refers to the line that was the last one in the file at that time.
 */
export class HashChain {
  readonly #id = randomBytes(ID_BYTES).toString("hex");
  readonly #key: string | undefined;
  #seq = 0;
  #previous: string;

  /** `previous`: hash of the last line in the file. `key`: makes hashes that only its owner can create. */
  constructor(previous: string = NO_HASH, key?: string) {
    this.#previous = previous;
    this.#key = key;
  }

  /**
   * Returns a line of JSON with the members of the chain. Lines must be written in the order of the calls to this
   * method.
   */
  append(json: string): string {
    this.#seq += 1;
    const linked = `${json.slice(0, -1)},"chain":"${this.#id}","seq":${this.#seq},"prev":"${this.#previous}"`;
    this.#previous = hashOf(linked, this.#key);
    return `${linked},"hash":"${this.#previous}"}`;
  }
}

/** Returns the hash of a line without its last member. */
export function hashOf(linked: string, key?: string): string {
  const hash = key === undefined ? createHash("sha256") : createHmac("sha256", key);
  return hash.update(linked).digest("hex");
}

const LINKED = /^(?<linked>\{.*),"hash":"(?<hash>[\da-f]{64})"\}$/;

/** Line of a chain. */
export interface ChainLink {
  readonly chain: string;
  readonly seq: number;
  /** Hash of the previous line. */
  readonly prev: string;
  /** Text that the hash covers. */
  readonly linked: string;
  readonly hash: string;
}

/** Returns the chain members of a line, or `undefined` for a line without a chain. */
export function readLink(line: string): ChainLink | undefined {
  const { linked, hash } = LINKED.exec(line)?.groups ?? {};
  if (linked === undefined || hash === undefined) return undefined;
  try {
    const { chain, seq, prev } = parseExact(`${linked}}`) as Record<string, unknown>;
    if (typeof chain !== "string" || typeof seq !== "number" || typeof prev !== "string") return undefined;
    return { chain, seq, prev, linked, hash };
  } catch {
    return undefined;
  }
}
