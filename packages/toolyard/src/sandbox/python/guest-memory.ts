import { GuestError } from "./errno.ts";

const MAX_BUFFERS = 1024;
const MAX_NAME_BYTES = 4096;

/**
 * Access to the guest's linear memory. Every pointer and length comes from the guest and is checked only here. An
 * address outside of the memory fails the guest's call with EFAULT.
 */
export class GuestMemory {
  #memory: WebAssembly.Memory | undefined;
  #view = new DataView(new ArrayBuffer(0));

  /** Sets the memory. It exists only after the guest is instantiated, which needs the calls that use it. */
  attach(memory: WebAssembly.Memory): void {
    this.#memory = memory;
  }

  /** Returns a view of the guest's memory. Use it before the guest continues. */
  bytes(pointer: number, length: number): Uint8Array {
    const at = pointer >>> 0;
    const size = length >>> 0;
    if (at + size > this.#current().byteLength) throw new GuestError("fault");
    return new Uint8Array(this.#view.buffer, at, size);
  }

  /** Returns the pieces of a scattered read or write. */
  buffers(pointer: number, count: number): Uint8Array[] {
    if (count >>> 0 > MAX_BUFFERS) throw new GuestError("inval");
    return Array.from({ length: count }, (_, index) => {
      const at = (pointer >>> 0) + index * 8;
      return this.bytes(this.u32(at), this.u32(at + 4));
    });
  }

  /** Returns a name or path. Invalid UTF-8 and NUL characters fail the call. */
  text(pointer: number, length: number): string {
    if (length >>> 0 > MAX_NAME_BYTES) throw new GuestError("nametoolong");
    const text = Buffer.from(this.bytes(pointer, length)).toString("utf8");
    if (text.includes("\0") || text.includes("\uFFFD")) throw new GuestError("inval");
    return text;
  }

  u32(pointer: number): number {
    return this.#at(pointer, 4).getUint32(pointer >>> 0, true);
  }

  u64(pointer: number): bigint {
    return this.#at(pointer, 8).getBigUint64(pointer >>> 0, true);
  }

  u16(pointer: number): number {
    return this.#at(pointer, 2).getUint16(pointer >>> 0, true);
  }

  u8(pointer: number): number {
    return this.#at(pointer, 1).getUint8(pointer >>> 0);
  }

  setU8(pointer: number, value: number): void {
    this.#at(pointer, 1).setUint8(pointer >>> 0, value);
  }

  setU16(pointer: number, value: number): void {
    this.#at(pointer, 2).setUint16(pointer >>> 0, value, true);
  }

  setU32(pointer: number, value: number): void {
    this.#at(pointer, 4).setUint32(pointer >>> 0, value, true);
  }

  setU64(pointer: number, value: bigint): void {
    this.#at(pointer, 8).setBigUint64(pointer >>> 0, value, true);
  }

  #at(pointer: number, size: number): DataView {
    const view = this.#current();
    if ((pointer >>> 0) + size > view.byteLength) throw new GuestError("fault");
    return view;
  }

  // Returns a current view: when the memory grows, it gets a new buffer and the old one becomes empty.
  #current(): DataView {
    if (this.#memory === undefined) throw new GuestError("fault");
    if (this.#view.buffer !== this.#memory.buffer) this.#view = new DataView(this.#memory.buffer);
    return this.#view;
  }
}
