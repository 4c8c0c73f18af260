import { createHash } from "node:crypto";

/** Proofs of one key that were used and could be used again. */
interface KeyProofs {
  /** Time of issue by the digest of `jti`, in the order of use. */
  readonly used: Map<string, number>;
  /** Proofs issued at this time or before are refused, because the history has dropped some proofs of that time. */
  floorMs: number;
  lastUseMs: number;
}

/** Result of `claim`. `forgotten`: the proof may have been used, since the history has dropped proofs of its time. */
type ProofClaim = "first" | "used" | "forgotten" | "full";

interface ProofHistoryLimits {
  /** Maximum difference between a proof's time of issue and the clock of the hub, in milliseconds. */
  readonly windowMs: number;
  /** Maximum number of proofs, for all keys together. @default 100,000 */
  readonly maxProofs?: number;
  /** Maximum number of keys. @default 10,000 */
  readonly maxKeys?: number;
}

const MAX_PROOFS = 100_000;
const MAX_KEYS = 10_000;

/**
 * Proofs that were used, so that each is accepted once (RFC 9449 section 11.1). The memory is limited: when it is full,
 * the history drops the oldest proofs of the key that uses more than its share, and refuses later proofs of that key
 * that were issued at the time of a dropped one.
 */
export class ProofHistory {
  readonly #limits: Required<ProofHistoryLimits>;
  readonly #now: () => number;
  /** Proofs by the thumbprint of their key, the least recently used first. */
  readonly #keys = new Map<string, KeyProofs>();
  #size = 0;

  constructor(limits: ProofHistoryLimits, now: () => number) {
    this.#limits = { maxProofs: MAX_PROOFS, maxKeys: MAX_KEYS, ...limits };
    this.#now = now;
  }

  /** Number of stored proofs. */
  get size(): number {
    return this.#size;
  }

  /** Records the use of a proof. The caller has checked that `issuedMs` is within the window. */
  claim(key: string, jti: string, issuedMs: number): ProofClaim {
    const now = this.#now();
    this.#removeOldKeys(now);
    const known = this.#keys.get(key);
    if (!known && this.#keys.size >= this.#limits.maxKeys) return "full";
    const proofs = known ?? { used: new Map<string, number>(), floorMs: -Infinity, lastUseMs: now };
    if (issuedMs <= proofs.floorMs) return "forgotten";
    // A digest limits the size of an entry.
    const id = createHash("sha256").update(jti).digest().toString("latin1", 0, 16);
    if (proofs.used.has(id)) return "used";
    this.#removeExpired(proofs, now);
    if (this.#size >= this.#limits.maxProofs) this.#dropOldest(proofs);
    proofs.used.set(id, issuedMs);
    proofs.lastUseMs = now;
    this.#size += 1;
    this.#keys.delete(key);
    this.#keys.set(key, proofs);
    return "first";
  }

  /** Removes proofs that are too old to be accepted again. Stops at the first proof that could still be used. */
  #removeExpired({ used }: KeyProofs, now: number): void {
    for (const [id, issuedMs] of used) {
      if (issuedMs + this.#limits.windowMs >= now) break;
      used.delete(id);
      this.#size -= 1;
    }
  }

  /**
   * Removes each key if all its proofs have expired. The issue time of a proof may be up to one window in the future,
   * so a key is kept for two windows after its last use.
   */
  #removeOldKeys(now: number): void {
    for (const [key, { used, lastUseMs }] of this.#keys) {
      if (lastUseMs + 2 * this.#limits.windowMs >= now) break;
      this.#keys.delete(key);
      this.#size -= used.size;
    }
  }

  /** Drops one proof: of this key if it has more than its share, otherwise of the least recently used key. */
  #dropOldest(own: KeyProofs): void {
    const share = this.#limits.maxProofs / Math.max(1, this.#keys.size);
    const victim = own.used.size >= share ? own : (this.#leastRecent() ?? own);
    for (const [id, issuedMs] of victim.used) {
      victim.used.delete(id);
      victim.floorMs = Math.max(victim.floorMs, issuedMs);
      this.#size -= 1;
      return;
    }
  }

  #leastRecent(): KeyProofs | undefined {
    for (const proofs of this.#keys.values()) if (proofs.used.size > 0) return proofs;
    return undefined;
  }
}
