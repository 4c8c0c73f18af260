import { OptionError } from "../../core/errors.ts";
import { readLeb, toLeb } from "./leb.ts";

const PAGE_BYTES = 65_536;
const MAX_PAGES = 65_536;
const HEADER_BYTES = 8;
const CUSTOM = 0;
const MEMORY = 5;
const MAGIC = 0x6d736100;

/** A section of a WebAssembly file. */
export interface Section {
  readonly id: number;
  /** Bytes from the section's id to its end. */
  readonly whole: Uint8Array;
  /** Content after the id and the length. */
  readonly content: Uint8Array;
}

/**
 * Returns a module with a maximum for its memory, and without its custom sections (the standard library, names for
 * debugging).
 */
export function patchModule(bytes: Uint8Array, memoryBytes: number): Uint8Array {
  if (bytes.length < HEADER_BYTES || new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) !== MAGIC) {
    throw new OptionError(
      "The Python interpreter that the configuration names is no WebAssembly module. " +
        "Name a CPython built for WASI preview1.",
    );
  }
  const sections = [...sectionsOf(bytes)].filter(({ id }) => id !== CUSTOM);
  const parts = sections.map(({ id, content, whole }) =>
    id === MEMORY ? toSection(MEMORY, limitedMemory(content, memoryBytes)) : whole,
  );
  return Buffer.concat([bytes.subarray(0, HEADER_BYTES), ...parts]);
}

/** Yields the sections of a WebAssembly file, in their order. */
export function* sectionsOf(bytes: Uint8Array): Generator<Section> {
  let at = HEADER_BYTES;
  while (at < bytes.length) {
    const length = readLeb(bytes, at + 1);
    const end = length.next + length.value;
    yield { id: bytes[at]!, whole: bytes.subarray(at, end), content: bytes.subarray(length.next, end) };
    at = end;
  }
}

function limitedMemory(content: Uint8Array, memoryBytes: number): Uint8Array {
  // Format for one memory: count, flags (bit 0: has a maximum), initial pages.
  const initial = readLeb(content, 2).value;
  const pages = Math.min(Math.floor(memoryBytes / PAGE_BYTES), MAX_PAGES);
  if (pages < initial) {
    throw new OptionError(
      `Python needs at least ${(initial * PAGE_BYTES) / 1_048_576} MB of memory, got ${memoryBytes} bytes. ` +
        "Raise the memory limit.",
    );
  }
  return Uint8Array.from([1, 1, ...toLeb(initial), ...toLeb(pages)]);
}

function toSection(id: number, content: Uint8Array): Uint8Array {
  return Uint8Array.from([id, ...toLeb(content.length), ...content]);
}
