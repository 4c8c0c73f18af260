import { LEASE_MS } from "../ports/store.ts";

/** Hub of a store. Its counts apply while it is alive. */
export interface HubMember {
  readonly hub: string;
  /** Time of the last renewal, on the clock of `performance.now()`. */
  seenAt: number;
  hasLeft: boolean;
}

export function createMember(hub: string): HubMember {
  return { hub, seenAt: performance.now(), hasLeft: false };
}

export function isAlive({ hasLeft, seenAt }: HubMember, now: number): boolean {
  return !hasLeft && now - seenAt < LEASE_MS;
}
