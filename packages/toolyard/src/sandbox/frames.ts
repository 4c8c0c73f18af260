import { parseExact, stringifyExact } from "../core/json/exact-json.ts";

/** One message between hub and sandbox child: a JSON head, and the bytes that belong to it, concatenated. */
export interface Frame {
  readonly head: unknown;
  readonly body: Uint8Array;
}

/** Thrown for received bytes that are no frame. The reader then ends the process that sent them. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

const PREFIX_BYTES = 8;

/** Encodes a frame: the lengths of head and body as 32-bit numbers, the head as JSON, the body. */
export function encodeFrame(head: object, blobs: readonly Uint8Array[] = []): Buffer {
  const json = Buffer.from(stringifyExact(head));
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  prefix.writeUInt32BE(json.length, 0);
  prefix.writeUInt32BE(
    blobs.reduce((sum, { byteLength }) => sum + byteLength, 0),
    4,
  );
  return Buffer.concat([prefix, json, ...blobs]);
}

/** Reassembles frames from the pieces that a pipe delivers. Holds at most `maxBytes`. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #held = 0;
  #wanted = PREFIX_BYTES;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Yields each complete frame, so that frames before invalid bytes are still delivered. Throws a `FrameError` for a
   * length above the limit and for a head that is not JSON.
   */
  *push(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= this.#wanted) {
      const buffer = this.#join();
      const headBytes = buffer.readUInt32BE(0);
      const total = PREFIX_BYTES + headBytes + buffer.readUInt32BE(4);
      if (total > this.#maxBytes)
        throw new FrameError(`A frame of ${total} bytes is announced; at most ${this.#maxBytes} are taken.`);
      this.#wanted = total;
      if (buffer.length < total) break;
      this.#chunks = [buffer.subarray(total)];
      this.#held = buffer.length - total;
      this.#wanted = PREFIX_BYTES;
      yield {
        head: parseHead(buffer.subarray(PREFIX_BYTES, PREFIX_BYTES + headBytes)),
        body: buffer.subarray(PREFIX_BYTES + headBytes, total),
      };
    }
  }

  // Joins the pieces only when a frame may be complete, because joining at each piece would copy a large frame many
  // times.
  #join(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }
}

function parseHead(bytes: Buffer): unknown {
  try {
    return parseExact(bytes.toString("utf8"));
  } catch {
    throw new FrameError("The head of a frame is not JSON.");
  }
}
