/** Limits of one key. 0 disables a limit. */
export interface LimitBounds {
  /** Average calls per minute; as many may run immediately after a quiet minute. */
  readonly perMinute: number;
  /** Calls that may run at the same time. */
  readonly inFlight: number;
}

export type Admission =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly reason: "rate" | "in-flight" | "full"; readonly retryAfterMs: number };

/**
 * Counts the calls of clients on all hubs of a store. An admitted call must `leave` with the same key in any case.
 * Calls of a hub with an expired lease no longer count, and its `leave` has no effect. Results are immediate (memory)
 * or asynchronous (external store).
 */
export interface LimitStore {
  admit(key: string, bounds: LimitBounds): Admission | Promise<Admission>;
  /** Never throws. */
  leave(key: string): void;
}
