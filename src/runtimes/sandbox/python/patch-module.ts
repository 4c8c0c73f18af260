import { OptionError } from "../../../core/errors.ts";

const PAGE_BYTES = 65_536;
const MAX_PAGES = 65_536;
const HEADER_BYTES = 8;
const CUSTOM = 0;
const MEMORY = 5;
const MAGIC = 0x6d736100;

interface Section {
  readonly id: number;
  /** From the section's id to its end. */
  readonly whole: Uint8Array;
  /** What follows id and length. */
  readonly content: Uint8Array;
}

/**
 * A module with a maximum for its memory, and without its custom sections: debugging data of no use to us, which in this case is half
 * of the file.
 */
export function patchModule(bytes: Uint8Array, memoryBytes: number): Uint8Array {
  if (bytes.length < HEADER_BYTES || new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) !== MAGIC) {
    throw new OptionError("The Python interpreter that the configuration names is no WebAssembly module. Name a CPython built for WASI preview1.");
  }
  const parts: Uint8Array[] = [bytes.subarray(0, HEADER_BYTES)];
  for (const section of sectionsOf(bytes)) {
    if (section.id === CUSTOM) continue;
    parts.push(section.id === MEMORY ? limitedMemory(section.content, memoryBytes) : section.whole);
  }
  return Buffer.concat(parts);
}

function* sectionsOf(bytes: Uint8Array): Generator<Section> {
  let at = HEADER_BYTES;
  while (at < bytes.length) {
    const length = readLeb(bytes, at + 1);
    const end = length.next + length.value;
    yield { id: bytes[at]!, whole: bytes.subarray(at, end), content: bytes.subarray(length.next, end) };
    at = end;
  }
}

function limitedMemory(content: Uint8Array, memoryBytes: number): Uint8Array {
  // One memory: count, flags (bit 0: has a maximum), initial pages.
  const initial = readLeb(content, 2).value;
  const pages = Math.min(Math.floor(memoryBytes / PAGE_BYTES), MAX_PAGES);
  if (pages < initial) {
    throw new OptionError(`Python needs at least ${(initial * PAGE_BYTES) / 1_048_576} MB of memory, got ${memoryBytes} bytes. Raise the memory limit.`);
  }
  const limits = Uint8Array.from([1, 1, ...toLeb(initial), ...toLeb(pages)]);
  return Uint8Array.from([MEMORY, ...toLeb(limits.length), ...limits]);
}

function readLeb(bytes: Uint8Array, from: number): { value: number; next: number } {
  let value = 0;
  for (let at = from, shift = 0; at < bytes.length && shift < 35; at += 1, shift += 7) {
    value += (bytes[at]! & 0x7f) * 2 ** shift;
    if (bytes[at]! < 0x80) return { value, next: at + 1 };
  }
  throw new OptionError("The Python interpreter's file is damaged: a length in it has no end. Install it again.");
}

function toLeb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}
