/** Maximum difference between a proof's time of issue and the clock of the hub, as in the library `oidc-provider`. */
export const PROOF_WINDOW_MS = 5 * 60_000;
