import type { Fail } from "./outcome.ts";

const logged = new WeakSet<Fail>();

/** Marks a failure as logged; code that passes it on does not log it again. */
export function markLogged(failure: Fail): void {
  logged.add(failure);
}

export function isLogged(failure: Fail): boolean {
  return logged.has(failure);
}
