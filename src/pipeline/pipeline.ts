import type { Call } from "../core/call.ts";
import type { Outcome } from "../core/outcome.ts";
import type { PipelineDeps } from "./ports.ts";
import { createStages } from "./stages.ts";
import { CallState, type Next } from "./state.ts";

/** One call in, one outcome out, never a rejection. */
export type Pipeline = (call: Call) => Promise<Outcome>;

export function createPipeline(deps: PipelineDeps): Pipeline {
  // Joined once, so that a call costs no closures for its way.
  const run = createStages(deps).reduceRight<Next>((next, stage) => (state) => stage(state, next), endOfPipeline);
  const { hide } = deps;
  return (call) => run(new CallState(call, hide));
}

function endOfPipeline(): Promise<Outcome> {
  throw new TypeError("The last stage of the pipeline must answer.");
}
