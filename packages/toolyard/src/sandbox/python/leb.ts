import { OptionError } from "../../core/errors.ts";

/** Reads an integer in WebAssembly's encoding (LEB128): seven bits per byte, the lowest first. */
export function readLeb(bytes: Uint8Array, from: number): { value: number; next: number } {
  let value = 0;
  for (let at = from, shift = 0; at < bytes.length && shift < 35; at += 1, shift += 7) {
    value += (bytes[at]! & 0x7f) * 2 ** shift;
    if (bytes[at]! < 0x80) return { value, next: at + 1 };
  }
  throw new OptionError("The Python interpreter's file is damaged: a length in it has no end. Install it again.");
}

export function toLeb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}
