import type { DiscreteProgram, Program } from "../programs/program.ts";
import { jax } from "./jax.ts";
import { numpy } from "./numpy.ts";
import { pymdp007 } from "./pymdp-0-0-7.ts";
import { pymdp } from "./pymdp.ts";
import { pytorch } from "./pytorch.ts";
import { rxinfer } from "./rxinfer.ts";
import { stan } from "./stan.ts";
import type { RenderOptions, RenderTarget, TargetSetting } from "./target.ts";
import type { Settings } from "../settings/settings.ts";
import { SIMULATION_LIMITS } from "../simulate/limits.ts";
import { ProgramError } from "../programs/program-error.ts";
import { withHabits } from "../programs/habits.ts";
import { expectPlanning } from "../programs/planning.ts";

/** All targets, by their names in `target_format`. */
export const RENDER_TARGETS = {
  pymdp,
  rxinfer,
  pymdp_0_0_7: pymdp007,
  jax,
  numpy,
  pytorch,
  stan,
} as const satisfies Readonly<Record<string, RenderTarget>>;

export type RenderTargetName = keyof typeof RENDER_TARGETS;

/** A program in the language of a target, with notes on the parts of the model that it does not use. */
export interface RenderedText {
  readonly text: string;
  readonly notes: readonly string[];
}

/**
 * Renders a program in the language of a target. Throws a `ProgramError` that names the construct that the target
 * cannot express.
 */
export function renderProgram(
  program: Program,
  target: RenderTargetName,
  options: Partial<RenderOptions> = {},
): string {
  return renderWithNotes(program, target, options).text;
}

/** Like `renderProgram`, but also returns the notes that the program contains. */
export function renderWithNotes(
  program: Program,
  target: RenderTargetName,
  options: Partial<RenderOptions> = {},
): RenderedText {
  const { gamma, policyLength = program.settings.policyLength ?? 1 } = options;
  expectPlanning({ policyLength, gamma });
  if (policyLength > SIMULATION_LIMITS.policyLength)
    throw new ProgramError(
      "policy_length",
      `A policy has at most ${SIMULATION_LIMITS.policyLength} actions, but ${policyLength} are requested.`,
    );
  const notes = [...program.notes, ...targetNotes(program, RENDER_TARGETS[target])];
  const prepared = { ...(program.kind === "discrete" ? withHabits(program, policyLength) : program), notes };
  const text = RENDER_TARGETS[target].write(prepared, { policyLength, ...(gamma === undefined ? {} : { gamma }) });
  return { text, notes };
}

/** Returns notes on settings of the model that the target cannot use. */
function targetNotes(program: Program, { title, lacks = [] }: RenderTarget): readonly string[] {
  const { settings } = program;
  const { steps, seed, alpha, actionSelection } = settings;
  const isStochastic = actionSelection === "stochastic";
  const labels =
    program.kind === "discrete" && program.agents.some(({ factors }) => factors.some((factor) => factor.actionLabels));
  const stated: Readonly<Record<TargetSetting, string>> = {
    run: [...(steps === undefined ? [] : ["steps"]), ...(seed === undefined ? [] : ["seed"])].join(" and "),
    stochastic: isStochastic ? "action selection" : "",
    labels: labels ? "action labels" : "",
    weights: uncommonWeights(settings).join(" and "),
    parameterGain: parameterGainName(settings),
  };
  const unlabelled = program.kind === "discrete" ? unusedLabels(program) : [];
  const missing = [...lacks.map((setting) => stated[setting]).filter((name) => name !== ""), ...unlabelled];
  return [
    ...(missing.length > 0
      ? [`The program for ${title} does not use these settings of the model: ${missing.join(", ")}.`]
      : []),
    ...(alpha !== undefined && (!isStochastic || lacks.includes("stochastic")) ? [UNUSED_ALPHA] : []),
  ];
}

const UNUSED_ALPHA = "α is not used, because the program chooses the best action.";

function parameterGainName({ hasParameterGain = false }: Settings): string {
  return hasParameterGain ? "the information gain about parameters" : "";
}

/** Returns the names of weights that a library with flags alone cannot use. */
function uncommonWeights({ epistemicWeight = 1, pragmaticWeight = 1 }: Settings): readonly string[] {
  const stated = { "epistemic weight": epistemicWeight, "pragmatic weight": pragmaticWeight };
  return Object.entries(stated).flatMap(([name, weight]) => (weight === 0 || weight === 1 ? [] : [name]));
}

/** Returns the kinds of stated labels that no program prints: those of states and outcomes. */
function unusedLabels({ agents }: DiscreteProgram): readonly string[] {
  return [
    ...(agents.some(({ factors }) => factors.some(({ stateLabels }) => stateLabels)) ? ["state labels"] : []),
    ...(agents.some(({ modalities }) => modalities.some(({ labels }) => labels)) ? ["observation labels"] : []),
  ];
}
