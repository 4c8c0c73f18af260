import { stringifyExact } from "../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { localTarget } from "./local-target.ts";

/**
 * Counts the characters that a schema's defaults add to an empty value. Defaults are filled recursively: a few of them
 * that each refer to two others can add gigabytes.
 */
export class FillSizes {
  readonly #root: JsonObject;
  readonly #known = new Map<JsonObject, number>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** Returns the number of characters; Infinity if defaults refer to each other in a cycle. */
  of(schema: unknown): number {
    if (!isJsonObject(schema)) return 0;
    const before = this.#known.get(schema);
    if (before !== undefined) return before;
    // Until the size is known it counts as Infinity: if the schema is reached again, it contains itself.
    this.#known.set(schema, Infinity);
    const { $ref: reference, allOf, properties, items, prefixItems } = schema;
    let size = 0;
    if (typeof reference === "string") size += this.of(localTarget(reference, this.#root));
    // Only `allOf` is followed, because Ajv fills in no defaults under `anyOf` and similar keywords.
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
