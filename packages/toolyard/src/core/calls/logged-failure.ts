import type { Fail } from "./outcome.ts";

const told = new WeakSet<Fail>();

/** Marks a failure as logged; code that passes it on does not log it again. */
export function markTold(failure: Fail): void {
  told.add(failure);
}

export function isTold(failure: Fail): boolean {
  return told.has(failure);
}
