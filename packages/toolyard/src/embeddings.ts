import type { TextEmbedder } from "./core/ports/models.ts";
import { loadTokenTable } from "./models/table/token-table.ts";

export type { TextEmbedder } from "./core/ports/models.ts";

/**
 * Loads the embedder in this package. It converts English texts to vectors of 128 numbers, in this process and without
 * a service. The first call reads its file (4 MB); later calls use the same embedder. Rejects if the file cannot be
 * read.
 *
 * @example
 * ```ts
 * import { loadEmbedder } from "toolyard/embeddings";
 *
 * const embedder = await loadEmbedder();
 * console.log(embedder.embed("delete rows of a table").length); // 128
 * ```
 */
export function loadEmbedder(): Promise<TextEmbedder> {
  return loadTokenTable();
}

/**
 * Returns the similarity of two vectors, from -1 to 1. Throws a `RangeError` if they differ in length.
 *
 * @example
 * ```ts
 * import { loadEmbedder, similarity } from "toolyard/embeddings";
 *
 * const embedder = await loadEmbedder();
 * console.log(similarity(embedder.embed("remove a file"), embedder.embed("delete a document")) > 0.3);
 * ```
 */
export function similarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length)
    throw new RangeError(
      `Vectors of ${a.length} and ${b.length} numbers cannot be compared. Make both with one embedder.`,
    );
  const [product, left, right] = [sum(a, b), sum(a, a), sum(b, b)];
  return left === 0 || right === 0 ? 0 : product / Math.sqrt(left * right);
}

function sum(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let total = 0;
  for (let at = 0; at < a.length; at += 1) total += a[at]! * b[at]!;
  return total;
}
