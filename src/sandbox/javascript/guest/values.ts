/* oxlint-disable max-lines-per-function, complexity, max-params -- Its own text runs inside, so it is one function. */
/**
 * Runs inside the sandbox: its text is evaluated there, so it may use nothing but its arguments and the language. Turns
 * values into JSON text and into words. What it needs of the language is taken before any foreign code runs; that code
 * can harm itself only.
 */
export interface GuestValues {
  toJson(value: unknown): string | undefined;
  inspect(value: unknown): string;
  /** JSON of type, message and stack of whatever was thrown. */
  describe(thrown: unknown): string;
  /** Marks a proxy, so that showing it does not call it. */
  brand(proxy: object, label: string): void;
}

export function guestValues(): GuestValues {
  const { stringify } = JSON;
  const { isArray } = Array;
  const { isSafeInteger } = Number;
  const { keys, getPrototypeOf, prototype: objectPrototype } = Object;
  const { isView } = ArrayBuffer;
  const MAX_ITEMS = 100;
  const MAX_DEPTH = 4;
  const MAX_NESTING = 2000;
  const WIDTH = 76;
  const brands = new WeakMap<object, string>();

  function plain(value: unknown): unknown {
    if (typeof value === "bigint") return isSafeInteger(Number(value)) ? Number(value) : `${value}`;
    if (typeof value === "function") return `[function ${brands.get(value) ?? (value.name || "anonymous")}]`;
    if (typeof value === "symbol") return String(value);
    if (typeof value !== "object" || value === null) return value;
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

  function toJson(value: unknown): string | undefined {
    // The objects around the one being written: as they are, and as what they were turned into.
    const around: { readonly given: unknown; readonly seen: unknown }[] = [];
    return stringify(value, function (this: unknown, _key: string, given: unknown): unknown {
      while (around.length > 0 && around[around.length - 1]!.seen !== this) around.length -= 1;
      const seen = plain(given);
      if (typeof seen !== "object" || seen === null) return seen;
      // Each level is looked at for each value: what nobody can read in the end is not written at all.
      if (around.length > MAX_NESTING) throw new RangeError(`The value is nested deeper than ${MAX_NESTING} levels.`);
      for (const outer of around) if (outer.given === given) return "[Circular]";
      around[around.length] = { given, seen };
      return seen;
    });
  }

  function inspect(value: unknown, depth = 0, around: readonly unknown[] = []): string {
    if (typeof value === "string") return depth === 0 ? value : stringify(value);
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "function")
      return (
        brands.get(value) ??
        `[${/^class\b/.test(Function.prototype.toString.call(value)) ? "class" : "Function"}: ` +
          `${value.name || "(anonymous)"}]`
      );
    if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
    if (around.includes(value)) return "[Circular]";
    if (value instanceof Error)
      return String(value.stack ?? "").includes(value.message) && value.stack
        ? `${value.name}: ${value.message}`
        : String(value);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (value instanceof Promise) return "Promise { … }";
    if (depth > MAX_DEPTH) return isArray(value) ? "[Array]" : "[Object]";
    return inspectMembers(value, depth, [...around, value]);
  }

  function inspectMembers(value: object, depth: number, around: readonly unknown[]): string {
    const show = (member: unknown): string => inspect(member, depth + 1, around);
    const list = (items: readonly unknown[]): string[] => {
      const shown = items.slice(0, MAX_ITEMS).map(show);
      return items.length > MAX_ITEMS ? [...shown, `… ${items.length - MAX_ITEMS} more`] : shown;
    };
    if (isArray(value)) return wrap("", "[", list(value), "]", depth);
    if (value instanceof Set) return wrap(`Set(${value.size}) `, "{", list([...value]), "}", depth);
    if (value instanceof Map) {
      const rows = [...value]
        .slice(0, MAX_ITEMS)
        .map(([key, member]) => `${inspect(key, depth + 1, around)} => ${show(member)}`);
      return wrap(`Map(${value.size}) `, "{", rows, "}", depth);
    }
    const name = nameOf(value);
    if (value instanceof ArrayBuffer) return `ArrayBuffer(${value.byteLength})`;
    if (isView(value) && !(value instanceof DataView)) {
      const items = value as unknown as ArrayLike<unknown>;
      return wrap(
        `${name}(${items.length}) `,
        "[",
        list(Array.from({ length: Math.min(items.length, MAX_ITEMS) }, (_, at) => items[at])),
        "]",
        depth,
      );
    }
    const members = keys(value)
      .slice(0, MAX_ITEMS)
      .map((key) => `${/^[\w$]+$/.test(key) ? key : stringify(key)}: ${show((value as Record<string, unknown>)[key])}`);
    return wrap(name === "" ? "" : `${name} `, "{", members, "}", depth);
  }

  function nameOf(value: object): string {
    const prototype = getPrototypeOf(value) as { readonly constructor?: { readonly name?: unknown } } | null;
    if (prototype === objectPrototype) return "";
    if (prototype === null) return "[Object: null prototype]";
    return typeof prototype.constructor?.name === "string" ? prototype.constructor.name : "";
  }

  function wrap(prefix: string, open: string, members: readonly string[], close: string, depth: number): string {
    if (members.length === 0) return `${prefix}${open}${close}`;
    const line = `${prefix}${open} ${members.join(", ")} ${close}`;
    if (line.length <= WIDTH && !line.includes("\n")) return line;
    const pad = "  ".repeat(depth);
    return `${prefix}${open}\n${members.map((member) => `${pad}  ${member}`).join(",\n")}\n${pad}${close}`;
  }

  function describe(thrown: unknown): string {
    try {
      if (!(thrown instanceof Error))
        return stringify({ type: "Error", message: `Uncaught ${inspect(thrown, 1)}`, stack: "" });
      return stringify({
        type: String(thrown.name),
        message: String(thrown.message),
        stack: String(thrown.stack ?? ""),
      });
    } catch {
      return '{"type":"Error","message":"What was thrown cannot be shown.","stack":""}';
    }
  }

  return {
    toJson,
    inspect: (value) => inspect(value),
    describe,
    brand: (proxy, label) => void brands.set(proxy, label),
  };
}
