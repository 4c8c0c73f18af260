import { stringifyExact } from "./exact-json.ts";
import { isJsonObject, type JsonObject } from "./json.ts";

const texts = new WeakMap<object, string>();

/**
 * Records the JSON text from which `value` was parsed, so that it need not be serialised again. The value must not be
 * changed afterwards.
 */
export function keepJsonText(value: object, text: string): void {
  texts.set(value, text);
}

/** Returns the text recorded for `value`, otherwise `stringifyExact(value)`. */
function stringifyKept(value: unknown): string {
  return (typeof value === "object" && value !== null && texts.get(value)) || stringifyExact(value);
}

/**
 * Returns the JSON text of a value that leaves the hub: the recorded text if there is one, otherwise text with exact
 * integers.
 */
export function stringifyValue(value: unknown): string {
  return isJsonObject(value) ? (texts.get(value) ?? stringifyMembers(value)) : stringifyKept(value ?? null);
}

/** Returns `stringifyExact(object)`, with the recorded text of those members that have one. */
export function stringifyMembers(object: JsonObject): string {
  if (!hasKnownText(object)) return stringifyExact(object);
  let json = "";
  for (const [name, member] of Object.entries(object)) {
    const text = stringifyKept(member) as string | undefined;
    if (text !== undefined) json += `${json === "" ? "" : ","}${JSON.stringify(name)}:${text}`;
  }
  return `{${json}}`;
}

function hasKnownText(object: JsonObject): boolean {
  for (const name in object) {
    const member = object[name];
    if (typeof member === "object" && member !== null && texts.has(member)) return true;
  }
  return false;
}
