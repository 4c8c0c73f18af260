import type { JsonObject } from "./json.ts";

const texts = new WeakMap<object, string>();

/**
 * Remembers the JSON text that `value` was parsed from. Such a value is read only: whoever changes something makes a
 * new one.
 */
export function keepJsonText(value: object, text: string): void {
  texts.set(value, text);
}

/** `JSON.stringify(object)`, in which members whose text is known are written as they came, and not made anew. */
export function stringifyMembers(object: JsonObject): string {
  if (!hasKnownText(object)) return JSON.stringify(object);
  let json = "";
  for (const [name, member] of Object.entries(object)) {
    const text = (isObject(member) && texts.get(member)) || JSON.stringify(member);
    if (text !== undefined) json += `${json === "" ? "" : ","}${JSON.stringify(name)}:${text}`;
  }
  return `{${json}}`;
}

function hasKnownText(object: JsonObject): boolean {
  for (const name in object) {
    const member = object[name];
    if (isObject(member) && texts.has(member)) return true;
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
