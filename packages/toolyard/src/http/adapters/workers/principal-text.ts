import type { Principal } from "../../../core/calls/call.ts";

/** Maximum number of cached principals. Each is one object, because data about its rights is cached by the object. */
const MAX_KEPT = 1000;

const texts = new WeakMap<Principal, string>();

/** Serialises a principal. */
export function writePrincipal(principal: Principal): string {
  let text = texts.get(principal);
  if (text === undefined) texts.set(principal, (text = JSON.stringify(principal)));
  return text;
}

/**
 * Returns true if two principals are equal. Requests that another hub or worker passed have another object than those
 * that arrived here.
 */
export function isSamePrincipal(one: Principal, other: Principal): boolean {
  return one === other || writePrincipal(one) === writePrincipal(other);
}

/** Reads the result of `writePrincipal`. The same text gives the same object. */
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
