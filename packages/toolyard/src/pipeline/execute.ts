import { FailError } from "../core/errors.ts";
import type { Outcome } from "../core/calls/outcome.ts";
import type { Stage } from "./state.ts";
import { abortFailure, orAborted } from "../core/timing/wait.ts";

/**
 * Hands the call to its provider. One that does not heed its signal is not waited for: the caller has its answer in
 * time anyway.
 */
export function executeStage(): Stage {
  return async (state): Promise<Outcome> => {
    const { cancellation } = state.deadline;
    if (cancellation.aborted) return abortFailure(cancellation).failure;
    state.attempts += 1;
    try {
      return await orAborted(state.found.provider.call(state.resolvedCall), cancellation);
    } catch (error) {
      if (error instanceof FailError) return error.failure;
      // An error after the end of a call is a consequence of that end.
      if (cancellation.aborted) return abortFailure(cancellation).failure;
      throw error;
    }
  };
}
