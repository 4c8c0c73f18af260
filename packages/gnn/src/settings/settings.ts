import { timeOf, type ModelView } from "../language/view.ts";
import { SETTING_NAMES } from "./names.ts";
import { SettingStatements, type SettingProblem } from "./statements.ts";

export const ACTION_SELECTIONS = ["deterministic", "stochastic"] as const;
export type ActionSelection = (typeof ACTION_SELECTIONS)[number];

/** A model's statements about its run. Options of a call override them. */
export interface Settings {
  /** Number of steps of a run: `num_timesteps`, or else ModelTimeHorizon. */
  readonly steps?: number;
  readonly seed?: number;
  /** Number of actions in a policy. */
  readonly policyLength?: number;
  /** Precision of policies. */
  readonly gamma?: number;
  /** Precision (inverse temperature) with which actions are sampled. */
  readonly alpha?: number;
  readonly actionSelection?: ActionSelection;
  /** Maximum number of iterations of an inference. */
  readonly iterations?: number;
  /** Precision of the agent's likelihoods: their exponent before normalisation. */
  readonly omega?: number;
  /** Factor of the counts that one step adds to the Dirichlet counts of A, of B, and of D. */
  readonly learningRateA?: number;
  readonly learningRateB?: number;
  readonly learningRateD?: number;
  /** Weight of the information gain about states in the score of a policy; 0 omits it. */
  readonly epistemicWeight?: number;
  /** Weight of the expected preference in the score of a policy; 0 omits it. */
  readonly pragmaticWeight?: number;
  /** True if the score of a policy includes the information gain about learnt A and B. */
  readonly hasParameterGain?: boolean;
}

/** The settings of a model, and its statements that could not be used. */
export interface StatedSettings {
  readonly settings: Settings;
  readonly problems: readonly SettingProblem[];
  /** Notes about contradictory statements. */
  readonly notes: readonly string[];
  readonly usedParameters: ReadonlySet<string>;
  readonly usedValues: ReadonlySet<string>;
}

const COUNT = { whole: true, lowest: 1 } as const;
const PRECISION = { whole: false, lowest: 0 } as const;
/** Values of a horizon without an end, which is not a number of steps. */
const ENDLESS = /^"?(?:unbounded|infinite|infinity|inf|∞)/i;

/** Settings of every run. */
export const RUN_SETTINGS = ["steps", "seed"] as const;
/** Names that are combined with another setting: β with γ, a common learning rate, and the flags of weights. */
const COMBINED: ReadonlySet<string> = new Set(["beta", "learningRate", "hasStateGain", "hasUtility"]);
const ALL_SETTINGS = Object.keys(SETTING_NAMES).filter((name) => !COMBINED.has(name)) as readonly (keyof Settings)[];

/** Reads all or some settings of a model. */
export function readSettings(view: ModelView, wanted: readonly (keyof Settings)[] = ALL_SETTINGS): StatedSettings {
  const statements = new SettingStatements(view);
  const readers: { readonly [K in keyof Required<Settings>]: () => Settings[K] | undefined } = {
    steps: () => stepsOf(view, statements),
    seed: () => statements.number(SETTING_NAMES.seed, { whole: true, lowest: 0 })?.value,
    policyLength: () => statements.number(SETTING_NAMES.policyLength, COUNT)?.value,
    gamma: () => gammaOf(statements),
    alpha: () => statements.number(SETTING_NAMES.alpha, PRECISION)?.value,
    actionSelection: () => statements.word(SETTING_NAMES.actionSelection, ACTION_SELECTIONS),
    iterations: () => statements.number(SETTING_NAMES.iterations, COUNT)?.value,
    omega: () => statements.number(SETTING_NAMES.omega, PRECISION)?.value,
    learningRateA: () => learningRateOf(statements, "learningRateA"),
    learningRateB: () => learningRateOf(statements, "learningRateB"),
    learningRateD: () => learningRateOf(statements, "learningRateD"),
    epistemicWeight: () => weightOf(statements, "epistemicWeight", "hasStateGain"),
    pragmaticWeight: () => weightOf(statements, "pragmaticWeight", "hasUtility"),
    // False is the default, and would only repeat it.
    hasParameterGain: () => statements.flag(SETTING_NAMES.hasParameterGain) || undefined,
  };
  const given = wanted.map((name) => [name, readers[name]()] as const).filter(([, value]) => value !== undefined);
  const { problems, notes, usedParameters, usedValues } = statements;
  return { settings: Object.fromEntries(given) as Settings, problems, notes, usedParameters, usedValues };
}

function stepsOf(view: ModelView, statements: SettingStatements): number | undefined {
  const stated = statements.number(SETTING_NAMES.steps, COUNT);
  const horizon = horizonOf(view, statements);
  if (stated && horizon !== undefined && horizon !== stated.value)
    statements.notes.push(
      `${stated.name} is ${stated.value} but ModelTimeHorizon is ${horizon}; the program uses ${stated.name}.`,
    );
  return stated?.value ?? horizon;
}

/** Returns ModelTimeHorizon in steps: a number, or the value of a parameter. */
function horizonOf(view: ModelView, statements: SettingStatements): number | undefined {
  const { horizon, domain } = timeOf(view);
  if (domain === "Continuous")
    statements.notes.push("Time is Continuous in the model, but the program uses discrete steps.");
  if (horizon === undefined || ENDLESS.test(horizon)) return undefined;
  const parameter = statements.parameter(horizon);
  if (parameter) statements.usedParameters.add(horizon);
  const number = parameter?.value.kind === "number" ? parameter.value.value : Number(horizon);
  if (Number.isSafeInteger(number) && number > 0) return number;
  statements.notes.push(`ModelTimeHorizon is ${JSON.stringify(horizon)}, which is not a whole number of steps.`);
  return undefined;
}

/** Returns γ, or 1/β as in SPM and PyMDP, where β is the inverse of the precision. */
function gammaOf(statements: SettingStatements): number | undefined {
  const gamma = statements.number(SETTING_NAMES.gamma, PRECISION);
  const beta = statements.number(SETTING_NAMES.beta, { whole: false, lowest: 0, isAbove: true });
  if (gamma && beta && Math.abs(gamma.value * beta.value - 1) > 1e-6)
    statements.notes.push(
      `${gamma.name} is ${gamma.value}, and ${beta.name} is ${beta.value}, the inverse of another precision; ` +
        `the program uses ${gamma.name}.`,
    );
  return gamma?.value ?? (beta && 1 / beta.value);
}

type RateName = "learningRateA" | "learningRateB" | "learningRateD";

/** Returns the learning rate of a letter, or else the common one. The default of 1 is omitted. */
function learningRateOf(statements: SettingStatements, name: RateName): number | undefined {
  const own = statements.number(SETTING_NAMES[name], PRECISION);
  const common = statements.number(SETTING_NAMES.learningRate, PRECISION);
  return differing((own ?? common)?.value);
}

/** Returns the weight of a part of the score: 0 if its flag is False. The default of 1 is omitted. */
function weightOf(
  statements: SettingStatements,
  name: "epistemicWeight" | "pragmaticWeight",
  flag: "hasStateGain" | "hasUtility",
): number | undefined {
  const weight = statements.number(SETTING_NAMES[name], PRECISION);
  if (statements.flag(SETTING_NAMES[flag]) !== false) return differing(weight?.value);
  if (weight && weight.value !== 0)
    statements.notes.push(`${weight.name} is ${weight.value}, but is not used, because its part is switched off.`);
  return 0;
}

function differing(factor: number | undefined): number | undefined {
  return factor === 1 ? undefined : factor;
}
