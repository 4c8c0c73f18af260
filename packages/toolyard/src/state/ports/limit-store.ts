import type { JsonObject } from "../../core/json/json.ts";

/** Limits of one key. 0 disables a limit. */
export interface LimitBounds {
  /** Average number of calls per minute. After a quiet minute, as many may run immediately. */
  readonly perMinute: number;
  /** Maximum number of concurrent calls. */
  readonly inFlight: number;
  /** True if all calls of the key arrive at this hub, so that no other hub needs to know them. @default false */
  readonly isOwn?: boolean;
}

export type Admission =
  | { readonly admitted: true }
  | {
      readonly admitted: false;
      readonly reason: "rate" | "in-flight" | "full" | "store";
      readonly retryAfterMs: number;
    };

/**
 * Counts the calls of clients on all hubs of a store. After every admitted call, `leave` must be called with the same
 * key. Calls of a hub with an expired lease do not count, and its `leave` has no effect. Results are immediate (memory)
 * or asynchronous (external store).
 */
export interface LimitStore {
  /** Counts a call if the limits of `key` permit it. `meta`: `_meta` of the call, with its trace context. */
  admit(key: string, bounds: LimitBounds, meta?: JsonObject): Admission | Promise<Admission>;
  /** Ends an admitted call. Never throws. */
  leave(key: string): void;
}
