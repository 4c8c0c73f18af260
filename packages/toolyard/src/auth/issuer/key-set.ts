import { createLocalJWKSet, errors, type CryptoKey, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { ProviderUnavailable } from "../token-error.ts";
import { FreshValue } from "./fresh-value.ts";

/** Time for which keys are used before they are read again. */
const FRESH_MS = 10 * 60_000;
/**
 * Minimum time between two requests for the keys. It limits the requests that tokens with unknown `kid` values cause.
 */
const COOLDOWN_MS = 5000;
const MAX_KEYS = 100;

/** Signing keys of an identity provider. A token with an unknown key causes one new request per cooldown. */
export class KeySet {
  readonly #keys: FreshValue<JWTVerifyGetKey>;

  constructor(read: () => Promise<JsonObject>, now: () => number) {
    this.#keys = new FreshValue({
      read: async () => keysOf(await read()),
      freshMs: FRESH_MS,
      cooldownMs: COOLDOWN_MS,
      now,
    });
  }

  /** Reads the keys before the first token arrives. Never rejects. */
  async prefetch(): Promise<void> {
    await this.#keys.get().catch(() => {});
  }

  readonly find: JWTVerifyGetKey = async (header, token): Promise<CryptoKey> => {
    const keys = await this.#keys.get();
    try {
      return await pick(keys, header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#keys.renew();
      const newer = await this.#keys.get();
      // The key sets are compared, because another token may already have caused the request for newer keys.
      if (newer === keys) throw error;
      return pick(newer, header, token);
    }
  };
}

async function pick(keys: JWTVerifyGetKey, ...[header, token]: Parameters<JWTVerifyGetKey>): Promise<CryptoKey> {
  return (await keys(header, token)) as CryptoKey;
}

function keysOf(document: JsonObject): JWTVerifyGetKey {
  const { keys } = document;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS)
    throw new ProviderUnavailable("The identity provider's key document has no list of keys that can be used.");
  // Symmetric keys in the document are ignored: the document is public, so anyone could sign tokens with them.
  const usable = keys.filter((key) => isJsonObject(key) && key["kty"] !== "oct");
  return createLocalJWKSet({ keys: usable } as unknown as JSONWebKeySet);
}
