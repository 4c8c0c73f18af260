import { LEASE_MS } from "../ports/store.ts";

/** A hub of a store. Its counts apply while it is alive. */
export interface Member {
  readonly hub: string;
  /** Time of its last renewal, from `performance.now()`. */
  seenAt: number;
  hasLeft: boolean;
}

export function createMember(hub: string): Member {
  return { hub, seenAt: performance.now(), hasLeft: false };
}

export function isAlive({ hasLeft, seenAt }: Member, now: number): boolean {
  return !hasLeft && now - seenAt < LEASE_MS;
}
