/** Mean and deviation of the similarity between a query and the tools. */
export interface Usual {
  readonly mean: number;
  readonly deviation: number;
}

/** Similarity of a query to the tools: cosines by rank, 0 for distant tools, and the usual values. */
export interface Likeness extends Usual {
  readonly cosines: Float32Array;
}

const LEAST_VARIANCE = 1e-6;

/**
 * Returns the mean and the deviation of cosines. The prior counts as additional rows, because a few tools are not
 * representative.
 */
export function usualOf(cosines: Float32Array, prior: Usual & { readonly rows: number }): Usual {
  const count = prior.rows + cosines.length;
  let sum = prior.rows * prior.mean;
  let squares = prior.rows * (prior.mean ** 2 + prior.deviation ** 2);
  for (let at = 0; at < cosines.length; at += 1) {
    const cosine = cosines[at]!;
    sum += cosine;
    squares += cosine * cosine;
  }
  const mean = sum / count;
  return { mean, deviation: Math.sqrt(Math.max(LEAST_VARIANCE, squares / count - mean * mean)) };
}
