import type { Outcome } from "../core/calls/outcome.ts";
import { budgetOf } from "./deadline.ts";
import type { PipelineDeps, Resolution } from "./ports.ts";
import type { CallState, Next, Stage } from "./state.ts";
import { orAborted } from "../core/timing/wait.ts";

/** Finds the record and the provider for the target's name, in the caller's view. */
export function resolveStage({ resolve, options }: PipelineDeps): Stage {
  const proceed = (resolution: Resolution, state: CallState, next: Next): Promise<Outcome> => {
    if (!resolution.found) {
      state.outage = resolution.outage;
      return Promise.resolve(resolution.failure);
    }
    state.found = resolution;
    state.isResolved = true;
    state.outage = resolution.provider.source.outage;
    const budget = budgetOf(resolution.target, resolution.limits, options);
    if (budget) state.deadline.adapt(budget);
    return next(state);
  };
  return (state, next) => {
    const answer = resolve(state.call);
    if (!(answer instanceof Promise)) return proceed(answer, state, next);
    return orAborted(answer, state.deadline.cancellation).then((resolution) => proceed(resolution, state, next));
  };
}
