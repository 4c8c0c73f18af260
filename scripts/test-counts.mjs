// Adds the counts of two runs, so that the last line shows both: `.ci/run` runs `npm test` and then `--tier rest`.
import { readFileSync, writeFileSync } from "node:fs";

/**
 * Adds the counts of the previous run, which that run left in `file`, and writes the sum for the next run. If a
 * previous run is required (`isLater`) and left no counts, it ended too early: that counts as one failure.
 */
export function withEarlierCounts(file, counts, isLater) {
  if (!file) return counts;
  const earlier = readCounts(file) ?? { passed: 0, failed: isLater ? 1 : 0, skipped: 0 };
  const sum = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count + earlier[name]]));
  writeFileSync(file, JSON.stringify(sum));
  return sum;
}

function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
