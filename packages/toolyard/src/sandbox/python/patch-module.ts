import { OptionError } from "../../core/errors.ts";
import { readLeb, toLeb } from "./leb.ts";
import { hasRunString, withResumeExports } from "./resume-exports.ts";

const PAGE_BYTES = 65_536;
const MAX_PAGES = 65_536;
const HEADER_BYTES = 8;
const CUSTOM = 0;
const MEMORY = 5;
const EXPORT = 7;
const CODE = 10;
const MAGIC = 0x6d736100;

interface Section {
  readonly id: number;
  /** Bytes from the section's id to its end. */
  readonly whole: Uint8Array;
  /** Content after the id and the length. */
  readonly content: Uint8Array;
}

/**
 * Returns a module with a maximum for its memory, with the exports that snapshots need if it contains the functions,
 * and without its custom sections (debugging data, half of the file).
 */
export function patchModule(bytes: Uint8Array, memoryBytes: number): Uint8Array {
  if (bytes.length < HEADER_BYTES || new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) !== MAGIC) {
    throw new OptionError(
      "The Python interpreter that the configuration names is no WebAssembly module. " +
        "Name a CPython built for WASI preview1.",
    );
  }
  const sections = [...sectionsOf(bytes)].filter(({ id }) => id !== CUSTOM);
  const canResume = sections.some(({ id, content }) => id === CODE && hasRunString(content));
  const parts = sections.map(({ id, content, whole }) => {
    if (id === MEMORY) return toSection(MEMORY, limitedMemory(content, memoryBytes));
    return id === EXPORT && canResume ? toSection(EXPORT, withResumeExports(content)) : whole;
  });
  return Buffer.concat([bytes.subarray(0, HEADER_BYTES), ...parts]);
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
