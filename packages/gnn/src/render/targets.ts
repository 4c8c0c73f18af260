import type { Program } from "../programs/program.ts";
import { jax } from "./jax.ts";
import { numpy } from "./numpy.ts";
import { pymdp007 } from "./pymdp-0-0-7.ts";
import { pymdp } from "./pymdp.ts";
import { pytorch } from "./pytorch.ts";
import { rxinfer } from "./rxinfer.ts";
import { stan } from "./stan.ts";
import type { RenderOptions, RenderTarget } from "./target.ts";
import { SIMULATION_LIMITS } from "../simulate/limits.ts";
import { ProgramError } from "../programs/program-error.ts";
import { expectHabits } from "../programs/habits.ts";
import { expectPlanning } from "../programs/planning.ts";

/** Every target, under the name that `target_format` knows it by. */
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

/** A program in the language of a target. Throws a `ProgramError` that names what the target cannot express. */
export function renderProgram(
  program: Program,
  target: RenderTargetName,
  { policyLength = 1, gamma }: Partial<RenderOptions> = {},
): string {
  expectPlanning({ policyLength, gamma });
  if (policyLength > SIMULATION_LIMITS.policyLength)
    throw new ProgramError("policy_length", `A policy has at most ${SIMULATION_LIMITS.policyLength} actions.`);
  if (program.kind === "discrete") expectHabits(program, policyLength);
  return RENDER_TARGETS[target].write(program, { policyLength, ...(gamma === undefined ? {} : { gamma }) });
}
