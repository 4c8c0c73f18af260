const MAX_WORD = 64;
const MAX_DISTANCE = 2;

/** Returns the most similar candidate. At most two letters, and at most a quarter of all letters, may differ. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_WORD) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let least = Math.min(MAX_DISTANCE, Math.floor(word.length / 4)) + 1;
  for (const candidate of candidates) {
    if (candidate === word || Math.abs(candidate.length - word.length) >= least) continue;
    const distance = distanceOf(wanted, candidate.toLowerCase(), least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** Returns the Levenshtein distance, or `bound` if the distance is not below it. Both words are short. */
function distanceOf(one: string, other: string, bound: number): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  let next = row.slice();
  for (let i = 1; i <= one.length; i += 1) {
    next[0] = i;
    let least = i;
    for (let j = 1; j <= other.length; j += 1) {
      const change = row[j - 1]! + (one.charCodeAt(i - 1) === other.charCodeAt(j - 1) ? 0 : 1);
      const distance = Math.min(change, row[j]! + 1, next[j - 1]! + 1);
      next[j] = distance;
      if (distance < least) least = distance;
    }
    if (least >= bound) return bound;
    [row, next] = [next, row];
  }
  return row[other.length]!;
}
