import { LEASE_MS } from "../ports/store.ts";

/** One hub of a store. What it holds counts for as long as it lives. */
export interface Member {
  readonly hub: string;
  /** When it was heard of last, as `performance.now()` says it. */
  seenAt: number;
  hasLeft: boolean;
}

export function createMember(hub: string): Member {
  return { hub, seenAt: performance.now(), hasLeft: false };
}

export function isAlive({ hasLeft, seenAt }: Member, now: number): boolean {
  return !hasLeft && now - seenAt < LEASE_MS;
}
