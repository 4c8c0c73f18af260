import type { ScopeRules } from "../../core/ports/scope-rules.ts";
import type { Stage } from "../../pipeline/state.ts";

/** Creates the stage that refuses a call if its caller lacks a scope that the operation needs. */
export function scopeStage(rules: Pick<ScopeRules, "isEmpty" | "refusal">): Stage {
  return (state, next) => {
    if (rules.isEmpty) return next(state);
    const { subject, name } = state.found;
    const refusal = rules.refusal(state.call.principal, subject, name);
    return refusal ? Promise.resolve(refusal) : next(state);
  };
}
