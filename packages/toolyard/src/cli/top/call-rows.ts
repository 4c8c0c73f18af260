import { isJsonObject, listMember, type JsonObject } from "../../core/json/json.ts";
import type { CallStatisticsRow } from "../../core/ports/call-statistics.ts";

/** The counts of a running hub at one moment. */
export interface CallSample {
  /** Start of the hub, ISO 8601. Counts of another start cannot be compared. */
  readonly startedAt: string;
  readonly uptimeMs: number;
  readonly boundsMs: readonly number[];
  readonly rows: readonly CallStatisticsRow[];
}

/** Reads the body of `/status/calls`. Members of an unexpected type are left out: the hub may be of another version. */
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

/** Returns the calls between two samples; all of the later one if the hub was restarted between them. */
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
