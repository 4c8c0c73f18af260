import type { HubState } from "./ports/store.ts";

/** Number of renewals in the time of a lease. Two may fail before the lease expires. */
const RENEWALS_PER_LEASE = 3;

/** Renews a hub's lease until the returned function is called, which releases everything that the hub holds. */
export function keepLease(state: HubState): () => Promise<void> {
  const timer = setInterval(() => state.renew(), state.leaseMs / RENEWALS_PER_LEASE);
  timer.unref();
  return () => {
    clearInterval(timer);
    return state.leave();
  };
}
