import { firstChars } from "toolyard/text";

/** Maximum size of parsed data in a result, in bytes. Larger results omit parts and name them. */
export const MAX_PARSED_BYTES = 1024 * 1024;
/** Maximum number of numbers in a value of a result above the limit. */
const MAX_NUMBERS = 64;

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/** Parsed data within the limit, and the fields that were omitted. */
export interface BoundedData {
  readonly data: JsonObject;
  readonly omitted: readonly string[];
}

/**
 * Returns parsed data within `MAX_PARSED_BYTES`. Omits the sections first, because they repeat everything else, then
 * the numbers of large values, then the ends of long lists.
 */
export function boundedData(whole: object): BoundedData {
  const data = whole as JsonObject;
  const omitted: string[] = [];
  if (fits(data)) return { data, omitted };
  const models = (data["models"] as readonly JsonObject[]).map(withoutSections);
  omitted.push("sections");
  let bounded: JsonObject = { ...data, models };
  if (fits(bounded)) return { data: bounded, omitted };
  omitted.push(`entries of values with more than ${MAX_NUMBERS} numbers`);
  bounded = { ...data, models: models.map(withoutNumbers) };
  for (let most = 1024; !fits(bounded) && most >= 1; most /= 4) {
    if (most === 1024) omitted.push("ends of long lists and texts");
    bounded = shortened(bounded, most) as JsonObject;
  }
  return { data: bounded, omitted };
}

function withoutSections(model: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(model).filter(([key]) => key !== "sections"));
}

function fits(data: JsonObject): boolean {
  return Buffer.byteLength(JSON.stringify(data)) <= MAX_PARSED_BYTES;
}

function withoutNumbers(model: JsonObject): JsonObject {
  const values = Object.entries(model["values"] as JsonObject).map(([name, value]) => [name, withoutMany(value)]);
  return { ...model, values: Object.fromEntries(values) as JsonObject };
}

/** Returns the lengths of a large value instead of its numbers. */
function withoutMany(value: Json): Json {
  const numbers = countOf(value);
  if (numbers <= MAX_NUMBERS) return value;
  const shape: number[] = [];
  for (let at: Json | undefined = value; Array.isArray(at); at = at[0] as Json | undefined) shape.push(at.length);
  return { shape, omitted_numbers: numbers };
}

function countOf(value: Json): number {
  return Array.isArray(value) ? value.reduce((sum: number, one: Json) => sum + countOf(one), 0) : 1;
}

/** Returns a value with at most this many items in each list and object, and proportionally truncated texts. */
function shortened(value: Json, most: number): Json {
  if (typeof value === "string") return value.length > most * 16 ? `${firstChars(value, most * 16)}…` : value;
  if (Array.isArray(value)) return value.slice(0, most).map((one: Json) => shortened(one, most));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).slice(0, Math.max(most, 16));
  return Object.fromEntries(entries.map(([key, one]) => [key, shortened(one, most)]));
}
