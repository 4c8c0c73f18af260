import { readFile } from "node:fs/promises";
import { endianness } from "node:os";
import type { TextEmbedder } from "../../core/ports/models.ts";
import { Pieces } from "./pieces.ts";

/** Location of the bundled table, which `scripts/embeddings/` generates. */
const SHIPPED = new URL("token-vectors.bin", import.meta.url);
const MAGIC = "TYT1";
const HEADER_BYTES = 16;
const LINE_END = 10;
/** Maximum number of pieces of a text that are read, from its beginning. */
const MAX_PIECES = 512;

let shipped: Promise<TokenTable> | undefined;

/** Returns the bundled table, which is read once at first use. Rejects if its file cannot be read. */
export function loadTokenTable(): Promise<TokenTable> {
  shipped ??= readFile(SHIPPED)
    .then((file) => new TokenTable(file, "toolyard-table-1"))
    .catch((error: unknown) => {
      shipped = undefined;
      throw error;
    });
  return shipped;
}

/**
 * An embedder with one vector for each word or word piece. A text's vector is the normalised sum. Vectors are integers
 * from -127 to 127 with a scale per row: 128 bytes per row, without a model or a service.
 */
export class TokenTable implements TextEmbedder {
  readonly model: string;
  readonly dimensions: number;
  readonly #pieces: Pieces;
  readonly #scales: Float32Array;
  readonly #rows: Int8Array;

  /** @param file Table in the format of `scripts/embeddings/table_file.py`. Throws an `Error` for any other format. */
  constructor(file: Buffer, model: string) {
    const { count, dimensions, scalesAt, rowsAt } = layoutOf(file);
    const lines = linesOf(file.subarray(HEADER_BYTES, scalesAt));
    this.#scales = scalesOf(file.subarray(scalesAt, rowsAt));
    // One line more than allowed is read, so that excess lines are detected.
    this.#pieces = new Pieces(lines, count + 1);
    if (this.#pieces.count !== count || !this.#scales.every(Number.isFinite))
      throw new Error("The table of token vectors is damaged. Reinstall the package.");
    this.model = model;
    this.dimensions = dimensions;
    this.#rows = new Int8Array(file.buffer, file.byteOffset + rowsAt, count * dimensions);
  }

  embed(text: string): Float32Array {
    const sum = new Float32Array(this.dimensions);
    for (const piece of this.#pieces.ofText(text, MAX_PIECES)) this.#add(piece, sum);
    let square = 0;
    for (let at = 0; at < sum.length; at += 1) square += sum[at]! * sum[at]!;
    const length = Math.sqrt(square);
    if (length > 0) for (let at = 0; at < sum.length; at += 1) sum[at]! /= length;
    return sum;
  }

  #add(piece: number, sum: Float32Array): void {
    const scale = this.#scales[piece]!;
    const begin = piece * this.dimensions;
    for (let at = 0; at < sum.length; at += 1) sum[at]! += scale * this.#rows[begin + at]!;
  }
}

/** Removes the line ends that pad the part to a multiple of four bytes. */
function linesOf(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === LINE_END) end -= 1;
  return bytes.subarray(0, end);
}

/** Returns a copy of the scales, because numbers must be aligned to four bytes. The file is little-endian. */
function scalesOf(bytes: Buffer): Float32Array {
  const copy = Buffer.from(Uint8Array.from(bytes).buffer);
  if (endianness() === "BE") copy.swap32();
  return new Float32Array(copy.buffer);
}

interface Layout {
  readonly count: number;
  readonly dimensions: number;
  readonly scalesAt: number;
  readonly rowsAt: number;
}

function layoutOf(file: Buffer): Layout {
  if (file.length < HEADER_BYTES || file.toString("latin1", 0, MAGIC.length) !== MAGIC)
    throw new Error("This is not a table of token vectors. Reinstall the package.");
  const [count, dimensions, wordBytes] = [4, 8, 12].map((at) => file.readUInt32LE(at)) as [number, number, number];
  const scalesAt = HEADER_BYTES + wordBytes;
  const rowsAt = scalesAt + 4 * count;
  if (count === 0 || dimensions === 0 || file.length !== rowsAt + count * dimensions)
    throw new Error(
      `The table of token vectors is truncated or damaged: it has ${file.length} bytes. Reinstall the package.`,
    );
  return { count, dimensions, scalesAt, rowsAt };
}
