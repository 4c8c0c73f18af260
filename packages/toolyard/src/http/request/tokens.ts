import { createHash, timingSafeEqual } from "node:crypto";
import {
  alwaysAdmitting,
  type Admitted,
  type Authentication,
  type Authenticator,
  type Credentials,
  type NotAdmitted,
} from "../../core/ports/authenticator.ts";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import type { HttpOptions, TokenEntry } from "../options.ts";

/** Tells who calls as `[server]` says: by its tokens, and without them everybody is the local principal. */
export function createTokenAuthenticator({
  tokens,
  openRights,
  host,
  trustedProxies,
}: Pick<HttpOptions, "tokens" | "openRights" | "host" | "trustedProxies">): Authenticator {
  if (tokens.length > 0) return new TokenAuthenticator(tokens);
  // Behind a proxy somebody from anywhere comes from this machine.
  const isOpen = !isLoopbackHost(host) || trustedProxies.length > 0;
  const principal = { ...LOCAL_PRINCIPAL, rights: openRights, ...(isOpen && { remote: true }) };
  return alwaysAdmitting(Object.freeze(principal));
}

interface KnownToken {
  readonly digest: Buffer;
  readonly admitted: Admitted;
}

/** `Authorization: Bearer`, against tokens that are known. */
class TokenAuthenticator implements Authenticator {
  readonly #known: readonly KnownToken[];

  constructor(entries: readonly TokenEntry[]) {
    this.#known = entries.map(({ name, token, rights, ratePerMinute }) => ({
      digest: digestOf(token),
      admitted: Object.freeze({
        admitted: true,
        principal: Object.freeze({ id: name, rights, ...(ratePerMinute !== undefined && { ratePerMinute }) }),
      }),
    }));
  }

  authenticate(credentials: Credentials): Authentication {
    const authorization = credentials.header("authorization");
    if (authorization === undefined) return refusal("Missing Authorization header");
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined) return refusal("Invalid Authorization header format, expected 'Bearer TOKEN'");
    return this.#whose(token) ?? refusal("The token is not known here");
  }

  // Every token is compared, and digests are of one length, so that the time taken tells nothing about any of them.
  #whose(token: string): Admitted | undefined {
    const digest = digestOf(token);
    let found: Admitted | undefined;
    for (const known of this.#known) {
      if (timingSafeEqual(known.digest, digest)) found = known.admitted;
    }
    return found;
  }
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function refusal(message: string): NotAdmitted {
  const challenge = `Bearer realm="toolyard", error="invalid_token", error_description="${message}"`;
  return { admitted: false, message, challenge };
}
