/**
 * Which hub holds which parked call. A call itself is live and stays where it is; whoever is asked for it elsewhere
 * learns where that is. An entry is there as long as its hub's lease. Writing never throws.
 */
export interface ParkedDirectory {
  /** This hub holds the call of that id. */
  put(id: string): void;
  /** Id of the hub that holds it. */
  find(id: string): string | undefined | Promise<string | undefined>;
  remove(id: string): void;
}
