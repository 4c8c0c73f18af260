/**
 * Types of messages between the primary and a worker. They use a separate pipe with binary frames, so that bodies and
 * answers are not encoded as JSON again. A frame is `u32 length · u8 type · u32 exchange · u32 headLength · head (JSON)
 * · body (bytes)`; the length counts the bytes after it. `exchange` is a number that the worker gives a request; 0 if
 * there is none.
 */
export const FRAME = {
  // Messages of the primary.
  /** Settings. Head: `WorkerSettings`. */
  settings: 1,
  /** Whole answer. Head: `AnswerHead`. */
  answer: 2,
  /** Start of an answer in pieces. Head: `AnswerHead`. */
  begin: 3,
  /** Piece of the answer. */
  piece: 4,
  /** End of the answer. */
  end: 5,
  /** Closes the connection of the request. */
  cut: 6,
  /** Refuses new requests, waits for running ones, and exits. */
  close: 7,
  /** Principal of a caller, as the answer to a `who`; `exchange` is that of the `who`. Head: `Authentication`. */
  principal: 8,
  /** Key pair for new connections. Head: `KeyPair`. */
  certificate: 9,
  // Messages of a worker.
  /** The worker accepts connections from now on. */
  ready: 20,
  /** A connection that the primary passed has arrived. */
  opened: 21,
  /** A connection of the worker was closed. */
  closed: 22,
  /** Request. Head: `RequestHead`. */
  request: 23,
  /** The caller disconnected before the answer. */
  gone: 24,
  /** The client has read a piece. Head: its number of bytes; 0 if only a part of a piece was read. */
  taken: 25,
  /** Log line. Head: `LogHead`. */
  log: 26,
  /**
   * Request for the principal of a caller; `exchange` is the number of this question. Head: the received
   * `Authorization`, empty if there is none.
   */
  who: 27,
} as const;

export interface WorkerFrame {
  readonly type: number;
  readonly exchange: number;
  /** JSON text of the head. Empty if the frame has none. */
  readonly head: string;
  /** Body of the frame. It is valid until the next frames are read; copy it to keep it. */
  readonly body: Buffer;
}

const PREFIX_BYTES = 4;
const FIXED_BYTES = 9;

export interface OutgoingFrame {
  readonly type: number;
  readonly exchange: number;
  readonly head: string;
  readonly body: string | Uint8Array;
}

/**
 * Encodes frames into one buffer, so that many small frames are written together. `reservedBytes`: number of bytes to
 * leave free at its start.
 */
export function encodeFrames(frames: readonly OutgoingFrame[], reservedBytes = 0): Buffer {
  const sizes = frames.map(
    ({ head, body }) =>
      [Buffer.byteLength(head), typeof body === "string" ? Buffer.byteLength(body) : body.length] as const,
  );
  const bytes = Buffer.allocUnsafe(
    sizes.reduce((sum, [head, body]) => sum + PREFIX_BYTES + FIXED_BYTES + head + body, reservedBytes),
  );
  let at = reservedBytes;
  for (const [index, { type, exchange, head, body }] of frames.entries()) {
    const [headLength, bodyLength] = sizes[index]!;
    at = bytes.writeUInt32LE(FIXED_BYTES + headLength + bodyLength, at);
    at = bytes.writeUInt8(type, at);
    at = bytes.writeUInt32LE(exchange, at);
    at = bytes.writeUInt32LE(headLength, at);
    at += bytes.write(head, at, "utf8");
    if (typeof body === "string") bytes.write(body, at, "utf8");
    else bytes.set(body, at);
    at += bodyLength;
  }
  return bytes;
}

/** Decodes frames from arriving bytes. The other end is this program, so its lengths are trusted. */
export class FrameDecoder {
  #waiting: Buffer[] = [];
  #held = 0;
  /** Number of bytes that must have arrived before decoding continues. */
  #wanted = PREFIX_BYTES;

  *decode(chunk: Buffer): Generator<WorkerFrame> {
    this.#waiting.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#wanted) return;
    const bytes = this.#waiting.length === 1 ? chunk : Buffer.concat(this.#waiting, this.#held);
    let at = 0;
    this.#wanted = PREFIX_BYTES;
    while (bytes.length - at >= PREFIX_BYTES) {
      const end = at + PREFIX_BYTES + bytes.readUInt32LE(at);
      if (end > bytes.length) {
        this.#wanted = end - at;
        break;
      }
      yield readFrame(bytes, at + PREFIX_BYTES, end);
      at = end;
    }
    this.#held = bytes.length - at;
    this.#waiting = this.#held > 0 ? [bytes.subarray(at)] : [];
  }
}

function readFrame(bytes: Buffer, start: number, end: number): WorkerFrame {
  const headStart = start + FIXED_BYTES;
  const bodyStart = headStart + bytes.readUInt32LE(start + 5);
  return {
    type: bytes.readUInt8(start),
    exchange: bytes.readUInt32LE(start + 1),
    head: headStart === bodyStart ? "" : bytes.toString("utf8", headStart, bodyStart),
    body: bytes.subarray(bodyStart, end),
  };
}
