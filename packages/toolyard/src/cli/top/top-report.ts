import { KINDS, type FailKind } from "../../core/calls/kinds.ts";
import type { CallStatisticsRow } from "../../core/ports/call-statistics.ts";
import { tokensOfBytes } from "../../core/text/token-estimate.ts";
import type { CallSample } from "./call-rows.ts";

/** Calls of one tool, of another method of one source, or of one source in total. */
export interface TopLine {
  readonly source: string;
  /** Name of the tool or method; absent for the total of a source. */
  readonly name?: string;
  readonly calls: number;
  /** Number of calls with another outcome than `ok`, except calls that their caller cancelled. */
  readonly failed: number;
  /** Error code of the most frequent failure. */
  readonly failure?: string;
  readonly perSecond: number;
  readonly meanMs: number;
  /** Median duration, estimated from buckets. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Estimated tokens of an average result. */
  readonly resultTokens: number;
}

export interface TopReport {
  readonly spanMs: number;
  readonly calls: number;
  readonly failed: number;
  readonly busiest: readonly TopLine[];
  readonly slowest: readonly TopLine[];
  readonly failing: readonly TopLine[];
  readonly sources: readonly TopLine[];
}

/** Returns the tools and sources with most calls, the highest p95 and most failures; at most `limit` of each. */
export function createReport({ rows, uptimeMs, boundsMs }: CallSample, limit: number): TopReport {
  const place = { boundsMs, spanMs: Math.max(1, uptimeMs) };
  const lines = rows.map((row) => lineOf(row, nameOf(row), place));
  const sources = [...groupBySource(rows)].map((all) => lineOf(all, undefined, place));
  const first = (all: readonly TopLine[], rank: (line: TopLine) => number): readonly TopLine[] =>
    all
      .filter((line) => rank(line) > 0)
      .toSorted((a, b) => rank(b) - rank(a) || b.calls - a.calls)
      .slice(0, limit);
  return {
    spanMs: uptimeMs,
    calls: sumOf(lines, "calls"),
    failed: sumOf(lines, "failed"),
    busiest: first(lines, ({ calls }) => calls),
    slowest: first(lines, ({ p95Ms }) => p95Ms),
    failing: first(lines, ({ failed }) => failed),
    sources: first(sources, ({ calls }) => calls),
  };
}

function sumOf(lines: readonly TopLine[], member: "calls" | "failed"): number {
  return lines.reduce((sum, line) => sum + line[member], 0);
}

/** Returns the name of a row. Rows with an empty tool count other methods, or names that matched no tool. */
function nameOf({ tool, method, source }: CallStatisticsRow): string {
  if (tool !== "") return tool;
  return source === "" ? `${method} (not found)` : method;
}

function* groupBySource(rows: readonly CallStatisticsRow[]): Generator<CallStatisticsRow> {
  const bySource = new Map<string, CallStatisticsRow>();
  for (const row of rows) {
    const known = bySource.get(row.source);
    bySource.set(row.source, known ? added(known, row) : row);
  }
  for (const [source, row] of bySource) if (source !== "") yield row;
}

function added(one: CallStatisticsRow, other: CallStatisticsRow): CallStatisticsRow {
  const kinds = new Set([...Object.keys(one.outcomes), ...Object.keys(other.outcomes)]) as Set<FailKind | "ok">;
  const outcomes = Array.from(
    kinds,
    (kind) => [kind, (one.outcomes[kind] ?? 0) + (other.outcomes[kind] ?? 0)] as const,
  );
  return {
    ...one,
    calls: one.calls + other.calls,
    totalMs: one.totalMs + other.totalMs,
    resultBytes: one.resultBytes + other.resultBytes,
    outcomes: Object.fromEntries(outcomes),
    buckets: one.buckets.map((count, index) => count + (other.buckets[index] ?? 0)),
  };
}

interface SamplePlace {
  readonly boundsMs: readonly number[];
  readonly spanMs: number;
}

function lineOf(row: CallStatisticsRow, name: string | undefined, { boundsMs, spanMs }: SamplePlace): TopLine {
  const { source, calls, totalMs, buckets } = row;
  const failures = Object.entries(row.outcomes).filter(([kind]) => kind !== "ok" && kind !== "cancelled");
  const [frequent] = failures.toSorted(([, a], [, b]) => b - a);
  return {
    source,
    ...(name !== undefined && { name }),
    calls,
    failed: failures.reduce((sum, [, count]) => sum + count, 0),
    ...(frequent && { failure: frequent[0] in KINDS ? frequent[0] : "unknown" }),
    perSecond: round((calls * 1000) / spanMs),
    meanMs: round(totalMs / Math.max(1, calls)),
    p50Ms: round(quantile(0.5, buckets, boundsMs)),
    p95Ms: round(quantile(0.95, buckets, boundsMs)),
    resultTokens: tokensOfBytes(row.resultBytes / Math.max(1, calls)),
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/**
 * Estimates a quantile by linear interpolation within its bucket. Calls in the last bucket count with its lower bound.
 */
export function quantile(share: number, buckets: readonly number[], boundsMs: readonly number[]): number {
  const wanted = share * buckets.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (const [index, count] of buckets.entries()) {
    const lower = boundsMs[index - 1] ?? 0;
    if (count > 0 && below + count >= wanted) {
      const upper = boundsMs[index] ?? lower;
      return lower + ((upper - lower) * (wanted - below)) / count;
    }
    below += count;
  }
  return 0;
}
