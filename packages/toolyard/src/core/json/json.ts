/** A JSON object whose members have not been looked at yet. Members are never changed in place once shared. */
export type JsonObject = { [key: string]: unknown };

/** Tells an object from arrays, null and scalars. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a member that must be a string to count; anything else is absent. */
export function stringMember(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" ? value : undefined;
}

/** Reads a member that must be an object to count; anything else is absent. */
export function objectMember(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isJsonObject(value) ? value : undefined;
}

/** Reads a member that must be a list to count; anything else is an empty one. */
export function listMember(object: JsonObject, key: string): readonly unknown[] {
  const value = object[key];
  return Array.isArray(value) ? value : [];
}

/**
 * `{ ...object }`, for whoever adds members to it: behind a spread, V8 makes a new hidden class for each object, which
 * takes ten times as long.
 */
export function copyOf(object: JsonObject): JsonObject {
  // Assigned, the member `__proto__` would become what the object inherits.
  if (Object.hasOwn(object, "__proto__")) return { ...object };
  const copy: JsonObject = {};
  for (const name in object) copy[name] = object[name];
  return copy;
}

/** `{ ...object, [name]: value }`. */
export function withMember(object: JsonObject, name: string, value: unknown): JsonObject {
  const copy = copyOf(object);
  copy[name] = value;
  return copy;
}
