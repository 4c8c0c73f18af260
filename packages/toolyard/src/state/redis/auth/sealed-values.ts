import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** Encrypts values for a store, and hides the values by which records are found. Derives its keys from one key. */
export class SealedValues {
  /** Id that distinguishes keys and reveals nothing about them. */
  readonly keyId: string;
  readonly #key: Buffer;
  readonly #lookupKey: Buffer;

  constructor(key: Uint8Array, purpose: string) {
    const derive = (use: string): Buffer =>
      Buffer.from(hkdfSync("sha256", key, "", `toolyard ${purpose} ${use}`, KEY_BYTES));
    this.#key = derive("values");
    this.#lookupKey = derive("names");
    this.keyId = createHash("sha256").update(derive("id")).digest("hex").slice(0, 16);
  }

  /** Encrypts a value. `place` is authenticated, so that a value cannot be moved to another place. */
  seal(value: string, place: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv);
    cipher.setAAD(Buffer.from(place));
    return Buffer.concat([iv, cipher.update(value, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
  }

  /** Returns the value, or `undefined` if it was not sealed with this key for this place. */
  open(sealed: unknown, place: string): string | undefined {
    if (typeof sealed !== "string") return undefined;
    const bytes = Buffer.from(sealed, "base64");
    if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return undefined;
    }
  }

  /** Returns a name that reveals nothing about the value. Equal values give equal names. */
  nameOf(value: string): string {
    return createHmac("sha256", this.#lookupKey).update(value).digest("base64url");
  }
}
