import { fail } from "../../../packages/toolyard/src/core/calls/outcome.ts";
import type { Stage } from "../../../packages/toolyard/src/pipeline/state.ts";

/** Tools that require an approval, and those that have one. */
export class Approvals {
  readonly pending = new Set<string>();
  readonly #approved = new Set<string>();

  approve(tool: string): void {
    this.pending.delete(tool);
    this.#approved.add(tool);
  }

  needs(tool: string): boolean {
    if (this.#approved.has(tool)) return false;
    this.pending.add(tool);
    return true;
  }
}

/** Refuses calls of tools without their required approval. */
export function approvalStage(approvals: Approvals, tools: () => readonly string[]): Stage {
  return async (state, next) => {
    const { name } = state.found;
    if (!tools().includes(name) || !approvals.needs(name)) return next(state);
    return fail("denied", `${name} needs an approval. Ask the operator of this hub for it.`);
  };
}
