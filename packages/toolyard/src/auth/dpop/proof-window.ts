/** Maximum difference between a proof's time of issue and the clock of the hub. The library `oidc-provider` has the same. */
export const PROOF_WINDOW_MS = 5 * 60_000;
