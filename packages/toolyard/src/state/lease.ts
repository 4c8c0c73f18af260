import { LEASE_MS, type HubState } from "./ports/store.ts";

/** Interval of renewals: two may be lost before the lease expires. */
const RENEW_EVERY_MS = LEASE_MS / 3;

/** Keeps a hub's lease until the returned function is called; that ends what the hub holds. */
export function keepLease(state: HubState): () => Promise<void> {
  const timer = setInterval(() => state.renew(), RENEW_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return state.leave();
  };
}
