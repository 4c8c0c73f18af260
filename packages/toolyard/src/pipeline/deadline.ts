import { cancellationOf } from "../core/calls/call.ts";
import { Deadline, type Budget } from "../core/calls/deadline.ts";
import { FailError } from "../core/errors.ts";
import type { Fail } from "../core/calls/outcome.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import type { ToolLimits } from "../core/sources/records.ts";
import type { LimitsOptions } from "./options.ts";
import { reportDownload } from "./download-progress.ts";
import type { PipelineDeps } from "./ports.ts";
import type { CallState, Stage } from "./state.ts";

/**
 * Creates the deadline of a call. All inner stages run within it, and waiting counts. The hub's budget applies until
 * the target is known; then `resolve` replaces it by the target's budget. A caller's deadline applies in addition
 * (C20).
 */
export function deadlineStage({ options, whyLate, waitsFor }: PipelineDeps): Stage {
  const budget: Budget = Object.freeze({ idleMs: options.callTimeoutMs, totalMs: options.totalTimeoutMs });
  const told = (failure: Fail, state: CallState): Fail => {
    if (failure.kind !== "timeout") return failure;
    return whyLate?.(state.call, state.isResolved ? state.found.provider : undefined) ?? failure;
  };
  return async (state, next) => {
    state.deadline = new Deadline(budget, state.call.deadline, cancellationOf(state.call));
    const stopReports = waitsFor && state.call.wants.progress ? reportDownload(state, waitsFor) : undefined;
    try {
      const outcome = await next(state);
      return outcome.ok ? outcome : told(outcome, state);
    } catch (error) {
      if (error instanceof FailError) return told(error.failure, state);
      throw error;
    } finally {
      stopReports?.();
      state.deadline.clear();
    }
  };
}

/**
 * Returns the budget of a target: its own, otherwise its source's, otherwise the hub's. Returns `undefined` if the
 * hub's budget applies unchanged.
 */
export function budgetOf(
  target: CallTarget,
  source: ToolLimits | undefined,
  options: LimitsOptions,
): Budget | undefined {
  const own = target.type === "tool" ? target.tool.limits : undefined;
  const idleMs = own?.timeoutMs ?? source?.timeoutMs;
  const totalMs = own?.totalTimeoutMs ?? source?.totalTimeoutMs;
  if (idleMs === undefined && totalMs === undefined) return undefined;
  const idle = idleMs ?? options.callTimeoutMs;
  // The total limit is at least as long as the idle limit, because otherwise the idle limit could never apply.
  return { idleMs: idle, totalMs: totalMs ?? Math.max(options.totalTimeoutMs, idle) };
}
