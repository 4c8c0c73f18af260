/** Ids that may be used once on all hubs of a store. */
export interface OneTimeIds {
  /**
   * Resolves to true if no hub has used the id within `ttlMs`. If the store cannot be reached, resolves to true, or
   * rejects if the hub refuses calls while the store is lost.
   */
  claim(id: string, ttlMs: number): Promise<boolean>;
}
