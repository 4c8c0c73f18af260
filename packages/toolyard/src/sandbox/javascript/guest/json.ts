import type { GuestExact } from "./exact.ts";

/**
 * Runs inside the sandbox: its text is evaluated there, so it may use only its arguments and the language. Serializes
 * values as JSON. It copies the language features that it needs before any untrusted code runs; later code can only
 * harm itself.
 */
export function guestJson(
  labelOf: (value: object) => string | undefined,
  { mark, unmark }: GuestExact,
): (value: unknown, indent?: number) => string | undefined {
  const { stringify } = JSON;
  const { isView } = ArrayBuffer;
  const MAX_NESTING = 2000;

  function plain(value: unknown): unknown {
    if (typeof value === "bigint") return mark(value);
    if (typeof value === "function") return `[function ${labelOf(value) ?? (value.name || "anonymous")}]`;
    if (typeof value === "symbol") return String(value);
    return typeof value !== "object" || value === null ? value : plainObject(value);
  }

  function plainObject(value: object): unknown {
    if (value instanceof Map) return mapToPlain(value);
    if (value instanceof Set) return [...value];
    if (value instanceof Error) return Object.assign({ name: value.name, message: value.message }, value);
    if (value instanceof RegExp) return String(value);
    if (value instanceof ArrayBuffer) return [...new Uint8Array(value)];
    if (isView(value) && !(value instanceof DataView)) return [...(value as unknown as Iterable<unknown>)];
    return value;
  }

  function mapToPlain(map: ReadonlyMap<unknown, unknown>): unknown {
    const entries = [...map];
    return entries.every(([key]) => typeof key === "string")
      ? Object.fromEntries(entries as [string, unknown][])
      : entries;
  }

  return (value, indent) => {
    // The objects that contain the current value, each before and after its conversion with `toJSON`.
    const around: { readonly given: unknown; readonly seen: unknown }[] = [];
    const replace = function (this: unknown, _key: string, given: unknown): unknown {
      while (around.length > 0 && around[around.length - 1]!.seen !== this) around.length -= 1;
      const seen = plain(given);
      if (typeof seen !== "object" || seen === null) return seen;
      // Deeper nesting is rejected, because each value is compared with all objects that contain it.
      if (around.length > MAX_NESTING) throw new RangeError(`The value is nested deeper than ${MAX_NESTING} levels.`);
      for (const outer of around) if (outer.given === given) return "[Circular]";
      around[around.length] = { given, seen };
      return seen;
    };
    const json = stringify(value, replace, indent) as string | undefined;
    return json === undefined ? undefined : unmark(json);
  };
}
