/**
 * Maps parked calls to their hubs. A parked call itself stays in its process; another hub finds out where it is. An
 * entry lasts as long as its hub's lease. Writing never throws.
 */
export interface ParkedDirectory {
  /** This hub holds the call of that id. */
  put(id: string): void;
  /** Id of the hub that holds it. */
  find(id: string): string | undefined | Promise<string | undefined>;
  remove(id: string): void;
}
