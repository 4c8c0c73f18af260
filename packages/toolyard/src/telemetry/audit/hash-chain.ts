import { createHash, createHmac, randomBytes } from "node:crypto";
import { parseExact } from "../../core/json/exact-json.ts";

/** Hash that the first line of a file without earlier lines refers to. */
export const NO_HASH = "0".repeat(64);

const ID_BYTES = 6;

/**
 * Adds `chain`, `seq`, `prev` and `hash` to lines. The hash covers the text of the line, with the hash of the line
 * before in `prev`, so a changed, removed or inserted line is found. Each process has a chain of its own, whose first
 * line refers to the last line in the file at that time.
 */
export class HashChain {
  readonly #id = randomBytes(ID_BYTES).toString("hex");
  readonly #key: string | undefined;
  #seq = 0;
  #previous: string;

  /** `previous`: the hash of the last line in the file. `key`: makes hashes that only its owner can create. */
  constructor(previous: string = NO_HASH, key?: string) {
    this.#previous = previous;
    this.#key = key;
  }

  /** Returns a line of JSON with the members of the chain. Lines must be written in the order of these calls. */
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

/** A line of a chain. */
export interface ChainLink {
  readonly chain: string;
  readonly seq: number;
  /** Hash of the line before. */
  readonly prev: string;
  /** Text that the hash covers. */
  readonly linked: string;
  readonly hash: string;
}

/** Returns the chain members of a line; undefined for a line without a chain. */
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
