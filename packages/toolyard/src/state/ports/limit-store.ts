/** What one key may do. 0 switches a bound off. */
export interface LimitBounds {
  /** Calls a minute on average; as many may come at once after a quiet minute. */
  readonly perMinute: number;
  /** Calls that may run at the same time. */
  readonly inFlight: number;
}

export type Admission =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly reason: "rate" | "in-flight" | "full"; readonly retryAfterMs: number };

/**
 * Counts the calls of clients over all hubs of a store. An admitted call must `leave` with the same key, whatever
 * becomes of it; those of a hub whose lease is over count no longer, and its `leave` then changes nothing. Answers may
 * come at once (memory) or later (a store outside of this process).
 */
export interface LimitStore {
  admit(key: string, bounds: LimitBounds): Admission | Promise<Admission>;
  /** Never throws. */
  leave(key: string): void;
}
