/** The engines give bytes as views of buffers that they use again, at places where no number may begin. */
export function bytesIn(value: unknown): ArrayBuffer {
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Uint8Array);
  return bytes.slice().buffer as ArrayBuffer;
}

export function numbersOf(value: unknown): Float32Array {
  return new Float32Array(bytesIn(value));
}

export function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
