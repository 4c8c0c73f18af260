import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeWhole } from "../../../files/write-whole.ts";

/** Number of bytes of a key: a SHA-256 digest. */
const KEY_BYTES = 32;
const MAGIC = Buffer.from("TYV1");
const HEADER_BYTES = MAGIC.length + 4;
/** Maximum size of the file; a larger file is created again. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** Vectors by the key of their text, in hexadecimal. */
export type Vectors = Map<string, Float32Array>;

/**
 * Vectors on disk: a header with their length, then key and numbers of each vector, little-endian. New vectors are
 * appended. A record at the end that a crash truncated is ignored. An unreadable file counts as empty.
 */
export class VectorFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads the file. If `isWhole` is false, vectors must not be appended and the file must be created again. */
  async load(): Promise<{ readonly vectors: Vectors; readonly isWhole: boolean }> {
    try {
      return parse(await readFile(this.#path));
    } catch {
      return { vectors: new Map(), isWhole: false };
    }
  }

  /** Appends vectors, or creates the file if `isNew`. Rejects on a disk error. */
  async append(vectors: Vectors, isNew: boolean): Promise<void> {
    if (!isNew) return appendFile(this.#path, records(vectors));
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await writeWhole(this.#path, Buffer.concat([head(vectors), records(vectors)]), { isSynced: false });
  }
}

function head(vectors: Vectors): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(vectors.values().next().value?.length ?? 0);
  return Buffer.concat([MAGIC, length]);
}

function records(vectors: Vectors): Buffer {
  return Buffer.concat(
    Array.from(vectors, ([key, vector]) => [
      Buffer.from(key, "hex"),
      Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
    ]).flat(),
  );
}

function parse(file: Buffer): { readonly vectors: Vectors; readonly isWhole: boolean } {
  const vectors: Vectors = new Map();
  if (file.length > MAX_FILE_BYTES || file.length < HEADER_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC))
    return { vectors, isWhole: false };
  const length = file.readUInt32LE(MAGIC.length);
  const size = KEY_BYTES + 4 * length;
  const count = length === 0 ? 0 : Math.floor((file.length - HEADER_BYTES) / size);
  for (let record = 0; record < count; record += 1) {
    const at = HEADER_BYTES + record * size;
    const key = file.toString("hex", at, at + KEY_BYTES);
    // The bytes are copied, because a Float32Array must be aligned to four bytes.
    vectors.set(
      key,
      new Float32Array(file.buffer.slice(file.byteOffset + at + KEY_BYTES, file.byteOffset + at + size)),
    );
  }
  return { vectors, isWhole: count > 0 && HEADER_BYTES + count * size === file.length };
}
