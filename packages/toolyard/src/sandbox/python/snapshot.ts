/** Maximum memory of a booted interpreter; a larger one is not stored. */
const MAX_SNAPSHOT_BYTES = 48 * 1_048_576;
const HEADER_BYTES = 32;
const STARTED = 0;
const STATE = 1;
const LENGTH = 2;
const STACK = 3;
const START = 4;
const EMPTY = 0;
const BEING_WRITTEN = 1;
const THERE = 2;

/** Creates the memory of one snapshot, which the Python workers of a child share. Untouched pages use no memory. */
export function createSnapshotRoom(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + MAX_SNAPSHOT_BYTES);
}

/** An interpreter between its boot and its first job: its memory, and the end of its stack. */
export interface RestoredInterpreter {
  /** Memory from `start` to its end. All bytes before are zero: the part of the stack that the boot did not use. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly stack: number;
}

/**
 * Snapshot that the Python workers of a child share. The first worker boots as fast as possible. A later one, which
 * boots while no caller waits, also imports common modules, and stores its memory here before its first job; the
 * following workers start from this snapshot.
 */
export class InterpreterSnapshot {
  readonly #header: Int32Array;
  readonly #room: SharedArrayBuffer;
  /** True if this worker must create the snapshot. */
  readonly isMaker: boolean;

  constructor(room: SharedArrayBuffer) {
    this.#room = room;
    this.#header = new Int32Array(room, 0, HEADER_BYTES / 4);
    const isFirst = Atomics.add(this.#header, STARTED, 1) === 0;
    this.isMaker = !isFirst && Atomics.load(this.#header, STATE) === EMPTY;
  }

  load(): RestoredInterpreter | undefined {
    if (Atomics.load(this.#header, STATE) !== THERE) return undefined;
    const start = this.#header[START]!;
    const length = this.#header[LENGTH]! - start;
    return { bytes: new Uint8Array(this.#room, HEADER_BYTES, length), start, stack: this.#header[STACK]! };
  }

  store(memory: Uint8Array, stack: number): void {
    if (
      memory.length > MAX_SNAPSHOT_BYTES ||
      Atomics.compareExchange(this.#header, STATE, EMPTY, BEING_WRITTEN) !== EMPTY
    )
      return;
    const start = countLeadingZeros(memory);
    new Uint8Array(this.#room, HEADER_BYTES).set(memory.subarray(start));
    this.#header[START] = start;
    this.#header[LENGTH] = memory.length;
    this.#header[STACK] = stack;
    Atomics.store(this.#header, STATE, THERE);
  }
}

/** Returns the number of zero bytes at the start of the memory, whose length is a multiple of eight. */
function countLeadingZeros(memory: Uint8Array): number {
  const words = new BigUint64Array(memory.buffer, memory.byteOffset, memory.length / 8);
  const first = words.findIndex((word) => word !== 0n);
  return first === -1 ? memory.length : first * 8;
}
