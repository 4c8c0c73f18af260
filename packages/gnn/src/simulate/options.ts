import { withHabits } from "../programs/habits.ts";
import { expectPlanning, expectWhole } from "../programs/planning.ts";
import type { DiscreteProgram, Program } from "../programs/program.ts";
import type { ActionSelection } from "../settings/settings.ts";
import { SIMULATION_LIMITS } from "./limits.ts";
import type { Method } from "./method.ts";
import { pymdp007 } from "./pymdp-0-0-7.ts";
import { pymdp1 } from "./pymdp-1.ts";
import { replayedSteps, type Replay } from "./replay.ts";
import { learningRates, scoreWeights, type LearningRates, type ScoreWeights } from "./weights.ts";

/** Libraries whose agents are simulated, with their default values. */
export const METHODS = { "pymdp-1": pymdp1, "pymdp-0.0.7": pymdp007 } as const satisfies Record<string, Method>;
export type MethodName = keyof typeof METHODS;

/** Options of a simulation. Default of each: the value that the model states, or else the default stated here. */
export interface SimulateOptions {
  /** Number of steps. @default 20 */
  readonly steps?: number;
  /** Seed of the random numbers. @default 0 */
  readonly seed?: number;
  /** Library whose agent is simulated. @default "pymdp-1" */
  readonly method?: MethodName;
  /** Number of actions in a policy. @default 1 */
  readonly policyLength?: number;
  /** Precision of policies. @default that of the library: 1, or 16 for 0.0.7 */
  readonly gamma?: number;
  /** Precision with which actions are sampled. @default that of the library: 1, or 16 for 0.0.7 */
  readonly alpha?: number;
  /** Selection of actions: the best action, or an action sampled by its probability. @default "deterministic" */
  readonly actionSelection?: ActionSelection;
  /** Observations that replace those of the model's own world: an outcome for each modality at each step. */
  readonly observations?: Replay;
  /** Actions that replace the agent's own. */
  readonly actions?: Replay;
  readonly signal?: AbortSignal;
  readonly onStep?: (done: number, total: number) => void;
}

/** Resolved options: given options, settings of the model, and defaults of the library. */
export interface RunSettings {
  readonly steps: number;
  readonly seed: number;
  readonly method: MethodName;
  readonly policyLength: number;
  readonly gamma: number;
  readonly alpha: number;
  readonly isStochastic: boolean;
  readonly iterations: number;
  readonly learning: LearningRates;
  readonly weights: ScoreWeights;
}

const USUAL_STEPS = 20;

/** Returns the settings of a run. Throws a `ProgramError` for a number that is not allowed. */
export function resolveSettings({ settings }: Program, options: SimulateOptions): RunSettings {
  const method = options.method ?? "pymdp-1";
  const library: Method = METHODS[method];
  const usual = { steps: Math.min(settings.steps ?? USUAL_STEPS, SIMULATION_LIMITS.steps), seed: 0, policyLength: 1 };
  const replayed = replayedSteps(options);
  const { steps, seed, policyLength, gamma, alpha, actionSelection, iterations } = {
    ...usual,
    ...stated(library),
    ...stated(settings),
    steps: replayed ?? usual.steps,
    ...stated(options),
  };
  expectWhole("steps", steps, 1);
  expectWhole("seed", seed, 0);
  expectPlanning({ policyLength, gamma });
  return {
    steps,
    seed,
    method,
    policyLength,
    gamma,
    alpha,
    iterations,
    isStochastic: actionSelection === "stochastic",
    learning: learningRates(settings),
    weights: scoreWeights(settings),
  };
}

interface SettingSource {
  readonly steps?: number | undefined;
  readonly seed?: number | undefined;
  readonly policyLength?: number | undefined;
  readonly gamma?: number | undefined;
  readonly alpha?: number | undefined;
  readonly iterations?: number | undefined;
  readonly actionSelection?: ActionSelection | undefined;
}

/** Returns the settings of a source, without undefined ones. */
function stated<T extends SettingSource>(source: T): T {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined)) as T;
}

/** Returns notes on settings of the model that this run ignores because of a limit or another setting. */
export function settingNotes({ settings }: Program, { steps, isStochastic }: RunSettings): readonly string[] {
  const { steps: stated = steps, alpha } = settings;
  return [
    ...(stated > SIMULATION_LIMITS.steps && steps === SIMULATION_LIMITS.steps
      ? [`The model states ${stated.toLocaleString("en")} steps; a run has at most ${steps.toLocaleString("en")}.`]
      : []),
    ...(alpha !== undefined && !isStochastic ? ["α is not used, because the agent chooses the best action."] : []),
  ];
}

/** Returns the program with E expanded to policies of the run's length. */
export function preparedProgram(program: DiscreteProgram, { policyLength }: RunSettings): DiscreteProgram {
  return withHabits(program, policyLength);
}
