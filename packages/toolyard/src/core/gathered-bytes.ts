/** What is smaller is written together with its neighbours: held as it is, it would weigh more than it holds. */
const SMALL_BYTES = 1024;
const BLOCK_BYTES = 16 * 1024;

/**
 * Bytes that come in pieces, to be had as one. Whoever sends them chooses the pieces: a hundred thousand of a byte each
 * take no more memory than one of a hundred thousand.
 */
export class GatheredBytes {
  #pieces: Buffer[] = [];
  #length = 0;
  /** Follows the pieces, and has room. */
  #block: Buffer | undefined;
  #used = 0;

  get length(): number {
    return this.#length;
  }

  /** Keeps the piece, or a copy of it. */
  push(piece: Buffer): void {
    const isFirst = this.#length === 0;
    this.#length += piece.length;
    // Most of what comes is one piece.
    if (isFirst) this.#pieces.push(piece);
    else if (this.#block && piece.length <= this.#block.length - this.#used) this.#copy(this.#block, piece);
    else this.#beside(piece);
  }

  /** As many bytes from the beginning as there are, up to `bytes`. */
  head(bytes: number): Buffer {
    const pieces: Buffer[] = [];
    let left = bytes;
    for (const piece of this.#all()) {
      if (left <= 0) break;
      pieces.push(piece.subarray(0, left));
      left -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** All of them, which are not held any more. */
  take(): Buffer {
    const pieces = this.#all();
    const whole = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, this.#length);
    this.clear();
    return whole;
  }

  clear(): void {
    if (this.#length === 0) return;
    this.#pieces = [];
    this.#length = 0;
    this.#block = undefined;
  }

  #beside(piece: Buffer): void {
    this.#pieces = this.#all();
    this.#block = undefined;
    if (piece.length >= SMALL_BYTES) return void this.#pieces.push(piece);
    this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#used = 0;
    this.#copy(this.#block, piece);
  }

  #copy(block: Buffer, piece: Buffer): void {
    piece.copy(block, this.#used);
    this.#used += piece.length;
  }

  #all(): Buffer[] {
    if (this.#block) this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = undefined;
    return this.#pieces;
  }
}
