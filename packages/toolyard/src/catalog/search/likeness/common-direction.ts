/** How alike a query and any tool usually are. */
export interface Usual {
  readonly mean: number;
  readonly deviation: number;
}

/** How alike a query and the tools are, as cosines by rank, and what is usual; 0 for what is far. */
export interface Likeness extends Usual {
  readonly cosines: Float32Array;
}

const LEAST_VARIANCE = 1e-6;

/** Mean and deviation of some cosines. The prior counts as so many more: few tools say little of what is usual. */
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
