import type { CallMethod } from "../../core/calls/call.ts";
import { KINDS, type FailKind } from "../../core/calls/kinds.ts";
import { LATENCY_BOUNDS_MS, type CallStatisticsRow } from "../../core/ports/call-statistics.ts";

/** A call that is over, as statistics read it. */
export interface FinishedCall {
  readonly source?: string;
  readonly target: string;
  readonly method: CallMethod;
  readonly kind: FailKind | "ok";
  readonly durationMs: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
}

const OUTCOMES: readonly (FailKind | "ok")[] = ["ok", ...(Object.keys(KINDS) as FailKind[])];
const OUTCOME_INDEX: ReadonlyMap<string, number> = new Map(OUTCOMES.map((outcome, index) => [outcome, index]));

/** Counters of one row. Typed arrays avoid allocations on the hot path of a call. */
export class StatisticsRow {
  readonly #key: Pick<CallStatisticsRow, "source" | "tool" | "method">;
  readonly #outcomes = new Float64Array(OUTCOMES.length);
  readonly #buckets = new Float64Array(LATENCY_BOUNDS_MS.length + 1);
  #calls = 0;
  #totalMs = 0;
  #argumentBytes = 0;
  #resultBytes = 0;

  constructor(key: Pick<CallStatisticsRow, "source" | "tool" | "method">) {
    this.#key = key;
  }

  add({ kind, durationMs, argumentBytes, resultBytes }: FinishedCall): void {
    this.#calls += 1;
    this.#totalMs += durationMs;
    // A value without a size as JSON has -1.
    if (argumentBytes > 0) this.#argumentBytes += argumentBytes;
    if (resultBytes > 0) this.#resultBytes += resultBytes;
    this.#outcomes[OUTCOME_INDEX.get(kind) ?? 0]! += 1;
    this.#buckets[bucketOf(durationMs)]! += 1;
  }

  read(): CallStatisticsRow {
    const outcomes: Partial<Record<FailKind | "ok", number>> = {};
    for (const [index, outcome] of OUTCOMES.entries())
      if (this.#outcomes[index]! > 0) outcomes[outcome] = this.#outcomes[index]!;
    return {
      ...this.#key,
      calls: this.#calls,
      outcomes,
      totalMs: Math.round(this.#totalMs * 10) / 10,
      buckets: [...this.#buckets],
      argumentBytes: this.#argumentBytes,
      resultBytes: this.#resultBytes,
    };
  }
}

function bucketOf(durationMs: number): number {
  let index = 0;
  while (index < LATENCY_BOUNDS_MS.length && durationMs > LATENCY_BOUNDS_MS[index]!) index += 1;
  return index;
}
