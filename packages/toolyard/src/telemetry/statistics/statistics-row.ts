import type { CallMethod } from "../../core/calls/call.ts";
import type { FailKind } from "../../core/calls/kinds.ts";
import {
  LATENCY_BOUNDS_MS,
  OUTCOMES,
  type CallStatisticsRow,
  type LiveCallRow,
} from "../../core/ports/call-statistics.ts";

/** Finished call, as statistics read it. */
export interface FinishedCall {
  readonly source?: string | undefined;
  readonly target: string;
  readonly method: CallMethod;
  readonly kind: FailKind | "ok";
  readonly durationMs: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
}

const OUTCOME_INDEX: ReadonlyMap<string, number> = new Map(OUTCOMES.map((outcome, index) => [outcome, index]));

/** Counters of one row. Typed arrays avoid allocations on the hot path of a call. */
export class StatisticsRow implements LiveCallRow {
  readonly source: string;
  readonly tool: string;
  readonly method: CallMethod;
  readonly outcomeCounts = new Float64Array(OUTCOMES.length);
  readonly buckets = new Float64Array(LATENCY_BOUNDS_MS.length + 1);
  calls = 0;
  totalMs = 0;
  argumentBytes = 0;
  resultBytes = 0;

  constructor({ source, tool, method }: Pick<CallStatisticsRow, "source" | "tool" | "method">) {
    this.source = source;
    this.tool = tool;
    this.method = method;
  }

  add({ kind, durationMs, argumentBytes, resultBytes }: FinishedCall): void {
    this.calls += 1;
    this.totalMs += durationMs;
    // The size is -1 for a value that JSON cannot represent. It is not added.
    if (argumentBytes > 0) this.argumentBytes += argumentBytes;
    if (resultBytes > 0) this.resultBytes += resultBytes;
    this.outcomeCounts[OUTCOME_INDEX.get(kind) ?? 0]! += 1;
    this.buckets[bucketOf(durationMs)]! += 1;
  }

  read(): CallStatisticsRow {
    const { source, tool, method, calls, argumentBytes, resultBytes } = this;
    const outcomes: Partial<Record<FailKind | "ok", number>> = {};
    for (const [index, outcome] of OUTCOMES.entries())
      if (this.outcomeCounts[index]! > 0) outcomes[outcome] = this.outcomeCounts[index]!;
    const totalMs = Math.round(this.totalMs * 10) / 10;
    return { source, tool, method, calls, outcomes, totalMs, buckets: [...this.buckets], argumentBytes, resultBytes };
  }
}

function bucketOf(durationMs: number): number {
  let index = 0;
  while (index < LATENCY_BOUNDS_MS.length && durationMs > LATENCY_BOUNDS_MS[index]!) index += 1;
  return index;
}
