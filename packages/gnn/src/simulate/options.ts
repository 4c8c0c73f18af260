import { withHabits } from "../programs/habits.ts";
import { expectPlanning, expectWhole } from "../programs/planning.ts";
import type { DiscreteProgram, Program } from "../programs/program.ts";
import type { ActionSelection } from "../settings/settings.ts";
import { SIMULATION_LIMITS } from "./limits.ts";
import type { Method } from "./method.ts";
import { pymdp007 } from "./pymdp-0-0-7.ts";
import { pymdp1 } from "./pymdp-1.ts";
import { replayedSteps, type Replay } from "./replay.ts";

/** Libraries whose agents are simulated, with their defaults. */
export const METHODS = { "pymdp-1": pymdp1, "pymdp-0.0.7": pymdp007 } as const satisfies Record<string, Method>;
export type MethodName = keyof typeof METHODS;

/** Options of a simulation. Each default is what the model states, or else the value named here. */
export interface SimulateOptions {
  /** @default 20 */
  readonly steps?: number;
  /** @default 0 */
  readonly seed?: number;
  /** @default "pymdp-1" */
  readonly method?: MethodName;
  /** Actions of a policy. @default 1 */
  readonly policyLength?: number;
  /** Precision of policies. @default that of the library: 1, and 16 of 0.0.7 */
  readonly gamma?: number;
  /** Precision of actions that are drawn. @default that of the library: 1, and 16 of 0.0.7 */
  readonly alpha?: number;
  /** The best action, or one drawn by how good they are. @default "deterministic" */
  readonly actionSelection?: ActionSelection;
  /** Observations that replace those of the model's own world: an outcome for each modality at each step. */
  readonly observations?: Replay;
  /** Actions that replace the agent's own. */
  readonly actions?: Replay;
  readonly signal?: AbortSignal;
  readonly onStep?: (done: number, total: number) => void;
}

/** Options with the settings of the model and the defaults of the library. */
export interface RunSettings {
  readonly steps: number;
  readonly seed: number;
  readonly method: MethodName;
  readonly policyLength: number;
  readonly gamma: number;
  readonly alpha: number;
  readonly isStochastic: boolean;
  readonly iterations: number;
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

/** Returns the settings of a source that are not undefined. */
function stated<T extends SettingSource>(source: T): T {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined)) as T;
}

/** Returns notes on settings of the model that this run does not follow because of a limit or another setting. */
export function settingNotes({ settings }: Program, { steps, isStochastic }: RunSettings): readonly string[] {
  const { steps: stated = steps, alpha } = settings;
  return [
    ...(stated > SIMULATION_LIMITS.steps && steps === SIMULATION_LIMITS.steps
      ? [`The model states ${stated.toLocaleString("en")} steps; a run has at most ${steps.toLocaleString("en")}.`]
      : []),
    ...(alpha !== undefined && !isStochastic ? ["α is not used, because the agent takes the best action."] : []),
  ];
}

/** Returns the program with E for policies of the length of the run. */
export function preparedProgram(program: DiscreteProgram, { policyLength }: RunSettings): DiscreteProgram {
  return withHabits(program, policyLength);
}
