/** JSON object whose members have not been checked. Members are never changed after the object is shared. */
export type JsonObject = { [key: string]: unknown };

/** Returns true for an object, and false for arrays, null and scalars. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a member if it is a string, otherwise `undefined`. */
export function stringMember(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" ? value : undefined;
}

/** Returns a member if it is an object, otherwise `undefined`. */
export function objectMember(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isJsonObject(value) ? value : undefined;
}

/** Returns a member if it is a list, otherwise an empty list. */
export function listMember(object: JsonObject, key: string): readonly unknown[] {
  const value = object[key];
  return Array.isArray(value) ? value : [];
}

/**
 * Returns `{ ...object }` as an object to which members can be added fast: after a spread, V8 creates a new hidden
 * class for each object, which takes ten times as long.
 */
export function copyOf(object: JsonObject): JsonObject {
  // Assigning to the member `__proto__` would set the prototype, so such an object is copied with a spread.
  if (Object.hasOwn(object, "__proto__")) return { ...object };
  const copy: JsonObject = {};
  for (const name in object) copy[name] = object[name];
  return copy;
}

/** Returns `{ ...object, [name]: value }`. */
export function withMember(object: JsonObject, name: string, value: unknown): JsonObject {
  const copy = copyOf(object);
  copy[name] = value;
  return copy;
}
