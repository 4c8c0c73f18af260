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
 * Counts the calls of clients. An admitted call must `leave` with the same key, whatever becomes of it. Answers may
 * come at once (memory) or later (a store shared by several hubs).
 */
export interface LimitStore {
  admit(key: string, bounds: LimitBounds): Admission | Promise<Admission>;
  leave(key: string): void;
  close(): Promise<void>;
}
