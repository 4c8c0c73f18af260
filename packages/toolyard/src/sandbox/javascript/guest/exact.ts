/** JSON functions of the sandbox that keep integers beyond 2^53 as a `bigint`. */
export interface GuestExact {
  /** Parses JSON in which the host has marked integers beyond 2^53. */
  parse(json: string): unknown;
  /** Returns a string that represents an integer in JSON until `unmark`; an integer above the limit stays a string. */
  mark(integer: bigint): string;
  unmark(json: string): string;
}

/**
 * Its source text is evaluated inside the sandbox. The interpreter has neither source text in `JSON.parse` nor
 * `JSON.rawJSON`, so long integers pass through both functions as strings that begin with `start`. Code that learns
 * `start` can turn its own strings into integers, which harms that code only.
 */
export function guestExact(start: string): GuestExact {
  const { parse } = JSON;
  /** Maximum number of digits that the hub accepts in an integer. */
  const MAX_DIGITS = 4300;
  const marked = new RegExp(`"${start}(-?\\d+)"`, "g");
  const toInteger = (_key: string, value: unknown): unknown =>
    typeof value === "string" && value.startsWith(start) ? BigInt(value.slice(start.length)) : value;
  return {
    parse: (json) => (json.includes(start) ? parse(json, toInteger) : parse(json)) as unknown,
    mark: (integer) => {
      const digits = `${integer}`;
      return digits.length > MAX_DIGITS ? digits : `${start}${digits}`;
    },
    unmark: (json) => (json.includes(start) ? json.replace(marked, "$1") : json),
  };
}
