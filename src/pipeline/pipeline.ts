import type { Call } from "../core/call.ts";
import type { View } from "../core/hub-port.ts";
import type { Fail, Outcome } from "../core/outcome.ts";
import type { PipelineDeps } from "./ports.ts";
import { createStages } from "./stages.ts";
import { CallState, type Next } from "./state.ts";

/** One call in, one outcome out, never a rejection. */
export type Pipeline = (call: Call, view: View) => Promise<Outcome>;

export function createPipeline(deps: PipelineDeps): Pipeline {
  // Joined once, so that a call costs no closures for its way.
  const run = createStages(deps).reduceRight<Next>((next, stage) => (state) => stage(state, next), endOfPipeline);
  const { hide } = deps;
  if (!hide) return (call, view) => run(new CallState(call, view));
  return async (call, view) => {
    const outcome = await run(new CallState(call, view, hide));
    return outcome.ok ? outcome : withoutSecrets(outcome, hide);
  };
}

// A server may repeat in an error what it was sent. Its results are its own business and pass as they are.
function withoutSecrets(failure: Fail, hide: <T>(value: T) => T): Fail {
  const { message, details, result, rpcError } = failure;
  return {
    ...failure,
    message: hide(message),
    ...(details && { details: hide(details) }),
    ...(result && { result: hide(result) }),
    ...(rpcError && { rpcError: hide(rpcError) }),
  };
}

function endOfPipeline(): Promise<Outcome> {
  throw new TypeError("The last stage of the pipeline must answer.");
}
