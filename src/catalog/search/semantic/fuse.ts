/** How fast a place loses worth: the usual constant of reciprocal rank fusion. */
const RANK_CONSTANT = 60;
/** Only an exact name is a whole 1. */
const BEST_SCORE = 0.99;

/**
 * Two orders as one, by reciprocal rank: what stands high in either is high, what stands high in both is higher.
 * Answers with scores above 0 and below 1, in four digits, which is how they are compared.
 */
export function fuseRanks<T>(first: readonly T[], second: readonly T[]): Map<T, number> {
  const sums = new Map<T, number>();
  for (const order of [first, second])
    for (const [at, one] of order.entries()) sums.set(one, (sums.get(one) ?? 0) + 1 / (RANK_CONSTANT + at + 1));
  const best = 2 / (RANK_CONSTANT + 1);
  return new Map(
    Array.from(sums, ([one, sum]) => [one, Math.max(0.0001, Math.round((BEST_SCORE * 10_000 * sum) / best) / 10_000)]),
  );
}
