/** Size below which a piece is copied into a shared block: a Buffer object takes more memory than so few bytes. */
const SMALL_BYTES = 1024;
const BLOCK_BYTES = 16 * 1024;

/**
 * Bytes that arrive in pieces and are read as one buffer. The sender chooses the size of the pieces: a hundred thousand
 * pieces of one byte take no more memory than one piece of the same total size.
 */
export class GatheredBytes {
  #pieces: Buffer[] = [];
  #length = 0;
  /** Block with free space for small pieces. It is the last of the pieces. */
  #block: Buffer | undefined;
  #used = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds a piece. Keeps the given buffer, or copies its bytes into a block. */
  push(piece: Buffer): void {
    const isFirst = this.#length === 0;
    this.#length += piece.length;
    // Most content arrives in one piece, which is kept without a copy.
    if (isFirst) this.#pieces.push(piece);
    else if (this.#block && piece.length <= this.#block.length - this.#used) this.#copy(this.#block, piece);
    else this.#beside(piece);
  }

  /** Returns the first `bytes` bytes, or fewer if there are fewer. */
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
