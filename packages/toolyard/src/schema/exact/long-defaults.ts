import type { JsonObject } from "../../core/json/json.ts";
import { setMember } from "./set-member.ts";

/**
 * The integers beyond 2^53 in the defaults of a schema. Ajv fills in the nearest double, which this class replaces.
 */
export class LongDefaults {
  /** Exact integers, by the name of the member and the nearest double. */
  readonly #integers = new Map<string, bigint>();

  constructor(schema: JsonObject) {
    this.#visit("", schema);
  }

  /**
   * Restores the exact integers in the members that `filled` has and `given`, the value before defaults were filled in,
   * lacks.
   */
  restore(filled: unknown, given: unknown): void {
    if (typeof filled !== "object" || filled === null) return;
    for (const [name, member] of Object.entries(filled)) {
      const before = memberOf(given, name);
      const integer = before === undefined ? this.#integers.get(keyOf(name, member)) : undefined;
      if (integer === undefined) this.restore(member, before);
      else setMember(filled, name, integer);
    }
  }

  #visit(name: string, schema: unknown): void {
    if (typeof schema !== "object" || schema === null) return;
    if (Object.hasOwn(schema, "default")) this.#collect(name, (schema as JsonObject)["default"]);
    for (const [key, member] of Object.entries(schema)) this.#visit(key, member);
  }

  #collect(name: string, preset: unknown): void {
    if (typeof preset === "bigint") this.#integers.set(keyOf(name, Number(preset)), preset);
    if (typeof preset !== "object" || preset === null) return;
    for (const [key, member] of Object.entries(preset)) this.#collect(key, member);
  }
}

function keyOf(name: string, double: unknown): string {
  return typeof double === "number" ? `${double}:${name}` : "";
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as JsonObject)[name]
    : undefined;
}
