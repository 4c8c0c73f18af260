/** Stored text, with the digest by which `replace` recognizes it. */
export interface VaultEntry {
  /** Digest of the stored text. Empty if there is none. */
  readonly digest: string;
  readonly value: string | undefined;
}

/** Table of texts. A text is found by its table and its name. */
export type VaultTable = "sign-ins" | "issuers";

export interface VaultPlace {
  readonly table: VaultTable;
  readonly name: string;
}

export interface LeaseOptions {
  /** Maximum time to wait for the current holder, in milliseconds. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Error: another hub holds a lease for longer than the caller may wait. */
export class LeaseTakenError extends Error {
  override readonly name = "LeaseTakenError";
}

/**
 * Sign-ins to servers that all hubs of a store use, encrypted with a key that all hubs have. Methods reject with a
 * `StoreLostError` while the store cannot be reached.
 */
export interface SharedVault {
  /** Changes after a hub has changed a text. 0 if the vault was never used. Needs no access to the store. */
  readonly version: number;
  find(place: VaultPlace): Promise<VaultEntry>;
  all(table: VaultTable): Promise<readonly string[]>;
  /**
   * Replaces the text that `find` returned; `undefined` removes it. Resolves to false if another hub has replaced it
   * meanwhile. Rejects with a `TableFullError`.
   */
  replace(place: VaultPlace, before: VaultEntry, value: string | undefined): Promise<boolean>;
  /**
   * Runs `work` while no other hub uses this name. The lease of a killed hub expires. Rejects with a `LeaseTakenError`.
   */
  exclusively<T>(name: string, work: () => Promise<T>, options: LeaseOptions): Promise<T>;
}

/** Maximum number of sign-ins, and of issuers, in a vault. */
export const MAX_VAULT_RECORDS = 10_000;
