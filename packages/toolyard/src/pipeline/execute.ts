import { FailError } from "../core/errors.ts";
import type { Outcome } from "../core/calls/outcome.ts";
import type { Stage } from "./state.ts";
import { abortFailure, orAborted } from "../core/timing/wait.ts";

/**
 * Passes the call to its provider. Does not wait for a provider that ignores its signal: the caller gets its answer in
 * time.
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
      // An error that is thrown after the cancellation is its consequence, so the cancellation is reported.
      if (cancellation.aborted) return abortFailure(cancellation).failure;
      throw error;
    }
  };
}
