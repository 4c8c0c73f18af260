/** Number of characters that are compared; the rest of a longer word is ignored. */
const MAX_WORD_LENGTH = 96;
/** Maximum number of candidates that are compared. The whole search then takes some milliseconds at most. */
const MAX_CANDIDATES = 20_000;

/** Maximum number of typing errors in a long word. For a short word it is a third of its length. */
const MAX_SLIPS = 4;

interface Near {
  readonly candidate: string;
  readonly distance: number;
}

/**
 * Returns the candidates that a user may have meant by `word`, the best first: names with small typing errors, another
 * case or separator, and names that start or end with the word. The result does not depend on the order of the
 * candidates.
 */
export function nearest(word: string, candidates: Iterable<string>, max = 3): string[] {
  const wanted = fold(word);
  if (wanted === "") return [];
  const bound = Math.min(MAX_SLIPS, Math.max(1, Math.floor(wanted.length / 3)));
  const found: Near[] = [];
  let seen = 0;
  for (const candidate of candidates) {
    seen += 1;
    if (seen > MAX_CANDIDATES) break;
    const distance = Math.min(distanceTo(wanted, fold(candidate), bound), bareDistance(wanted, candidate, bound));
    if (distance <= bound) found.push({ candidate, distance });
  }
  return found
    .toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, max)
    .map((near) => near.candidate);
}

function fold(text: string): string {
  return text
    .slice(0, MAX_WORD_LENGTH)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "_");
}

/**
 * Returns the distance between the word and the name after the candidate's prefix, for words with a missing prefix and
 * a typing error.
 */
function bareDistance(wanted: string, candidate: string, bound: number): number {
  const prefix = PREFIX.exec(candidate);
  return prefix ? PART_DISTANCE + editDistance(wanted, fold(candidate.slice(prefix[0].length)), bound) : Infinity;
}

const PREFIX = /^[^_.:/]{1,64}(?:__|::|[./])/;

/**
 * Distance of a word that equals the name without its prefix, or that is the start of the name. It is smaller than two
 * typing errors.
 */
const PART_DISTANCE = 0.5;
const MIN_PART_LENGTH = 3;

function distanceTo(wanted: string, candidate: string, bound: number): number {
  if (wanted === candidate) return 0;
  const isPart =
    wanted.length >= MIN_PART_LENGTH && (candidate.endsWith(`_${wanted}`) || candidate.startsWith(`${wanted}_`));
  if (isPart) return PART_DISTANCE;
  return editDistance(wanted, candidate, bound);
}

/**
 * Returns the number of insertions, deletions, replacements and swaps of adjacent characters between `a` and `b`, or
 * `Infinity` above `bound`. Computes only the band of width `2 · bound + 1` around the diagonal, without the common
 * start and end.
 */
export function editDistance(a: string, b: string, bound: number): number {
  let start = 0;
  let [endA, endB] = [a.length, b.length];
  if (Math.abs(endA - endB) > bound) return Infinity;
  while (start < endA && start < endB && a[start] === b[start]) start += 1;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const distance = bandDistance(a.slice(start, endA), b.slice(start, endB), bound);
  return distance <= bound ? distance : Infinity;
}

function bandDistance(a: string, b: string, bound: number): number {
  const far = bound + 1;
  let beforeLast = new Uint16Array(b.length + 1);
  let last = Uint16Array.from(beforeLast, (_, column) => Math.min(column, far));
  let current = new Uint16Array(b.length + 1);
  for (let row = 1; row <= a.length; row += 1) {
    current.fill(far);
    current[0] = Math.min(row, far);
    let best = current[0];
    for (let column = Math.max(1, row - bound); column <= Math.min(b.length, row + bound); column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1), far);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current[column] = cost;
      best = Math.min(best, cost);
    }
    if (best > bound) return far;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[b.length]!;
}
