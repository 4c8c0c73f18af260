import { stringifyExact } from "../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { localTarget } from "./local-target.ts";

/**
 * Characters that a schema's defaults add to an empty value. Defaults are filled recursively, so a few of them with
 * references to two others each can add gigabytes.
 */
export class FillSizes {
  readonly #root: JsonObject;
  readonly #known = new Map<JsonObject, number>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** Infinite where defaults go round in a circle. */
  of(schema: unknown): number {
    if (!isJsonObject(schema)) return 0;
    const before = this.#known.get(schema);
    if (before !== undefined) return before;
    // Met again before its own size is known, it is inside of itself.
    this.#known.set(schema, Infinity);
    const { $ref: reference, allOf, properties, items, prefixItems } = schema;
    let size = 0;
    if (typeof reference === "string") size += this.of(localTarget(reference, this.#root));
    // Under `anyOf` and its like nothing is filled in.
    if (Array.isArray(allOf)) for (const part of allOf) size += this.of(part);
    for (const members of [properties, Array.isArray(items) ? items : undefined, prefixItems])
      size += this.#ofMembers(members);
    this.#known.set(schema, size);
    return size;
  }

  #ofMembers(members: unknown): number {
    if (typeof members !== "object" || members === null) return 0;
    let size = 0;
    for (const [name, member] of Object.entries(members)) {
      if (!isJsonObject(member) || member["default"] === undefined) continue;
      const preset = member["default"];
      size += name.length + (stringifyExact(preset) ?? "").length;
      if (typeof preset === "object" && preset !== null) size += this.of(member);
    }
    return size;
  }
}
