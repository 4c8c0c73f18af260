/** Smaller pieces are copied into a shared block: a Buffer object takes more memory than their bytes. */
const SMALL_BYTES = 1024;
const BLOCK_BYTES = 16 * 1024;

/**
 * Bytes that arrive in pieces and are read as one. The sender chooses the pieces: a hundred thousand of one byte each
 * take no more memory than a single one of the same size.
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
    // Most content is one piece.
    if (isFirst) this.#pieces.push(piece);
    else if (this.#block && piece.length <= this.#block.length - this.#used) this.#copy(this.#block, piece);
    else this.#beside(piece);
  }

  /** Returns the first bytes, at most `bytes` and as many as there are. */
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

  /** Returns all bytes and releases them. */
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
