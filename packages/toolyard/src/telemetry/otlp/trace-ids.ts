import { randomFillSync } from "node:crypto";

/** Bytes of a trace id before its last 32 bits. */
const TRACE_START_BYTES = 12;
const SPAN_BYTES = 8;
const POOL = Buffer.allocUnsafeSlow(8192);
let used = POOL.length;

/** Returns random lower-case hexadecimal digits, not all zero. Random bytes are created in blocks to save time. */
function randomHex(bytes: number): string {
  if (used + bytes > POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  const text = POOL.toString("hex", used, used + bytes);
  used += bytes;
  // An id must not be zero (W3C Trace Context). The first digits decide, so that ids are slightly less than random.
  return text.startsWith("00000000") ? randomHex(bytes) : text;
}

/**
 * Returns a random number of 32 bits, for the decision of the sampler and the end of the trace id. It protects nothing,
 * so the fast generator is sufficient.
 */
export function randomWord(): number {
  return Math.floor(Math.random() * 2 ** 32);
}

/** Returns a trace id that ends with `word`, its last 32 bits. */
export function newTraceId(word: number): string {
  return randomHex(TRACE_START_BYTES) + word.toString(16).padStart(8, "0");
}

export function newSpanId(): string {
  return randomHex(SPAN_BYTES);
}
