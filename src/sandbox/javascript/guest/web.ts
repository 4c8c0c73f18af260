/* oxlint-disable max-lines-per-function, complexity -- Its own text runs inside, so it is one function. */
import type { GuestHost } from "./host.ts";

/** Runs inside the sandbox. What browsers and Node have beside the language, and models reach for. */
export function guestWeb(host: GuestHost): Readonly<Record<string, unknown>> {
  const { isView } = ArrayBuffer;
  const MAX_RANDOM_BYTES = 65_536;

  function view(data: unknown): Uint8Array {
    if (data === undefined) return new Uint8Array(0);
    if (isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    throw new TypeError("Bytes are needed: an ArrayBuffer or a typed array.");
  }

  class TextEncoder {
    readonly encoding = "utf-8";
    encode(text: unknown = ""): Uint8Array {
      return host("encode", String(text)) as Uint8Array;
    }
  }

  class TextDecoder {
    readonly encoding: string;
    readonly fatal: boolean;
    constructor(encoding: unknown = "utf-8", options: { readonly fatal?: boolean } = {}) {
      this.encoding = String(encoding).toLowerCase();
      this.fatal = options.fatal === true;
    }
    decode(data?: unknown): string {
      return host("decode", `${this.encoding}\n${this.fatal ? 1 : 0}`, view(data)) as string;
    }
  }

  function structuredClone(value: unknown): unknown {
    const copies = new Map<unknown, unknown>();
    const copy = (given: unknown): unknown => {
      if (typeof given === "function" || typeof given === "symbol")
        throw new TypeError(`A ${typeof given} cannot be cloned.`);
      if (typeof given !== "object" || given === null) return given;
      if (copies.has(given)) return copies.get(given);
      const keep = <T>(made: T): T => (copies.set(given, made), made);
      if (given instanceof Date) return keep(new Date(given));
      if (given instanceof RegExp) return keep(new RegExp(given.source, given.flags));
      if (given instanceof ArrayBuffer) return keep(given.slice(0));
      if (isView(given)) return keep((given as Uint8Array).slice());
      if (given instanceof Error)
        return keep(Object.assign(new Error(given.message), { name: given.name, stack: given.stack }));
      if (given instanceof Map) {
        const made = keep(new Map<unknown, unknown>());
        for (const [key, member] of given) made.set(copy(key), copy(member));
        return made;
      }
      if (given instanceof Set) {
        const made = keep(new Set<unknown>());
        for (const member of given) made.add(copy(member));
        return made;
      }
      const made = keep<Record<string, unknown>>((Array.isArray(given) ? [] : {}) as Record<string, unknown>);
      for (const [key, member] of Object.entries(given))
        Object.defineProperty(made, key, { value: copy(member), writable: true, enumerable: true, configurable: true });
      return made;
    };
    return copy(value);
  }

  const crypto = Object.freeze({
    randomUUID: () => host("uuid") as string,
    getRandomValues: <T>(array: T): T => {
      const bytes = view(array);
      if (bytes.length > MAX_RANDOM_BYTES)
        throw new RangeError(`At most ${MAX_RANDOM_BYTES} random bytes at once; got ${bytes.length}.`);
      bytes.set(host("random", `${bytes.length}`) as Uint8Array);
      return array;
    },
  });

  return { TextEncoder, TextDecoder, structuredClone, crypto };
}
