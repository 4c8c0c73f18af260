import { createHmac, timingSafeEqual } from "node:crypto";

/** Time after which a new nonce is issued. Only the current and the previous nonce are accepted. */
const STEP_MS = 2 * 60_000;

/**
 * Nonces of proofs (RFC 9449 section 9). A nonce is derived from the time and a secret, so it needs no memory, and all
 * hubs with the same secret accept it.
 */
export class ProofNonces {
  readonly #secret: () => Uint8Array;
  readonly #now: () => number;

  constructor(secret: () => Uint8Array, now: () => number) {
    this.#secret = secret;
    this.#now = now;
  }

  /** Returns the nonce that proofs must contain. */
  current(): string {
    return this.#nonceAt(this.#step());
  }

  isValid(nonce: unknown): boolean {
    const step = this.#step();
    return typeof nonce === "string" && [step, step - 1].some((one) => isEqual(nonce, this.#nonceAt(one)));
  }

  #step(): number {
    return Math.floor(this.#now() / STEP_MS);
  }

  #nonceAt(step: number): string {
    return createHmac("sha256", this.#secret()).update(`dpop nonce ${step}`).digest("base64url").slice(0, 22);
  }
}

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
