import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from "node:crypto";
import { encodeFrames, type OutgoingFrame } from "../../adapters/workers/frames.ts";

const LENGTH_BYTES = 4;
/** Number of bytes of a record's code: the first half of an HMAC with SHA-256 (RFC 2104 section 5). */
const CODE_BYTES = 16;
const PREFIX_BYTES = LENGTH_BYTES + CODE_BYTES;
const COUNT_BITS = 2 ** 32;

/** Maximum number of bytes of a record. A longer one is refused. */
export const MAX_RECORD_BYTES = 1024 * 1024;

/**
 * Error: the length or the code of a record is invalid. A program without the key sent it, or a record was altered,
 * repeated or left out. The connection must be closed.
 */
export class RecordError extends Error {
  override readonly name = "RecordError";
}

/**
 * Computes the codes of the records in one direction. A code depends on the number of its record, so that each record
 * is valid once.
 */
class RecordCode {
  readonly #key: KeyObject;
  #count = 0;

  constructor(key: Buffer) {
    this.#key = createSecretKey(key);
  }

  /** Returns the code of the next record. Overwrites the bytes of the record that are reserved for the code. */
  next(record: Buffer): Buffer {
    this.#count += 1;
    record.fill(0, LENGTH_BYTES, PREFIX_BYTES);
    record.writeUInt32LE(this.#count % COUNT_BITS, LENGTH_BYTES);
    record.writeUInt32LE(Math.floor(this.#count / COUNT_BITS), LENGTH_BYTES + 4);
    const code = createHmac("sha256", this.#key).update(record.subarray(LENGTH_BYTES)).digest();
    return code.subarray(0, CODE_BYTES);
  }
}

/** Writes records: `u32 length · code · frames`. The length counts the bytes after it. */
export class RecordWriter {
  readonly #code: RecordCode;

  constructor(key: Buffer) {
    this.#code = new RecordCode(key);
  }

  write(frames: readonly OutgoingFrame[]): Buffer {
    const record = encodeFrames(frames, PREFIX_BYTES);
    this.#code.next(record).copy(record, LENGTH_BYTES);
    record.writeUInt32LE(record.length - LENGTH_BYTES, 0);
    return record;
  }
}

/** Splits received bytes into records, and verifies their codes. */
export class RecordReader {
  readonly #code: RecordCode;
  #maxBytes: number;
  #waiting: Buffer[] = [];
  #held = 0;
  /** Number of bytes that are needed before the next attempt. */
  #needed = PREFIX_BYTES;

  /** `maxFirstBytes`: maximum number of bytes of the first record, which proves that the sender has the key. */
  constructor(key: Buffer, maxFirstBytes = MAX_RECORD_BYTES) {
    this.#code = new RecordCode(key);
    this.#maxBytes = maxFirstBytes;
  }

  /** Yields the encoded frames of each complete record. Throws a `RecordError`. */
  *read(chunk: Buffer): Generator<Buffer> {
    this.#waiting.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#needed) return;
    const bytes = this.#waiting.length === 1 ? chunk : Buffer.concat(this.#waiting, this.#held);
    let at = 0;
    this.#needed = PREFIX_BYTES;
    while (bytes.length - at >= PREFIX_BYTES) {
      const length = LENGTH_BYTES + bytes.readUInt32LE(at);
      if (length < PREFIX_BYTES || length > this.#maxBytes) throw new RecordError(`A record has ${length} bytes.`);
      if (at + length > bytes.length) {
        this.#needed = length;
        break;
      }
      yield this.#verified(bytes.subarray(at, at + length));
      at += length;
    }
    this.#held = bytes.length - at;
    this.#waiting = this.#held > 0 ? [bytes.subarray(at)] : [];
  }

  #verified(record: Buffer): Buffer {
    const given = Buffer.from(record.subarray(LENGTH_BYTES, PREFIX_BYTES));
    if (!timingSafeEqual(given, this.#code.next(record))) throw new RecordError("A record has a wrong code.");
    this.#maxBytes = MAX_RECORD_BYTES;
    return record.subarray(PREFIX_BYTES);
  }
}
