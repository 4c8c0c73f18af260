import { FailError } from "../../../core/errors.ts";
import type { Outcome } from "../../../core/calls/outcome.ts";
import { isoNow } from "../../../core/text/iso-now.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import type { StagePlace } from "../../../pipeline/stage-place.ts";
import type { CallState, Stage } from "../../../pipeline/state.ts";
import type { CallRecorder } from "./call-recorder.ts";

/** Stages whose end is recorded. The time after the last one is that of `execute`. */
const MARKED = ["resolve", "authorise", "validate", "admit", "guard"] as const;
const MAX_TEXT_CHARS = 300;

/** Times at which a call passed the stages, on the clock of `performance.now()`. */
type Marks = number[];

/**
 * Creates stages that record every call, with its time in each stage, once the recorder is in use. The time of a retry
 * counts for `guard`.
 */
export function timingStages(recorder: CallRecorder): readonly StagePlace[] {
  const running = new WeakMap<CallState, Marks>();
  const marked = (index: number): Stage => {
    return (state, next) => {
      setMark(running.get(state), index);
      return next(state);
    };
  };
  const executed: Stage = async (state, next) => {
    try {
      return await next(state);
    } finally {
      setMark(running.get(state), MARKED.length);
    }
  };
  const place = (after: StagePlace["after"], stage: Stage): StagePlace => ({
    after,
    load: async () => ifInUse(recorder, stage),
  });
  return [
    place("record", recordCall(recorder, running)),
    ...MARKED.map((after, index) => place(after, marked(index))),
    place("normalise", executed),
  ];
}

/** A call that began before the recorder was in use has no marks, so nothing is set. */
function setMark(marks: Marks | undefined, index: number): void {
  if (marks) marks[index] = performance.now();
}

/** Returns a stage that is skipped, without creating a promise, until the recorder is in use. */
function ifInUse(recorder: CallRecorder, stage: Stage): Stage {
  return (state, next) => (recorder.isInUse ? stage(state, next) : next(state));
}

function recordCall(recorder: CallRecorder, running: WeakMap<CallState, Marks>): Stage {
  return async (state, next) => {
    const startedAt = performance.now();
    const marks: Marks = [];
    running.set(state, marks);
    const finish = (outcome: string): void =>
      recorder.add(describe(state, { outcome, stages: durations(marks, startedAt, performance.now()) }));
    let outcome: Outcome;
    try {
      outcome = await next(state);
    } catch (error) {
      finish(error instanceof FailError ? error.failure.kind : "internal");
      throw error;
    }
    finish(outcome.ok ? "ok" : outcome.kind);
    return outcome;
  };
}

/**
 * Returns the time between two marks, in milliseconds. The last value is the time in the stage in which the call ended.
 */
function durations(marks: Marks, startedAt: number, endedAt: number): readonly number[] {
  const reached = marks.includes(undefined as never) ? marks.filter((one) => one !== undefined) : marks;
  return [...reached, endedAt].map((at, index) => rounded(at - (reached[index - 1] ?? startedAt)));
}

function describe(
  state: CallState,
  { outcome, stages }: { readonly outcome: string; readonly stages: readonly number[] },
): Parameters<CallRecorder["add"]>[0] {
  const { id, principal, client, endpoint, method, target, parent } = state.call;
  return {
    id,
    time: isoNow(),
    who: principal.id,
    ...(client.name !== undefined && { client: firstChars(client.name, MAX_TEXT_CHARS) }),
    endpoint,
    method,
    target: firstChars(state.isResolved ? state.found.name : target, MAX_TEXT_CHARS),
    ...(state.isResolved && { source: state.found.provider.source.id }),
    outcome,
    durationMs: rounded(stages.reduce((sum, one) => sum + one, 0)),
    stages,
    attempts: state.attempts,
    resultBytes: Number.isFinite(state.resultBytes) ? state.resultBytes : -1,
    ...(parent !== undefined && { parent }),
  };
}

function rounded(milliseconds: number): number {
  return Math.round(Math.max(0, milliseconds) * 100) / 100;
}
