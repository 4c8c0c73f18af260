import type { Fail } from "./outcome.ts";

const told = new WeakSet<Fail>();

/** The log has heard of this failure by whoever found it; who passes it on has nothing to add. */
export function markTold(failure: Fail): void {
  told.add(failure);
}

export function isTold(failure: Fail): boolean {
  return told.has(failure);
}
