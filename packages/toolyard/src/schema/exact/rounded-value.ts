import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { setMember } from "./set-member.ts";

/**
 * A copy of a value for Ajv, with the nearest double instead of each `bigint`, and the exact integers by their place.
 * Ajv checks types and structure on the copy; the keywords of `exact-keywords.ts` compare the exact integers.
 */
export class RoundedValue {
  readonly value: unknown;
  readonly #root: unknown;
  /** Exact integers of each object and array of the copy, by member name or index. */
  readonly #integers = new Map<object, Map<string, bigint>>();

  constructor(value: unknown) {
    this.#root = value;
    this.value = typeof value === "bigint" ? nearestDouble(value) : this.#copy(value);
  }

  /** Returns the exact form of `data`, which Ajv reads as a member of `parent`. */
  exact(data: unknown, parent: unknown, name: string | number): unknown {
    if (typeof data === "object" && data !== null) return this.#restored(data);
    if (typeof data !== "number") return data;
    // For the root, Ajv passes no object as the parent.
    if (typeof parent !== "object" || parent === null) return typeof this.#root === "bigint" ? this.#root : data;
    return this.#integers.get(parent)?.get(String(name)) ?? data;
  }

  /** Returns the copy itself with the exact integers, and with the defaults that Ajv added. */
  restore(): unknown {
    if (typeof this.#root === "bigint") return this.#root;
    for (const [container, members] of this.#integers)
      for (const [name, integer] of members) setMember(container, name, integer);
    return this.value;
  }

  #copy(value: unknown): unknown {
    if (Array.isArray(value)) return this.#fill([], value.entries());
    if (!isJsonObject(value)) return value;
    return this.#fill({}, Object.entries(value));
  }

  #fill(copy: object, members: Iterable<readonly [string | number, unknown]>): object {
    for (const [name, member] of members) {
      if (typeof member === "bigint") this.#note(copy, String(name), member);
      setMember(copy, String(name), typeof member === "bigint" ? nearestDouble(member) : this.#copy(member));
    }
    return copy;
  }

  #note(container: object, name: string, integer: bigint): void {
    const members = this.#integers.get(container) ?? new Map<string, bigint>();
    members.set(name, integer);
    this.#integers.set(container, members);
  }

  #restored(container: object): unknown {
    const restoredMember = (name: string, member: unknown): unknown =>
      typeof member === "object" && member !== null ? this.#restored(member) : this.exact(member, container, name);
    if (Array.isArray(container)) return container.map((item, at) => restoredMember(String(at), item));
    const copy: JsonObject = {};
    for (const [name, member] of Object.entries(container)) setMember(copy, name, restoredMember(name, member));
    return copy;
  }
}

/** Returns a finite number, since Ajv does not accept Infinity as a number. */
function nearestDouble(integer: bigint): number {
  return Math.min(Math.max(Number(integer), -Number.MAX_VALUE), Number.MAX_VALUE);
}
