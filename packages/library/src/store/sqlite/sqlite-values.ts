/** The engines give bytes as views of buffers that they use again, at places where no number may begin. */
export function bytesIn(value: unknown): ArrayBuffer {
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Uint8Array);
  return bytes.slice().buffer as ArrayBuffer;
}

export function numbersOf(value: unknown): Float32Array {
  return new Float32Array(bytesIn(value));
}

/** Node's own engine (22) takes bytes that have no memory at all for `null`. */
const NO_BYTES = new Uint8Array(new ArrayBuffer(1), 0, 0);

export function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Uint32Array): Uint8Array {
  if (byteLength === 0) return NO_BYTES;
  return new Uint8Array(buffer, byteOffset, byteLength);
}
