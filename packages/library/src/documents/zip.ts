import { inflateRawSync } from "node:zlib";
import { DocumentError } from "./document-error.ts";

export interface ZipBounds {
  /** Maximum number of files. @default 10,000 */
  readonly maxEntries?: number;
  /** Maximum total size of the unpacked files, in bytes. @default 524,288,000 */
  readonly maxBytes?: number;
}

interface ZipEntry {
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  readonly isLocked: boolean;
}

const END = 0x06_05_4b_50;
const END_LENGTH = 22;
/** Maximum length of the comment after the end record, in bytes. */
const MAX_REMARK = 65_535;
const CENTRAL = 0x02_01_4b_50;
const CENTRAL_LENGTH = 46;
const LOCAL = 0x04_03_4b_50;
const LOCAL_LENGTH = 30;
/** Marks a number that the ZIP64 record holds, for files above 4 GB. */
const ELSEWHERE = 0xff_ff_ff_ff;
const STORED = 0;
const DEFLATED = 8;

/**
 * Reads the files of a ZIP archive, such as EPUB and DOCX. Limits are checked against the directory, and again while
 * unpacking, because a directory may be forged.
 */
export class ZipArchive {
  readonly #bytes: Buffer;
  readonly #entries = new Map<string, ZipEntry>();
  readonly #maxBytes: number;
  #unpacked = 0;

  /** Throws a `DocumentError` if the bytes are not an archive or exceed the limits. */
  constructor(bytes: Uint8Array, { maxEntries = 10_000, maxBytes = 524_288_000 }: ZipBounds = {}) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#maxBytes = maxBytes;
    try {
      this.#readList(maxEntries);
    } catch (error) {
      throw error instanceof RangeError ? damaged() : error;
    }
    const whole = Array.from(this.#entries.values()).reduce((sum, { size }) => sum + size, 0);
    if (whole > maxBytes) throw this.#tooLarge();
  }

  get names(): readonly string[] {
    return Array.from(this.#entries.keys());
  }

  /** Returns the content of a file, or undefined if the archive has no file of this name. Throws a `DocumentError`. */
  read(name: string): Buffer | undefined {
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    if (entry.isLocked)
      throw new DocumentError(
        "VALIDATION_ERROR",
        "It is protected by a password. Remove the password.",
        "password_required",
      );
    const room = this.#maxBytes - this.#unpacked;
    const content = unpack(this.#packed(entry), entry, Math.min(room, entry.size));
    this.#unpacked += content.length;
    return content;
  }

  #readList(maxEntries: number): void {
    const end = this.#endOfList();
    const count = this.#bytes.readUInt16LE(end + 10);
    let at = this.#bytes.readUInt32LE(end + 16);
    if (at === ELSEWHERE || count > maxEntries)
      throw new DocumentError("TOO_LARGE", `It holds more than ${maxEntries} files, or more than 4 GB.`);
    for (let taken = 0; taken < count; taken += 1) {
      if (this.#bytes.readUInt32LE(at) !== CENTRAL) throw damaged();
      const [name, extra, remark] = [28, 30, 32].map((place) => this.#bytes.readUInt16LE(at + place));
      const start = at + CENTRAL_LENGTH;
      this.#entries.set(this.#bytes.toString("utf8", start, start + name!), {
        isLocked: (this.#bytes.readUInt16LE(at + 8) & 1) === 1,
        method: this.#bytes.readUInt16LE(at + 10),
        packed: this.#bytes.readUInt32LE(at + 20),
        size: this.#bytes.readUInt32LE(at + 24),
        offset: this.#bytes.readUInt32LE(at + 42),
      });
      at = start + name! + extra! + remark!;
    }
  }

  #endOfList(): number {
    const last = this.#bytes.length - END_LENGTH;
    for (let at = last; at >= Math.max(0, last - MAX_REMARK); at -= 1)
      if (this.#bytes.readUInt32LE(at) === END) return at;
    throw damaged();
  }

  #packed({ offset, packed }: ZipEntry): Buffer {
    if (offset + LOCAL_LENGTH > this.#bytes.length || this.#bytes.readUInt32LE(offset) !== LOCAL) throw damaged();
    const [name, extra] = [26, 28].map((place) => this.#bytes.readUInt16LE(offset + place));
    const start = offset + LOCAL_LENGTH + name! + extra!;
    if (start + packed > this.#bytes.length) throw damaged();
    return this.#bytes.subarray(start, start + packed);
  }

  #tooLarge(): DocumentError {
    return new DocumentError("TOO_LARGE", `Its unpacked content exceeds ${this.#maxBytes} bytes.`);
  }
}

function unpack(packed: Buffer, { method }: ZipEntry, most: number): Buffer {
  if (method === STORED && packed.length <= most) return packed;
  if (method !== DEFLATED) throw damaged();
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(most, 1) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw new DocumentError("TOO_LARGE", "A file in it is larger than its directory declares.");
    throw damaged();
  }
}

function damaged(): DocumentError {
  return new DocumentError("VALIDATION_ERROR", "It is damaged: its directory cannot be read.", "damaged");
}
