import type { RecordKey, SignInRecord } from "./records.ts";
import type { IssuerBook } from "./issuer-book.ts";

/**
 * Stored sign-ins of this hub, or of all hubs of a store. Methods reject with a `FailError` while they cannot be read.
 */
export interface SignInVault {
  find(key: RecordKey): Promise<SignInRecord | undefined>;
  all(): Promise<readonly SignInRecord[]>;
  /**
   * Replaces a record with the result of `change`, or removes it. If `change` throws, nothing is changed. `change` may
   * be called again if another process has changed the record meanwhile.
   */
  update(
    key: RecordKey,
    change: (record: SignInRecord | undefined) => SignInRecord | undefined,
  ): Promise<SignInRecord | undefined>;
  /**
   * Runs `work` while no other process uses this name, to redeem a refresh token or a code, which can be redeemed only
   * once.
   */
  exclusively<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Issuers to which the configured credentials of sources are bound. */
export type IssuerBindings = Pick<IssuerBook, "find" | "all" | "claim" | "forget">;

/** Stored sign-ins of all hubs of a store. */
export interface SharedSignIns {
  readonly vault: SignInVault;
  readonly issuers: IssuerBindings;
  /** Changes after a hub has changed a sign-in. 0 if the vault was never used. */
  readonly version: number;
}

/** Maximum time to wait for the lock. A slow token endpoint holds it as long as one request may take. */
export const REDEEM_WAIT_MS = 45_000;
