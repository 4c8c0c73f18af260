import { createHash, randomUUID } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";

/** Parts of a proof that replace the correct ones. A claim or a header of `undefined` is omitted. */
export interface ProofParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Access token that the proof is sent with. */
  readonly token?: string;
  readonly signer?: CryptoKey | Uint8Array;
}

/** A client with a key, to which access tokens are bound (RFC 9449). */
export class KeyHolder {
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
  readonly thumbprint: string;
  readonly #alg: string;

  private constructor(alg: string, jwk: JWK, privateKey: CryptoKey, thumbprint: string) {
    this.#alg = alg;
    this.jwk = jwk;
    this.privateKey = privateKey;
    this.thumbprint = thumbprint;
  }

  static async create(alg = "ES256"): Promise<KeyHolder> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = await exportJWK(publicKey);
    return new KeyHolder(alg, jwk, privateKey, await calculateJwkThumbprint(jwk));
  }

  /** Creates a proof for one request. */
  proof(method: string, url: string, { claims, header, token, signer = this.privateKey }: ProofParts = {}) {
    const payload = defined({
      jti: randomUUID(),
      htm: method,
      htu: url,
      iat: Math.floor(Date.now() / 1000),
      ...(token !== undefined && { ath: createHash("sha256").update(token).digest("base64url") }),
      ...claims,
    });
    const head = defined({ alg: this.#alg, typ: "dpop+jwt", jwk: this.jwk, ...header });
    return new SignJWT(payload).setProtectedHeader(head as { alg: string }).sign(signer);
  }

  /** Returns the headers of a request with an access token and its proof. */
  async headers(token: string, method: string, url: string, parts: ProofParts = {}): Promise<Record<string, string>> {
    return { authorization: `DPoP ${token}`, dpop: await this.proof(method, url, { token, ...parts }) };
  }
}

function defined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
