import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { isJsonObject } from "../../core/json/json.ts";
import { withFileLock } from "../../files/file-lock.ts";
import { writeWhole } from "../../files/write-whole.ts";

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
/** Maximum number of published keys. Older keys stay published so that their signatures can be verified. */
const MAX_KEYS = 2;

/**
 * Reads the keys, and creates or rotates them if needed. Rejects with the system's error if they cannot be written.
 */
export async function loadServerKeys(file: string, now: number): Promise<ServerKeys> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return withFileLock(`${file}.lock`, async () => {
    const known = parseKeys(await readFile(file, "utf8").catch(() => ""));
    if (known && now - known.createdAt < ROTATE_MS) return known;
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), kid: randomBytes(8).toString("hex"), alg: "ES256", use: "sig" };
    const keys: ServerKeys = {
      jwks: [jwk, ...(known?.jwks ?? [])].slice(0, MAX_KEYS),
      cookies: [randomBytes(32).toString("base64url"), ...(known?.cookies ?? [])].slice(0, MAX_KEYS),
      createdAt: now,
    };
    await writeWhole(file, JSON.stringify(keys));
    return keys;
  });
}

function parseKeys(text: string): ServerKeys | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isWhole = isJsonObject(value) && Array.isArray(value["jwks"]) && Array.isArray(value["cookies"]);
    return isWhole && typeof value["createdAt"] === "number" ? (value as unknown as ServerKeys) : undefined;
  } catch {
    return undefined;
  }
}
