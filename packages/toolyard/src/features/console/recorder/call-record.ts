import type { CallSeen } from "../../../pipeline/ports.ts";
import type { CallRecord } from "../api-types.ts";

/** Finished call as it is kept. The console creates the record when it reads the call: most calls are never read. */
export interface KeptCall {
  /** Number of the call, counted from 1 in this hub. */
  readonly number: number;
  readonly seen: RecordedCall;
  /** Start, the start of each stage after the first one, and the end; on the clock of `performance.now()`. */
  readonly times: readonly number[];
  readonly endedAt: number;
}

/** Facts of a call in its record. */
export type RecordedCall = Omit<CallSeen, "argumentBytes">;

/** Returns the record of a kept call for the console. */
export function recordOf({ number, seen, times, endedAt }: KeptCall): CallRecord {
  const { client, source, parent } = seen;
  return {
    number,
    id: seen.call,
    time: seen.time,
    who: seen.principal,
    ...(client !== undefined && { client }),
    endpoint: seen.endpoint,
    method: seen.method,
    target: seen.target,
    ...(source !== undefined && { source }),
    outcome: seen.kind,
    durationMs: durationOf({ times, endedAt }),
    stages: stagesOf({ times, endedAt }),
    attempts: seen.attempts,
    resultBytes: seen.resultBytes,
    ...(parent !== undefined && { parent }),
  };
}

/** Returns the duration of a call in milliseconds. */
export function durationOf({ times, endedAt }: Pick<KeptCall, "times" | "endedAt">): number {
  return rounded(endedAt - (times[0] ?? endedAt));
}

/** Returns the milliseconds of each stage. The last stage is the one in which the call ended. */
function stagesOf({ times, endedAt }: Pick<KeptCall, "times" | "endedAt">): readonly number[] {
  // A call that failed between two stages has no time for the stages that it did not reach.
  const reached = times.filter((at) => at !== undefined);
  return reached.map((at, index) => rounded((reached[index + 1] ?? endedAt) - at));
}

function rounded(milliseconds: number): number {
  return Math.round(Math.max(0, milliseconds) * 100) / 100;
}
