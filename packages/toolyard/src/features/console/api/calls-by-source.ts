import type { CallFigures } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import { isFailure } from "../recorder/call-recorder.ts";

/** Returns the counts of calls by source id. The percentiles are those of the recent calls. */
export function callsBySource({
  callStatistics,
  recentCalls,
}: Pick<ConsoleParts, "callStatistics" | "recentCalls">): ReadonlyMap<string, CallFigures> {
  const percentiles = recentCalls?.percentilesBySource();
  const figures = new Map<string, CallFigures>();
  for (const row of callStatistics.rows()) {
    const { source, calls, outcomes } = row.read();
    const known = figures.get(source) ?? { calls: 0, errors: 0, ...percentiles?.get(source) };
    const failed = Object.entries(outcomes).reduce(
      (sum, [outcome, count]) => sum + (isFailure(outcome) ? count : 0),
      0,
    );
    figures.set(source, { ...known, calls: known.calls + calls, errors: known.errors + failed });
  }
  return figures;
}
