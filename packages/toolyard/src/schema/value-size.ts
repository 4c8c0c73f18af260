/** Size of a value: the parts that a validation reads. */
export interface ValueSize {
  /** Number of objects, lists and values. */
  readonly items: number;
  /** Number of characters of texts and names. */
  readonly chars: number;
  /** True if one of the visited values is an integer beyond 2^53. */
  readonly hasBigInt: boolean;
  /**
   * True if one of the visited values is a number beyond the range of a double, such as `1e400`, which was parsed as
   * Infinity.
   */
  readonly hasInfinity: boolean;
}

/**
 * Measures a value; stops once there are more than `maxItems`. The result is valid until the next call, which returns
 * the same object.
 */
export function sizeOfValue(value: unknown, maxItems: number): ValueSize {
  size.items = 0;
  size.chars = 0;
  size.hasBigInt = false;
  size.hasInfinity = false;
  max = maxItems;
  look(value, 0);
  // Deeper values are put in a list, so that the stack does not overflow.
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) if (size.items <= max) open(next, 0);
  return size;
}

const size = { items: 0, chars: 0, hasBigInt: false, hasInfinity: false };
const waiting: object[] = [];
let max = 0;
/** Maximum depth of recursion, which is faster than a list. */
const MAX_RECURSION = 100;

function look(value: unknown, depth: number): void {
  size.items += 1;
  if (typeof value === "string") size.chars += value.length;
  else if (typeof value === "bigint") size.hasBigInt = true;
  else if (value === Infinity || value === -Infinity) size.hasInfinity = true;
  else if (typeof value === "object" && value !== null) {
    if (depth < MAX_RECURSION) open(value, depth + 1);
    else waiting.push(value);
  }
}

function open(value: object, depth: number): void {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && size.items <= max; index += 1) look(value[index], depth);
    return;
  }
  for (const key in value) {
    size.chars += key.length;
    look((value as Record<string, unknown>)[key], depth);
    if (size.items > max) return;
  }
}
