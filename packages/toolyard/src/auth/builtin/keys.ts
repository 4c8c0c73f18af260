import { randomBytes } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { isJsonObject } from "../../core/json/json.ts";
import type { AuthText } from "../../state/ports/auth-state.ts";

/**
 * Keys of the authorization server: for signatures of ID tokens, and for cookies. The hub signs with the first key of
 * each type.
 */
export interface ServerKeys {
  readonly jwks: readonly JWK[];
  readonly cookies: readonly string[];
  /** Creation time of the newest key, in milliseconds since 1970. */
  readonly createdAt: number;
}

const DAY_MS = 24 * 60 * 60_000;
/** Age of the first key at which a new key replaces it. */
const ROTATE_MS = 90 * DAY_MS;
/**
 * Age at which a new key replaces an older one for signatures. Before, it is only published, so that other hubs and
 * clients have read it when they receive the first signature. Longer than `KEYS_CHECK_MS`.
 */
const PUBLISHED_MS = 10 * 60_000;
/** Time after which a running hub reads the keys again, since another hub may have replaced them. */
export const KEYS_CHECK_MS = 60_000;
/** Maximum number of published keys. Older keys stay published so that their signatures can be verified. */
const MAX_KEYS = 2;

/**
 * Reads the keys, and creates or rotates them if needed. Of several hubs, one creates them. Rejects with the system's
 * error, or with a `StoreLostError`, if they cannot be written.
 */
export async function loadServerKeys(text: AuthText, now: number): Promise<ServerKeys> {
  const found = await text.read();
  const known = parseKeys(found === "same" ? undefined : found?.text);
  if (known && isRecent(known, now)) return inOrder(known, now);
  return text.change(async (before) => {
    const stored = parseKeys(before);
    if (before !== undefined && stored && isRecent(stored, now)) return { text: before, result: inOrder(stored, now) };
    const keys = await withNewKey(stored, now);
    return { text: JSON.stringify(keys), result: inOrder(keys, now) };
  });
}

/** Returns whether both sets have the same keys in the same order. */
export function areSameKeys(one: ServerKeys, other: ServerKeys): boolean {
  return JSON.stringify([one.jwks, one.cookies]) === JSON.stringify([other.jwks, other.cookies]);
}

async function withNewKey(known: ServerKeys | undefined, now: number): Promise<ServerKeys> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: randomBytes(8).toString("hex"), alg: "ES256", use: "sig" };
  return {
    jwks: [jwk, ...(known?.jwks ?? [])].slice(0, MAX_KEYS),
    cookies: [randomBytes(32).toString("base64url"), ...(known?.cookies ?? [])].slice(0, MAX_KEYS),
    createdAt: now,
  };
}

function isRecent({ createdAt }: ServerKeys, now: number): boolean {
  return now - createdAt < ROTATE_MS;
}

/** Returns the keys with the one for signatures first: the newest, unless it was created a short time ago. */
function inOrder(keys: ServerKeys, now: number): ServerKeys {
  if (now - keys.createdAt >= PUBLISHED_MS) return keys;
  return { ...keys, jwks: secondFirst(keys.jwks), cookies: secondFirst(keys.cookies) };
}

function secondFirst<T>([first, second, ...rest]: readonly T[]): readonly T[] {
  return [second, first, ...rest].filter((one) => one !== undefined) as readonly T[];
}

function parseKeys(text = ""): ServerKeys | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isWhole = isJsonObject(value) && Array.isArray(value["jwks"]) && Array.isArray(value["cookies"]);
    return isWhole && typeof value["createdAt"] === "number" ? (value as unknown as ServerKeys) : undefined;
  } catch {
    return undefined;
  }
}
