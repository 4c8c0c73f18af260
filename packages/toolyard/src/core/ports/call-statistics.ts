import type { CallMethod } from "../calls/call.ts";
import { KINDS, type FailKind } from "../calls/kinds.ts";

/** Upper limits of the latency buckets, in milliseconds. A further bucket counts the calls above the last limit. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000,
];

/** Name of the row for all tools, or for all sources, beyond the maximum number of rows. */
export const OTHER = "other";

/** Counts of the calls to one tool, or to one source with another method. */
export interface CallStatisticsRow {
  /** Id of the source. Empty for calls whose name did not resolve. */
  readonly source: string;
  /**
   * Rendered name of the tool. `other` beyond the limit. Empty for other methods and for names that did not resolve.
   */
  readonly tool: string;
  readonly method: CallMethod;
  readonly calls: number;
  /** Numbers of calls by outcome code, including `ok`. Codes without calls are absent. */
  readonly outcomes: Readonly<Partial<Record<FailKind | "ok", number>>>;
  /** Sum of the durations, in milliseconds. */
  readonly totalMs: number;
  /** Numbers of calls by bucket: one more than `LATENCY_BOUNDS_MS`. */
  readonly buckets: readonly number[];
  readonly argumentBytes: number;
  readonly resultBytes: number;
}

/**
 * Counts of a row while they change. A row is the same object until the hub exits, so readers may cache data about it.
 */
export interface LiveCallRow extends Pick<
  CallStatisticsRow,
  "source" | "tool" | "method" | "calls" | "totalMs" | "argumentBytes" | "resultBytes"
> {
  readonly buckets: ArrayLike<number>;
  /** Numbers of calls by outcome, in the order of `OUTCOMES`. */
  readonly outcomeCounts: ArrayLike<number>;
  /** Returns the current counts as plain data. */
  read(): CallStatisticsRow;
}

/** `ok` and the outcome codes. */
export const OUTCOMES: readonly (FailKind | "ok")[] = ["ok", ...(Object.keys(KINDS) as FailKind[])];

/** Counts of all calls since the start of the hub. */
export interface CallStatistics {
  rows(): readonly LiveCallRow[];
}
