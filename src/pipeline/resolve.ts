import { budgetOf } from "./deadline.ts";
import type { PipelineDeps } from "./ports.ts";
import type { Stage } from "./state.ts";
import { orAborted } from "./wait.ts";

/** Finds the record and the provider behind the target's name, in the caller's view. */
export function resolveStage({ resolve, options }: PipelineDeps): Stage {
  return async (state, next) => {
    const answer = resolve(state.call, state.view);
    const resolution = answer instanceof Promise ? await orAborted(answer, state.deadline.cancellation) : answer;
    if (!resolution.found) return resolution.failure;
    state.found = resolution;
    const budget = budgetOf(resolution.target, resolution.limits, options);
    if (budget) state.deadline.adapt(budget);
    return next(state);
  };
}
