import { isJsonObject, type JsonObject, listMember, objectMember } from "../core/json/json.ts";
import { localTarget } from "./local-target.ts";

const MAX_DEPTH = 4;
const MAX_MEMBERS = 12;

/**
 * Returns an example value for a schema: its own example or default if it has one, and only the required members of an
 * object.
 */
export function sampleOf(schema: unknown, root: JsonObject): unknown {
  return new ValueSampler(root).sample(schema, 0);
}

class ValueSampler {
  readonly #root: JsonObject;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  sample(schema: unknown, depth: number): unknown {
    const own = this.#resolve(schema);
    if (!own || depth > MAX_DEPTH) return "…";
    const given = givenSample(own);
    if (given) return given.value;
    const [branch] = ["anyOf", "oneOf", "allOf"].flatMap((key) => listMember(own, key));
    if (own["type"] === undefined && branch !== undefined) return this.sample(branch, depth + 1);
    return this.#ofType(Array.isArray(own["type"]) ? own["type"][0] : own["type"], own, depth);
  }

  #resolve(schema: unknown): JsonObject | undefined {
    if (!isJsonObject(schema)) return undefined;
    return typeof schema["$ref"] === "string" ? (localTarget(schema["$ref"], this.#root) ?? {}) : schema;
  }

  #ofType(type: unknown, schema: JsonObject, depth: number): unknown {
    const { minimum } = schema;
    const least = typeof minimum === "number" || typeof minimum === "bigint" ? minimum : 1;
    switch (type) {
      case "string":
        return "text";
      case "integer":
        return typeof least === "bigint" ? least : Math.ceil(least);
      case "number":
        return least;
      case "boolean":
        return true;
      case "null":
        return null;
      case "array":
        return schema["items"] === undefined ? [] : [this.sample(schema["items"], depth + 1)];
      default:
        return this.#object(schema, depth);
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const properties = objectMember(schema, "properties") ?? {};
    const required = listMember(schema, "required")
      .map(String)
      .filter((name) => Object.hasOwn(properties, name));
    return Object.fromEntries(
      required.slice(0, MAX_MEMBERS).map((name) => [name, this.sample(properties[name], depth + 1)]),
    );
  }
}

/** Returns a value that the schema itself contains: an example, a default or an allowed value. */
function givenSample(schema: JsonObject): { readonly value: unknown } | undefined {
  const [first] = [...listMember(schema, "examples").slice(0, 1), ...listMember(schema, "enum").slice(0, 1)].map(
    (value) => ({ value }),
  );
  if (first) return first;
  const key = ["default", "const", "example"].find((name) => schema[name] !== undefined);
  return key === undefined ? undefined : { value: schema[key] };
}
