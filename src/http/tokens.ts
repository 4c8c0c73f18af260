import { createHash, timingSafeEqual } from "node:crypto";
import { LOCAL_PRINCIPAL, type Principal } from "../core/call.ts";
import { EVERYTHING, type Rights } from "../core/rights.ts";
import type { TokenEntry } from "./options.ts";
import { Refusal } from "./refusal.ts";

interface KnownToken {
  readonly digest: Buffer;
  readonly principal: Principal;
}

/** Tells who calls by `Authorization: Bearer`. Without tokens everybody is the local principal. */
export class TokenGate {
  readonly #known: readonly KnownToken[];

  readonly #anybody: Principal;

  /** `openRights`: what callers may do where there are no tokens. */
  constructor(entries: readonly TokenEntry[], openRights: Rights = EVERYTHING) {
    this.#anybody =
      openRights === EVERYTHING ? LOCAL_PRINCIPAL : Object.freeze({ ...LOCAL_PRINCIPAL, rights: openRights });
    this.#known = entries.map(({ name, token, rights }) => ({
      digest: digestOf(token),
      principal: Object.freeze({ id: name, rights }),
    }));
  }

  get isOpen(): boolean {
    return this.#known.length === 0;
  }

  /** Everybody who may be admitted. */
  get principals(): readonly Principal[] {
    return this.isOpen ? [this.#anybody] : this.#known.map(({ principal }) => principal);
  }

  /** Throws a 401 that says what is missing. */
  admit(authorization: string | undefined): Principal {
    if (this.isOpen) return this.#anybody;
    if (authorization === undefined) throw challenge("Missing Authorization header");
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined) throw challenge("Invalid Authorization header format, expected 'Bearer TOKEN'");
    const principal = this.#principalOf(token);
    if (!principal) throw challenge("The token is not known here");
    return principal;
  }

  // Every token is compared, and digests are of one length, so that the time taken tells nothing about any of them.
  #principalOf(token: string): Principal | undefined {
    const digest = digestOf(token);
    let found: Principal | undefined;
    for (const known of this.#known) {
      if (timingSafeEqual(known.digest, digest)) found = known.principal;
    }
    return found;
  }
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function challenge(description: string): Refusal {
  return new Refusal(401, description, {
    "www-authenticate": `Bearer realm="toolyard", error="invalid_token", error_description="${description}"`,
  });
}
