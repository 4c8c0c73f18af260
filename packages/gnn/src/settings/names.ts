/** Names of each setting. If a model uses several, the first applies. */
export const SETTING_NAMES = {
  steps: ["num_timesteps", "n_timesteps", "timesteps", "num_steps", "n_steps", "nr_steps", "ModelTimeHorizon"],
  seed: ["random_seed", "seed"],
  policyLength: ["policy_len", "policy_length", "planning_horizon"],
  gamma: ["gamma", "γ", "policy_precision"],
  beta: ["beta", "β"],
  alpha: ["alpha", "α", "action_precision"],
  omega: ["omega", "ω", "sensory_precision"],
  iterations: ["num_iter", "inference_iterations"],
  actionSelection: ["action_selection"],
  learningRate: ["learning_rate"],
  learningRateA: ["lr_pA", "lr_A", "learning_rate_A"],
  learningRateB: ["lr_pB", "lr_B", "learning_rate_B"],
  learningRateD: ["lr_pD", "lr_D", "learning_rate_D"],
  epistemicWeight: ["epistemic_weight"],
  pragmaticWeight: ["pragmatic_weight", "instrumental_weight"],
  hasStateGain: ["use_states_info_gain", "use_states_info_gain_in_efe"],
  hasUtility: ["use_utility", "use_utility_in_efe"],
  hasParameterGain: ["use_param_info_gain", "use_param_info_gain_in_efe"],
} as const;

/** Names that are settings also if InitialParameterization assigns a value to them. */
export const PRECISION_NAMES: ReadonlySet<string> = new Set(["γ", "gamma", "β", "beta", "ω", "omega", "α", "alpha"]);

/** Names of parameters with labels. */
export const LABEL_NAMES = {
  actions: ["action_labels", "action_names"],
  states: ["state_labels", "state_names"],
  outcomes: ["observation_labels", "observation_names", "outcome_labels"],
} as const;

export type LabelKind = keyof typeof LABEL_NAMES;

const SETTINGS: ReadonlySet<string> = new Set(Object.values(SETTING_NAMES).flat());
const LABELS: ReadonlySet<string> = new Set(Object.values(LABEL_NAMES).flat());

/** Returns whether a parameter is a setting of a run. */
export function isSetting(name: string): boolean {
  return SETTINGS.has(name);
}

/** Returns whether a parameter has labels. */
export function isLabelParameter(name: string): boolean {
  return LABELS.has(name);
}
