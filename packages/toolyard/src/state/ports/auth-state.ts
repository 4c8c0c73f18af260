import type { JsonObject } from "../../core/json/json.ts";

/** Member of a payload by which one record is found. */
export type LookupMember = "uid" | "userCode";

/** Member of a payload by which all records of a grant or of an account are removed. */
export type FamilyMember = "grantId" | "accountId";

/** Rule by which a record may be used again shortly after its first use. */
export interface ReuseRule {
  /** Milliseconds after the first use. 0: the record may be used once. */
  readonly graceMs: number;
  /** Maximum number of uses after the first one. */
  readonly maxUses: number;
}

/** Result of a use. `reused`: the record was used before, and the rule does not permit another use. */
export type RecordUse = "used" | "reused" | "missing";

/** Error of a write: the grant of the record was revoked before. */
export class GrantRevokedError extends Error {
  override readonly name = "GrantRevokedError";

  constructor() {
    super("The grant of the record was revoked.");
  }
}

/** Record of the authorization server, with its key. */
export interface KeyedRecord {
  readonly key: string;
  readonly payload: JsonObject;
}

/**
 * Records of one model of the authorization server: tokens, grants, sessions. A key is a digest, so that no record
 * reveals a token. `payload.consumed` is the time of the first use in seconds since 1970, and `payload.graceUses` the
 * number of uses after it. If the state is in a store, all its methods reject with a `StoreLostError` while the store
 * cannot be reached.
 */
export interface AuthRecords {
  find(key: string): Promise<JsonObject | undefined>;
  findBy(member: LookupMember, value: string): Promise<KeyedRecord | undefined>;
  /**
   * Resolves when the record is stored; if it rejects, an earlier record with the key stays. `expiresAt`: milliseconds
   * since 1970. Rejects with a `GrantRevokedError` if `removeBy` has removed the grant of the record.
   */
  write(key: string, payload: JsonObject, expiresAt?: number): Promise<void>;
  /** Uses a record in one step. Of concurrent uses on several hubs, only as many succeed as the rule permits. */
  use(key: string, rule: ReuseRule): Promise<RecordUse>;
  /** Records that a one-time id is used. Resolves to false if it was used before. */
  claim(key: string, expiresAt: number): Promise<boolean>;
  /** Finds and removes a record in one step. */
  take(key: string): Promise<JsonObject | undefined>;
  remove(key: string): Promise<void>;
  /** Removes all records of a grant or account. Resolves with their keys. */
  removeBy(member: FamilyMember, value: string): Promise<readonly string[]>;
  /** Removes expired records, if the store does not remove them by itself. */
  sweep(): Promise<void>;
}

/** Error of `put`: the table has its maximum number of values. */
export class TableFullError extends Error {
  override readonly name = "TableFullError";
}

/** Values without an expiry, by name. */
export interface AuthTable {
  get(name: string): Promise<string | undefined>;
  all(): Promise<readonly string[]>;
  /** Rejects with a `TableFullError` for a new name if the table is full. */
  put(name: string, value: string): Promise<void>;
  /** Resolves to true if the value existed. */
  remove(name: string): Promise<boolean>;
}

export interface StampedText {
  /** Differs after each change of the text. */
  readonly stamp: string;
  readonly text: string;
}

/** Text that several processes change. */
export interface AuthText {
  /** Name of the text, for messages. */
  readonly name: string;
  /** Resolves with the text, with `undefined` if there is none, and with `same` if its stamp is `known`. */
  read(known?: string): Promise<StampedText | "same" | undefined>;
  /** Replaces the text. `change` is called again if another process has changed the text after it was read. */
  change<T>(change: (text: string | undefined) => Promise<{ readonly text: string; readonly result: T }>): Promise<T>;
}

export interface AttemptLimit {
  /** Number of attempts that are allowed in immediate succession. */
  readonly burst: number;
  /** Milliseconds after which one more attempt is allowed. */
  readonly everyMs: number;
}

/** Limits attempts by key: a client's address, or a user's name. */
export interface AuthAttempts {
  /** Counts an attempt and returns 0 if it is allowed; otherwise returns the milliseconds to wait. */
  take(key: string): number | Promise<number>;
  /** Cancels the count of one attempt, after a successful sign-in. */
  giveBack(key: string): void | Promise<void>;
  /** Removes the counts of a key after a successful sign-in. */
  clear(key: string): void | Promise<void>;
}

/** Times between two requests for the tokens of one device code (RFC 8628 section 3.5), in milliseconds. */
export interface PollRule {
  readonly intervalMs: number;
  /** Time that is added to the interval of a device that sends its requests too soon. */
  readonly longerMs: number;
  readonly maxMs: number;
  /** Tolerance, because the time between two requests varies in the network. */
  readonly toleranceMs: number;
}

export const POLL_RULE: PollRule = { intervalMs: 5000, longerMs: 5000, maxMs: 60_000, toleranceMs: 1000 };

/** Times at which devices requested the tokens of their pending codes. */
export interface AuthPolls {
  /** Records a request for a pending code. Returns true if it came too soon; the interval is then longer. */
  isTooSoon(deviceCode: string): boolean | Promise<boolean>;
}

/** State of the authorization server. Hubs with the same state are one authorization server. */
export interface AuthState {
  readonly users: AuthText;
  readonly keys: AuthText;
  readonly clients: AuthTable;
  readonly polls: AuthPolls;
  /**
   * Binds the store to the key of this process, so that processes with another key are refused. The first write of a
   * user or client also binds it. Resolves to true if the store had no key before. Rejects with an `OptionError` if it
   * has another one. Absent if the state is on the disk of this hub.
   */
  bindKey?(): Promise<boolean>;
  records(model: string): AuthRecords;
  attempts(name: string, limit: AttemptLimit): AuthAttempts;
}

/** Maximum number of registered clients; further registrations are refused. */
export const MAX_CLIENTS = 1000;
