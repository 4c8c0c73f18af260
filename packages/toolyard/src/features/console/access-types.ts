// The part of the contract of `/api/admin` about sign-ins and approvals. The page imports this file, so it imports only
// types of the contract.
import type { JsonValues, SourceState } from "./api-types.ts";

/**
 * `GET sign-ins`: `{signIns: SignInRow[]}`. A caller with narrowed rights gets the sources that it uses and signs in to
 * itself.
 */
export interface SignInRow {
  readonly source: string;
  readonly state: SourceState;
  /** Reason why the source is not ready, in one sentence. */
  readonly reason?: string;
  /** True if each caller signs in separately. The row then describes the sign-in of this caller. */
  readonly isPersonal: boolean;
  /** True if this caller may sign in and out. */
  readonly mayChange: boolean;
  readonly isSignedIn: boolean;
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  /** End of the access token (ISO 8601). */
  readonly expiresAt?: string;
  /** True if the hub renews the access token. */
  readonly isRenewable?: boolean;
}

/** `POST sign-ins/{source}`: the address at which the browser signs in. */
export interface StartedSignIn {
  readonly location: string;
}

/** `GET approvals`: `{approvals: ApprovalRow[]}`: pinned tools whose definition is not the approved one. */
export interface ApprovalRow {
  readonly source: string;
  readonly tool: string;
  /** Digest of the approved definition; empty: none was approved. */
  readonly approved: string;
  /** Digest of the current definition. */
  readonly digest: string;
  /** False if the tool is still offered, because only the format of its pinned digest is outdated. */
  readonly isWithheld: boolean;
  /** Current definition as the source lists it. */
  readonly definition: JsonValues;
  /** File that has the entry of the source. */
  readonly file?: string;
  /** Reason why the console cannot change the entry. */
  readonly readOnlyReason?: string;
}

/** Body of `POST approvals/{source}/{tool}`: the digest of the definition that the user has seen. */
export interface Approval {
  readonly digest: string;
}
