/**
 * Maximum depth at which values are walked: no valid message is deeper, and writing deeper values would exhaust the
 * stack.
 */
export const MAX_JSON_DEPTH = 1000;

/**
 * Returns the approximate size of a value as JSON, in bytes, without writing it. Escapes are not counted, so the result
 * is slightly too low for text with many line breaks. Stops counting above `bound`. Returns `Infinity` if the value is
 * nested deeper than `MAX_JSON_DEPTH`.
 */
export function jsonSize(value: unknown, bound = Infinity): number {
  return sizeOf(value, bound, 0);
}

function sizeOf(value: unknown, bound: number, depth: number): number {
  switch (typeof value) {
    case "string":
      return Buffer.byteLength(value) + 2;
    case "number":
      return Number.isInteger(value) && value > -1000 && value < 1000 ? 3 : String(value).length;
    case "boolean":
      return 5;
    case "bigint":
      return String(value).length;
    case "object":
      break;
    default:
      return 0;
  }
  if (value === null) return 4;
  if (depth >= MAX_JSON_DEPTH) return Infinity;
  return Array.isArray(value)
    ? sizeOfArray(value, bound, depth)
    : sizeOfObject(value as Record<string, unknown>, bound, depth);
}

function sizeOfArray(items: readonly unknown[], bound: number, depth: number): number {
  let size = 2;
  for (const item of items) {
    size += sizeOf(item, bound - size, depth + 1) + 1;
    if (size > bound) return size;
  }
  return size;
}

function sizeOfObject(object: Readonly<Record<string, unknown>>, bound: number, depth: number): number {
  let size = 2;
  for (const key in object) {
    const member = object[key];
    if (member === undefined) continue;
    size += key.length + 4 + sizeOf(member, bound - size, depth + 1);
    if (size > bound) return size;
  }
  return size;
}
