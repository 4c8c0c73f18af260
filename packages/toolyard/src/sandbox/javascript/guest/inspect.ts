/* oxlint-disable max-lines-per-function -- Runs inside the sandbox by its own text, so all of it is one function. */
export interface GuestInspect {
  inspect(value: unknown): string;
  /** Returns type, message and stack of a thrown value as JSON. */
  describe(thrown: unknown): string;
  /** Marks a proxy, so that formatting it does not call it. */
  brand(proxy: object, label: string): void;
  labelOf(value: object): string | undefined;
}

/** Formats values as text and as JSON. */
export interface GuestValues extends GuestInspect {
  /** Serializes a value; integers beyond 2^53 are exact. */
  toJson(value: unknown, indent?: number): string | undefined;
  /** Parses JSON from the host, in which integers beyond 2^53 are marked. */
  parseJson(json: string): unknown;
}

/**
 * Runs inside the sandbox: its text is evaluated there, so it may use only its arguments and the language. Formats
 * values as text. It copies the language features that it needs before any untrusted code runs; later code can only
 * harm itself.
 */
export function guestInspect(): GuestInspect {
  const { stringify } = JSON;
  const { isArray } = Array;
  const { keys, getPrototypeOf, prototype: objectPrototype } = Object;
  const { isView } = ArrayBuffer;
  const MAX_ITEMS = 100;
  const MAX_DEPTH = 4;
  const WIDTH = 76;
  const brands = new WeakMap<object, string>();

  function inspect(value: unknown, depth: number, around: readonly unknown[]): string {
    if (typeof value === "string") return depth === 0 ? value : stringify(value);
    if (typeof value === "function") return brands.get(value) ?? inspectFunction(value);
    if (typeof value !== "object" || value === null) return inspectPrimitive(value);
    if (around.includes(value)) return "[Circular]";
    const words = wordsOf(value);
    if (words !== undefined) return words;
    if (depth > MAX_DEPTH) return isArray(value) ? "[Array]" : "[Object]";
    return inspectMembers(value, depth, [...around, value]);
  }

  function inspectPrimitive(value: unknown): string {
    if (typeof value === "bigint") return `${value}n`;
    return Object.is(value, -0) ? "-0" : String(value);
  }

  function inspectFunction(value: { readonly name: string }): string {
    const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? "class" : "Function";
    return `[${kind}: ${value.name || "(anonymous)"}]`;
  }

  /** Returns the text of a value that is formatted without its members; undefined for other values. */
  function wordsOf(value: object): string | undefined {
    if (value instanceof Error) {
      const hasOwnStack = value.stack && String(value.stack).includes(value.message);
      return hasOwnStack ? `${value.name}: ${value.message}` : String(value);
    }
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (value instanceof RegExp) return String(value);
    return value instanceof Promise ? "Promise { … }" : undefined;
  }

  function inspectMembers(value: object, depth: number, around: readonly unknown[]): string {
    const show = (member: unknown): string => inspect(member, depth + 1, around);
    const list = (items: readonly unknown[]): string[] => {
      const shown = items.slice(0, MAX_ITEMS).map(show);
      return items.length > MAX_ITEMS ? [...shown, `… ${items.length - MAX_ITEMS} more`] : shown;
    };
    if (isArray(value)) return wrap("[", list(value), depth);
    if (value instanceof Set) return wrap(`Set(${value.size}) {`, list([...value]), depth);
    if (value instanceof Map) {
      const rows = [...value]
        .slice(0, MAX_ITEMS)
        .map(([key, member]) => `${inspect(key, depth + 1, around)} => ${show(member)}`);
      return wrap(`Map(${value.size}) {`, rows, depth);
    }
    const name = nameOf(value);
    if (value instanceof ArrayBuffer) return `ArrayBuffer(${value.byteLength})`;
    if (isView(value) && !(value instanceof DataView)) {
      const items = value as unknown as ArrayLike<unknown>;
      const first = Array.from({ length: Math.min(items.length, MAX_ITEMS) }, (_, at) => items[at]);
      return wrap(`${name}(${items.length}) [`, list(first), depth);
    }
    const members = keys(value)
      .slice(0, MAX_ITEMS)
      .map((key) => `${/^[\w$]+$/.test(key) ? key : stringify(key)}: ${show((value as Record<string, unknown>)[key])}`);
    return wrap(name === "" ? "{" : `${name} {`, members, depth);
  }

  function nameOf(value: object): string {
    const prototype = getPrototypeOf(value) as { readonly constructor?: { readonly name?: unknown } } | null;
    if (prototype === objectPrototype) return "";
    if (prototype === null) return "[Object: null prototype]";
    return typeof prototype.constructor?.name === "string" ? prototype.constructor.name : "";
  }

  /** Puts members into brackets. The closing bracket matches the last character of `open`. */
  function wrap(open: string, members: readonly string[], depth: number): string {
    const close = open[open.length - 1] === "[" ? "]" : "}";
    if (members.length === 0) return `${open}${close}`;
    const line = `${open} ${members.join(", ")} ${close}`;
    if (line.length <= WIDTH && !line.includes("\n")) return line;
    const pad = "  ".repeat(depth);
    return `${open}\n${members.map((member) => `${pad}  ${member}`).join(",\n")}\n${pad}${close}`;
  }

  function describe(thrown: unknown): string {
    try {
      if (!(thrown instanceof Error))
        return stringify({ type: "Error", message: `Uncaught ${inspect(thrown, 1, [])}`, stack: "" });
      return stringify({
        type: String(thrown.name),
        message: String(thrown.message),
        stack: String(thrown.stack ?? ""),
      });
    } catch {
      return '{"type":"Error","message":"The thrown value cannot be shown.","stack":""}';
    }
  }

  return {
    inspect: (value) => inspect(value, 0, []),
    describe,
    brand: (proxy, label) => void brands.set(proxy, label),
    labelOf: (value) => brands.get(value),
  };
}
