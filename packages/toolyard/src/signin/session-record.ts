import type { RecordKey, SignInRecord } from "./records.ts";
import type { SignInVault } from "./vault-port.ts";

export interface StoredSignInParts {
  readonly vault: SignInVault;
  readonly key: RecordKey;
  /** Called with renewed tokens that are not stored, because the sign-in has ended meanwhile. */
  readonly onEnded: (renewed: SignInRecord) => void;
}

interface UnsavedRecord {
  /** Record that the vault contains until the renewed one is stored. */
  readonly replaced: SignInRecord;
  readonly renewed: SignInRecord;
}

/**
 * The stored record of one session. While renewed tokens are not stored, the vault contains tokens that were already
 * used; they are stored at the next opportunity, and the earlier ones are never returned.
 */
export class StoredSignIn {
  readonly #parts: StoredSignInParts;
  #unsaved: UnsavedRecord | undefined;

  constructor(parts: StoredSignInParts) {
    this.#parts = parts;
  }

  /** Returns the stored record. Rejects with a `FailError` if renewed tokens still cannot be stored. */
  async find(): Promise<SignInRecord | undefined> {
    const { vault, key } = this.#parts;
    const found = await vault.find(key);
    const unsaved = this.#unsaved;
    return unsaved && isSame(found, unsaved.replaced) ? this.#save(unsaved) : this.#noteStored(found);
  }

  /**
   * Stores a renewed record, unless another process has changed the record meanwhile. Returns the stored record.
   * Rejects with a `FailError` if it cannot be stored; `find` then tries again.
   */
  async renew(replaced: SignInRecord, renewed: SignInRecord): Promise<SignInRecord | undefined> {
    this.#unsaved = { replaced, renewed };
    return this.#save(this.#unsaved);
  }

  async #save({ replaced, renewed }: UnsavedRecord): Promise<SignInRecord | undefined> {
    const { vault, key } = this.#parts;
    return this.#noteStored(await vault.update(key, (now) => (isSame(now, replaced) ? renewed : now)));
  }

  #noteStored(stored: SignInRecord | undefined): SignInRecord | undefined {
    const unsaved = this.#unsaved;
    this.#unsaved = undefined;
    if (unsaved && !stored?.tokens) this.#parts.onEnded(unsaved.renewed);
    return stored;
  }
}

/** Returns whether a stored record has the tokens and the client of another one. */
export function isSame(now: SignInRecord | undefined, record: SignInRecord): boolean {
  return now?.tokens?.access === record.tokens?.access && now?.client.id === record.client.id;
}
