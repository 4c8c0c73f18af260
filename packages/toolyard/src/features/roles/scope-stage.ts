import type { ScopeRules } from "../../core/ports/scope-rules.ts";
import type { Stage } from "../../pipeline/state.ts";

/** Creates the stage that refuses a call if its caller lacks a scope that the operation needs. */
export function scopeStage(rules: Pick<ScopeRules, "isEmpty" | "refusal">): Stage {
  return (state, next) => {
    const { principal } = state.call;
    // A caller without an identity needs no scopes.
    if (!principal.identity || rules.isEmpty) return next(state);
    const { subject, name } = state.found;
    const refusal = rules.refusal(principal, subject, name);
    return refusal ? Promise.resolve(refusal) : next(state);
  };
}
