import { LEASE_MS, type HubState } from "./ports/store.ts";

/** Milliseconds between two renewals. Two renewals may fail before the lease expires. */
const RENEW_EVERY_MS = LEASE_MS / 3;

/** Renews a hub's lease until the returned function is called, which releases everything that the hub holds. */
export function keepLease(state: HubState): () => Promise<void> {
  const timer = setInterval(() => state.renew(), RENEW_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return state.leave();
  };
}
