import { createHash, createHmac, hkdfSync } from "node:crypto";
import { openText, sealText } from "../../sealed-text.ts";

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
    return sealText(value, this.#key, place);
  }

  /** Returns the value, or `undefined` if it was not sealed with this key for this place. */
  open(sealed: unknown, place: string): string | undefined {
    return openText(sealed, this.#key, place);
  }

  /** Returns a name that reveals nothing about the value. Equal values give equal names. */
  nameOf(value: string): string {
    return createHmac("sha256", this.#lookupKey).update(value).digest("base64url");
  }
}
