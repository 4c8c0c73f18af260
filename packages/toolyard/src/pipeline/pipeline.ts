import type { Call } from "../core/calls/call.ts";
import type { Outcome } from "../core/calls/outcome.ts";
import { Breakers } from "./breakers.ts";
import type { PipelineDeps } from "./ports.ts";
import { createStages } from "./stages.ts";
import { CallState, type Next } from "./state.ts";

/** One call in, one outcome out, never a rejection. */
export type Pipeline = (call: Call) => Promise<Outcome>;

/** What a pipeline is made of; its circuits are its own. */
export type PipelineParts = Omit<PipelineDeps, "breakers">;

export function createPipeline(deps: PipelineParts): Pipeline {
  // Joined once, so that a call costs no closures for its way.
  const run = createStages({ ...deps, breakers: new Breakers(deps.options.breaker) }).reduceRight<Next>(
    (next, stage) => (state) => stage(state, next),
    endOfPipeline,
  );
  const { hide } = deps;
  return (call) => run(new CallState(call, hide));
}

function endOfPipeline(): Promise<Outcome> {
  throw new TypeError("The last stage of the pipeline must answer.");
}
