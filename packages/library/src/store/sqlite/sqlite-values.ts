/**
 * Copies bytes into a new buffer. The engines return views of buffers that they reuse, at offsets that are not aligned
 * for numbers.
 */
export function bytesIn(value: unknown): ArrayBuffer {
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Uint8Array);
  return bytes.slice().buffer as ArrayBuffer;
}

export function numbersOf(value: unknown): Float32Array {
  return new Float32Array(bytesIn(value));
}

/** Empty bytes with a buffer. Node's own engine (22) stores bytes without a buffer as `null`. */
const NO_BYTES = new Uint8Array(new ArrayBuffer(1), 0, 0);

export function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Uint32Array): Uint8Array {
  if (byteLength === 0) return NO_BYTES;
  return new Uint8Array(buffer, byteOffset, byteLength);
}
