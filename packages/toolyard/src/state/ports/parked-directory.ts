/** Holder of a parked call. */
export interface ParkedHolder {
  readonly hub: string;
  /** False if the lease of the hub has expired. The call then no longer exists. */
  readonly isAlive: boolean;
}

/**
 * Maps parked calls and streams to their hubs. The call itself stays in its process; other hubs can find out which hub
 * holds it. Writing never throws.
 */
export interface ParkedDirectory {
  /**
   * Records that this hub holds the call with this id. Returns a promise that resolves when other hubs can see it, or
   * the store is lost.
   */
  put(id: string): void | Promise<void>;
  /** Returns the holder of the call. Rejects with a `StoreLostError` if the store cannot answer. */
  find(id: string): ParkedHolder | undefined | Promise<ParkedHolder | undefined>;
  remove(id: string): void;
}
