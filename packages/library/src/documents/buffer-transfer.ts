/** Methods of ES2024 that pdf.js calls and Node 20 lacks. */
interface TransferMethods {
  transfer?: (this: ArrayBuffer, length?: number) => ArrayBuffer;
  transferToFixedLength?: (this: ArrayBuffer, length?: number) => ArrayBuffer;
}

/** Adds `transfer` and `transferToFixedLength` to array buffers if the runtime lacks them. */
export function supportBufferTransfer(prototype: object = ArrayBuffer.prototype): void {
  const methods = prototype as TransferMethods;
  for (const name of ["transfer", "transferToFixedLength"] as const)
    if (methods[name] === undefined)
      Object.defineProperty(prototype, name, { value: moved, configurable: true, writable: true });
}

/** Moves the bytes to a new buffer of the given length, and detaches the old buffer. */
function moved(this: ArrayBuffer, length = this.byteLength): ArrayBuffer {
  const own = structuredClone(this, { transfer: [this] });
  if (length === own.byteLength) return own;
  const other = new ArrayBuffer(length);
  new Uint8Array(other).set(new Uint8Array(own, 0, Math.min(length, own.byteLength)));
  return other;
}
