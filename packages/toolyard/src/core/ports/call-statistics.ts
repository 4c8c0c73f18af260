import type { CallMethod } from "../calls/call.ts";
import { KINDS, type FailKind } from "../calls/kinds.ts";

/** Upper bounds of the latency buckets, in milliseconds. Calls above the last bound are in one further bucket. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000,
];

/** Name of the row that counts tools, or sources, beyond the limit together. */
export const OTHER = "other";

/** Counts of the calls to one tool, or with one other method to one source. */
export interface CallStatisticsRow {
  /** Id of the source; empty for calls whose name led to no source. */
  readonly source: string;
  /** Rendered name of the tool; `other` beyond the limit; empty for other methods and for names without a tool. */
  readonly tool: string;
  readonly method: CallMethod;
  readonly calls: number;
  /** Calls by outcome code, `ok` included; codes without calls are absent. */
  readonly outcomes: Readonly<Partial<Record<FailKind | "ok", number>>>;
  /** Sum of the durations. */
  readonly totalMs: number;
  /** Calls by bucket: one more than `LATENCY_BOUNDS_MS`. */
  readonly buckets: readonly number[];
  readonly argumentBytes: number;
  readonly resultBytes: number;
}

/** The same as it changes. A row is one object for as long as the hub runs, so readers may keep data about it. */
export interface LiveCallRow extends Pick<
  CallStatisticsRow,
  "source" | "tool" | "method" | "calls" | "totalMs" | "argumentBytes" | "resultBytes"
> {
  readonly buckets: ArrayLike<number>;
  /** Calls by outcome, in the order of `OUTCOMES`. */
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
