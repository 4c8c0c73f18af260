import { randomFillSync } from "node:crypto";

/** Bytes of random data that are created together, to save time. */
const POOL = Buffer.allocUnsafeSlow(8192);
let used = POOL.length;

const DIGITS = Buffer.from("0123456789abcdef");
const ZERO = "0".charCodeAt(0);
/** Text of a sampled `traceparent`, into which the ids are written. */
const TEXT = Buffer.from(`00-${"0".repeat(32)}-${"0".repeat(16)}-01`);
const TRACE_AT = 3;
const SPAN_AT = 36;
const FLAGS_AT = 53;
const SPAN_BYTES = 8;
/** Bytes of a trace id before its last 32 bits. */
const TRACE_START_BYTES = 12;

/**
 * Returns a random number of 32 bits, for the decision of the sampler and the end of the trace id. It protects nothing,
 * so the fast generator is sufficient.
 */
export function randomWord(): number {
  return Math.floor(Math.random() * 2 ** 32);
}

/** Returns the `traceparent` of a new, sampled trace whose id ends with `word`, its last 32 bits. */
export function newTraceparent(word: number): string {
  writeRandom(TRACE_AT, TRACE_START_BYTES);
  for (let digit = 0; digit < 8; digit += 1)
    TEXT[TRACE_AT + 2 * TRACE_START_BYTES + digit] = DIGITS[(word >>> (28 - 4 * digit)) & 15]!;
  writeRandom(SPAN_AT, SPAN_BYTES);
  return TEXT.toString("latin1");
}

/** Returns the `traceparent` of a new, sampled span in the trace of another `traceparent`. */
export function childTraceparent(parent: string): string {
  writeRandom(SPAN_AT, SPAN_BYTES);
  return parent.slice(0, SPAN_AT) + TEXT.toString("latin1", SPAN_AT);
}

/** Returns the `traceparent` of a span in the same trace that is not sampled. */
export function unsampledTraceparent(sampled: string): string {
  return `${sampled.slice(0, FLAGS_AT)}00`;
}

/** Writes the digits of random bytes, not all zero, to a position of the text. */
function writeRandom(at: number, bytes: number): void {
  if (used + bytes > POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  for (let index = 0; index < bytes; index += 1) {
    const byte = POOL[used + index]!;
    TEXT[at + 2 * index] = DIGITS[byte >> 4]!;
    TEXT[at + 2 * index + 1] = DIGITS[byte & 15]!;
  }
  used += bytes;
  // An id must not be zero (W3C Trace Context). The first digits decide, so that ids are slightly less than random.
  if (isZero(at)) writeRandom(at, bytes);
}

function isZero(at: number): boolean {
  for (let index = 0; index < 8; index += 1) if (TEXT[at + index] !== ZERO) return false;
  return true;
}
