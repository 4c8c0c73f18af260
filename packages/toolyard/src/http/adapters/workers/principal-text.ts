import type { Principal } from "../../../core/calls/call.ts";

/** Principals that are kept at once, each as one object, since what is known of its rights hangs on that. */
const MAX_KEPT = 1000;

const texts = new WeakMap<Principal, string>();

/** A principal as it travels, whole. */
export function writePrincipal(principal: Principal): string {
  let text = texts.get(principal);
  if (text === undefined) texts.set(principal, (text = JSON.stringify(principal)));
  return text;
}

/** Reads what `writePrincipal` wrote; the same text gives the same object. */
export class PrincipalReader {
  readonly #kept = new Map<string, Principal>();

  read(text: string): Principal {
    let principal = this.#kept.get(text);
    if (!principal) {
      principal = JSON.parse(text) as Principal;
      if (this.#kept.size >= MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
      this.#kept.set(text, principal);
    }
    return principal;
  }
}
