import type { Parameter } from "../language/model.ts";
import type { ModelView } from "../language/view.ts";
import { isKnownParameter } from "./known.ts";
import { PRECISION_NAMES } from "./names.ts";

/**
 * Returns the parameters of a model: ModelParameters, and known parameters in InitialParameterization without a
 * declaration, such as `num_timesteps = 15`. ModelParameters has priority.
 */
export function statedParameters({ parameters, values, variables }: ModelView): readonly Parameter[] {
  const declared = new Set(variables.map(({ name }) => name.text));
  const misplaced = values
    .filter(({ name: { text } }) => !declared.has(text) && !PRECISION_NAMES.has(text) && isKnownParameter(text))
    .map(({ name, value, span }): Parameter => ({ kind: "parameter", key: name, value, span }));
  return [...misplaced, ...parameters];
}
