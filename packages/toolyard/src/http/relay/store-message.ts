import { createHmac, timingSafeEqual } from "node:crypto";

/** Message between two hubs through the store. */
export interface StoreMessage {
  /** Id of the sending hub. */
  readonly from: string;
  /**
   * Number of the message among the messages of one request in one direction, by which a missing message is detected.
   */
  readonly number: number;
  readonly frames: Buffer;
  /** Encoded message. */
  readonly bytes: Buffer;
}

const NUMBER_BYTES = 4;
const CODE_BYTES = 16;

/**
 * Returns a message in the form `u8 length · sender · u32 number · code · frames`. `key`: key of the request to which
 * the message belongs. Absent for a message that contains the request itself, because that is sealed.
 */
export function writeStoreMessage(
  { from, number, frames }: Omit<StoreMessage, "bytes">,
  key: Uint8Array | undefined,
): Buffer {
  const sender = Buffer.from(from);
  const bytes = Buffer.alloc(1 + sender.length + NUMBER_BYTES + CODE_BYTES + frames.length);
  const codeStart = 1 + sender.length + NUMBER_BYTES;
  bytes.writeUInt8(sender.length, 0);
  bytes.set(sender, 1);
  bytes.writeUInt32LE(number, 1 + sender.length);
  bytes.set(frames, codeStart + CODE_BYTES);
  if (key) bytes.set(codeOf(bytes, codeStart, key), codeStart);
  return bytes;
}

/** Returns the parts of a message. Returns `undefined` if it is too short to have them. */
export function readStoreMessage(bytes: Buffer): StoreMessage | undefined {
  const senderEnd = 1 + (bytes[0] ?? 0);
  const framesStart = senderEnd + NUMBER_BYTES + CODE_BYTES;
  if (bytes.length < framesStart) return undefined;
  const from = bytes.toString("utf8", 1, senderEnd);
  return { from, number: bytes.readUInt32LE(senderEnd), frames: bytes.subarray(framesStart), bytes };
}

/** Returns true if the code of a message was computed with the key of its request. */
export function hasCode({ bytes }: StoreMessage, key: Uint8Array): boolean {
  const codeStart = 1 + bytes[0]! + NUMBER_BYTES;
  const given = bytes.subarray(codeStart, codeStart + CODE_BYTES);
  return timingSafeEqual(given, codeOf(bytes, codeStart, key));
}

/** Computes the code of a message from all its bytes except those of the code. */
function codeOf(bytes: Buffer, codeStart: number, key: Uint8Array): Buffer {
  const hmac = createHmac("sha256", key).update(bytes.subarray(0, codeStart));
  return hmac
    .update(bytes.subarray(codeStart + CODE_BYTES))
    .digest()
    .subarray(0, CODE_BYTES);
}
