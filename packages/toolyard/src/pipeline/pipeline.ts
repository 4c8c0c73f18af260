import type { Call } from "../core/calls/call.ts";
import type { Outcome } from "../core/calls/outcome.ts";
import { approvalWriter } from "./approvals.ts";
import { Breakers } from "./breakers.ts";
import type { PipelineDeps } from "./ports.ts";
import { createStages, type PlacedStage, type TimedStage } from "./stages.ts";
import type { StagePlace } from "./stage-place.ts";
import { CallState, type CallHooks, type Next } from "./state.ts";

/** Runs a call and resolves with its outcome. Never rejects. */
export type Pipeline = (call: Call) => Promise<Outcome>;

/** Parts of a pipeline, which creates its own circuit breakers. */
export interface PipelineParts extends Omit<PipelineDeps, "breakers"> {
  /** Stages of features, in addition to the pipeline's own stages. @default none */
  readonly stages?: readonly StagePlace[];
}

/** Loads the stages of features. */
export function loadStages({ stages = [] }: PipelineParts): Promise<readonly PlacedStage[]> {
  return Promise.all(stages.map(async ({ after, load }) => ({ after, stage: await load() })));
}

export function createPipeline(deps: PipelineParts, placed: readonly PlacedStage[] = []): Pipeline {
  // The stages are joined once, so that a call creates no closures for them.
  const stages = createStages({ ...deps, breakers: new Breakers(deps.options.breaker) }, placed);
  const run = stages.reduceRight<Next>(joined, endOfPipeline);
  const hooks: CallHooks = { hide: deps.hide ?? ((value) => value), awaited: approvalWriter(deps)?.awaited };
  return (call) => run(new CallState(call, hooks));
}

/**
 * Returns a function that runs a stage, to which it passes the inner stages. If the stages of the call are timed, it
 * records the start of the stage.
 */
function joined(next: Next, { stage, timeIndex }: TimedStage): Next {
  return (state) => {
    if (state.times && timeIndex > 0) state.times[timeIndex] = performance.now();
    return stage(state, next);
  };
}

function endOfPipeline(): Promise<Outcome> {
  throw new TypeError("The last stage of the pipeline must answer.");
}
