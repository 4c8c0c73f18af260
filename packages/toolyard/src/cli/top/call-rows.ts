import { isJsonObject, listMember, type JsonObject } from "../../core/json/json.ts";
import type { CallStatisticsRow } from "../../core/ports/call-statistics.ts";

/** Call counts of a running hub at one moment. */
export interface CallSample {
  /** Start time of the hub (ISO 8601). Counts from different starts cannot be compared. */
  readonly startedAt: string;
  readonly uptimeMs: number;
  readonly boundsMs: readonly number[];
  readonly rows: readonly CallStatisticsRow[];
}

/**
 * Reads the body of `/status/calls`. Omits members of an unexpected type, because the hub may have another version.
 */
export function readSample(body: JsonObject): CallSample {
  return {
    startedAt: String(body["startedAt"]),
    uptimeMs: Number(body["uptimeMs"]),
    boundsMs: listMember(body, "latencyBoundsMs").map(Number),
    rows: listMember(body, "rows").filter(isRow),
  };
}

function isRow(value: unknown): value is CallStatisticsRow {
  if (!isJsonObject(value)) return false;
  const { source, tool, method, calls, outcomes, totalMs, buckets } = value;
  return (
    [source, tool, method].every((text) => typeof text === "string") &&
    [calls, totalMs].every((count) => typeof count === "number") &&
    isJsonObject(outcomes) &&
    Array.isArray(buckets)
  );
}

/**
 * Returns the calls between two samples. If the hub was restarted meanwhile, returns all calls of the later sample.
 */
export function callsBetween(earlier: CallSample | undefined, later: CallSample): CallSample {
  if (!earlier || earlier.startedAt !== later.startedAt) return later;
  const before = new Map(earlier.rows.map((row) => [keyOf(row), row]));
  const rows = later.rows.map((row) => difference(before.get(keyOf(row)), row)).filter(({ calls }) => calls > 0);
  return { ...later, uptimeMs: later.uptimeMs - earlier.uptimeMs, rows };
}

function keyOf({ source, tool, method }: CallStatisticsRow): string {
  return JSON.stringify([source, tool, method]);
}

function difference(before: CallStatisticsRow | undefined, after: CallStatisticsRow): CallStatisticsRow {
  if (!before) return after;
  const outcomes = Object.entries(after.outcomes).map(
    ([kind, count]) => [kind, count - (before.outcomes[kind as keyof typeof before.outcomes] ?? 0)] as const,
  );
  return {
    ...after,
    calls: after.calls - before.calls,
    outcomes: Object.fromEntries(outcomes.filter(([, count]) => count > 0)),
    totalMs: after.totalMs - before.totalMs,
    buckets: after.buckets.map((count, index) => count - (before.buckets[index] ?? 0)),
    argumentBytes: after.argumentBytes - before.argumentBytes,
    resultBytes: after.resultBytes - before.resultBytes,
  };
}
