import type { Parameter } from "../language/model.ts";
import { timeOf, type ModelView } from "../language/view.ts";
import { flagOf } from "./flags.ts";
import { isLabelParameter, isSetting } from "./names.ts";
import { isOrderParameter } from "./orders.ts";

/** Parameters with the value that every program uses by default. */
const NEUTRAL: Readonly<Record<string, number | boolean>> = {
  epistemic_weight: 1,
  instrumental_weight: 1,
  pragmatic_weight: 1,
  batch_size: 1,
  learning_rate: 1,
  lr_pA: 1,
  lr_pB: 1,
  lr_pD: 1,
  use_states_info_gain: true,
  use_utility: true,
  use_param_info_gain: false,
  use_inductive: false,
};

/** Matches parameters that repeat a size of the tensors, by words in their names. */
const SIZE = /^(?:num|n|nr)_(?:.*_)?(?:agent|level|obs|outcome|observation|modalit|action|control|state|factor|polic)/;
const INFERENCE = /^(?:inference_algo|inference_algorithm|inference_horizon|timescale_ratio(?:_\d+_\d+)?)$/;

/** Returns whether a parameter repeats a size of the tensors. */
export function isSizeParameter(name: string): boolean {
  return SIZE.test(name.replace(/_per_.*$/, ""));
}

/** Returns whether a parameter has the value that every program uses anyway. */
export function isNeutral({ key: { text }, value }: Parameter): boolean {
  if (!Object.hasOwn(NEUTRAL, text)) return false;
  const neutral = NEUTRAL[text];
  return typeof neutral === "boolean" ? flagOf(value) === neutral : value.kind === "number" && value.value === neutral;
}

/** Returns the names of parameters that define lengths of variables, or the horizon. */
export function referencedNames(view: ModelView): ReadonlySet<string> {
  const names = view.variables.flatMap(({ dimensions }) =>
    dimensions.flatMap((dimension) => (dimension.kind === "reference" ? [dimension.name] : [])),
  );
  const { horizon } = timeOf(view);
  return new Set(horizon === undefined ? names : [...names, horizon]);
}

/** Returns whether programs recognise the name of a parameter. */
export function isKnownParameter(name: string): boolean {
  return (
    isSetting(name) || isOrderParameter(name) || isLabelParameter(name) || isSizeParameter(name) || INFERENCE.test(name)
  );
}

/** Returns the parameters that no program uses, regardless of the tensors. */
export function unknownParameters(view: ModelView): readonly Parameter[] {
  const referenced = referencedNames(view);
  return view.parameters.filter((parameter) => {
    const { text } = parameter.key;
    return !isKnownParameter(text) && !referenced.has(text) && !isNeutral(parameter);
  });
}
