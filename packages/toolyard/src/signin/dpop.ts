import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  randomUUID,
  sign,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";

/** A key to which tokens are bound (RFC 9449). */
export interface ProofKey {
  /** JWK with the private part. */
  readonly jwk: JsonObject;
  readonly key: KeyObject;
}

export interface DpopProofOptions {
  readonly method: string;
  readonly url: string;
  readonly nonce?: string;
  /** Access token that is sent with the proof. */
  readonly access?: string;
}

export function createProofKey(): ProofKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { jwk: { ...privateKey.export({ format: "jwk" }) }, key: privateKey };
}

export function proofKeyOf(jwk: JsonObject): ProofKey {
  return { jwk, key: createPrivateKey({ key: jwk as JsonWebKey, format: "jwk" }) };
}

/** Creates a proof for one request. */
export function createProof({ jwk, key }: ProofKey, { method, url, nonce, access }: DpopProofOptions): string {
  const { kty, crv, x, y } = jwk;
  const header = { typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } };
  const { origin, pathname } = new URL(url);
  const payload = {
    jti: randomUUID(),
    htm: method,
    htu: `${origin}${pathname}`,
    iat: Math.floor(Date.now() / 1000),
    ...(nonce !== undefined && { nonce }),
    ...(access !== undefined && { ath: createHash("sha256").update(access).digest("base64url") }),
  };
  const signed = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

/** Returns the nonce that a token endpoint requires in the proof; undefined if it requires none. */
export function nonceWanted(
  { header }: { header(name: string): string | undefined },
  body: JsonObject | undefined,
): string | undefined {
  return isJsonObject(body) && body["error"] === "use_dpop_nonce" ? header("dpop-nonce") : undefined;
}
