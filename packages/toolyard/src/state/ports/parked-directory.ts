/**
 * Maps parked calls to their hubs. A parked call itself stays in its process; other hubs can find out which hub holds
 * it. An entry lasts as long as its hub's lease. Writing never throws.
 */
export interface ParkedDirectory {
  /** Records that this hub holds the call with this id. */
  put(id: string): void;
  /** Returns the id of the hub that holds the call. */
  find(id: string): string | undefined | Promise<string | undefined>;
  remove(id: string): void;
}
