/**
 * What the primary and a worker say to each other, on a pipe of their own: binary frames, so that neither bodies nor
 * answers are written as JSON once more. A frame is `u32 length · u8 type · u32 exchange · u32 headLength · head (JSON)
 * · body (bytes)`; the length counts what follows it. `exchange` is a number that the worker gives a request; 0 where
 * there is none.
 */
export const FRAME = {
  // From the primary.
  /** Head: `WorkerSettings`. */
  settings: 1,
  /** The whole answer. Head: `AnswerHead`. */
  answer: 2,
  /** An answer begins that comes in pieces. Head: `AnswerHead`. */
  begin: 3,
  /** A piece of it. */
  piece: 4,
  /** It is whole. */
  end: 5,
  /** The connection is cut. */
  cut: 6,
  /** Serve no further request, end the others, and go. */
  close: 7,
  /** Who a caller is, which the worker asked; `exchange` is its question's. Head: `Authentication`. */
  principal: 8,
  /** What connections are encrypted with from now on. Head: `KeyPair`. */
  certificate: 9,
  // From a worker.
  /** It serves from now on. */
  ready: 20,
  /** A connection that it was given has arrived. */
  opened: 21,
  /** One of its connections is closed. */
  closed: 22,
  /** Head: `RequestHead`. */
  request: 23,
  /** The caller has gone before it was answered. */
  gone: 24,
  /** The client took a piece. Head: how many bytes; 0 for a part of a piece. */
  taken: 25,
  /** A line for the log. Head: `LogHead`. */
  log: 26,
  /** Who brings this? `exchange` is a number of its own. Head: the `Authorization` that came, empty for none. */
  who: 27,
} as const;

export interface WorkerFrame {
  readonly type: number;
  readonly exchange: number;
  /** JSON text; empty where there is none. */
  readonly head: string;
  /** Valid until the frames after it are read; whoever keeps it copies it. */
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

/** Frames as one buffer: many small ones leave in one write. */
export function encodeFrames(frames: readonly OutgoingFrame[]): Buffer {
  const sizes = frames.map(
    ({ head, body }) =>
      [Buffer.byteLength(head), typeof body === "string" ? Buffer.byteLength(body) : body.length] as const,
  );
  const bytes = Buffer.allocUnsafe(
    sizes.reduce((sum, [head, body]) => sum + PREFIX_BYTES + FIXED_BYTES + head + body, 0),
  );
  let at = 0;
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

/** Finds the frames in what arrives. The other end is this program, so lengths are believed. */
export class FrameDecoder {
  #waiting: Buffer[] = [];
  #held = 0;
  /** Bytes that the next look is worth. */
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
