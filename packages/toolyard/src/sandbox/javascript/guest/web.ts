import type { GuestHost } from "./host.ts";

/**
 * Runs inside the sandbox. Adds functions of browsers and Node that are not part of the language and that models often
 * use.
 */
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

  const crypto = Object.freeze({
    randomUUID: () => host("uuid") as string,
    getRandomValues: <T>(array: T): T => {
      const bytes = view(array);
      if (bytes.length > MAX_RANDOM_BYTES)
        throw new RangeError(`At most ${MAX_RANDOM_BYTES} random bytes in one call; got ${bytes.length}.`);
      bytes.set(host("random", `${bytes.length}`) as Uint8Array);
      return array;
    },
  });

  return { TextEncoder, TextDecoder, crypto };
}
