import { randomFillSync } from "node:crypto";

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
  return /[^0]/.test(text) ? text : randomHex(bytes);
}

export function newTraceId(): string {
  return randomHex(16);
}

export function newSpanId(): string {
  return randomHex(8);
}
