import { safeJson } from "../../core/text/hidden-text.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { LATENCY_BOUNDS_MS, type CallStatistics } from "../../core/ports/call-statistics.ts";
import { VERSION } from "../../core/version.ts";

export interface StatisticsParts {
  readonly callStatistics: CallStatistics;
  readonly startedAt: Date;
  readonly redactFacts: (facts: JsonObject) => JsonObject;
}

/** Returns the counts of all calls as JSON without secrets, with the additional members `more`. */
export function statisticsJson(
  { callStatistics, startedAt, redactFacts }: StatisticsParts,
  more: JsonObject = {},
): string {
  const body = {
    version: VERSION,
    startedAt: startedAt.toISOString(),
    uptimeMs: Date.now() - startedAt.getTime(),
    latencyBoundsMs: LATENCY_BOUNDS_MS,
    rows: callStatistics.rows().map((row) => row.read()),
    ...more,
  };
  return safeJson(JSON.stringify(redactFacts(body)));
}
