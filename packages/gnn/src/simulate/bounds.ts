import { programCosts } from "../estimates/program-costs.ts";
import type { DiscreteProgram } from "../programs/program.ts";
import { ProgramError } from "../programs/program-error.ts";
import { SIMULATION_LIMITS } from "./limits.ts";
import type { RunSettings } from "./options.ts";

/** Throws a `ProgramError` if the run would exceed a limit. */
export function expectBounds(program: DiscreteProgram, settings: RunSettings): void {
  const { steps, policyLength, iterations } = settings;
  const { policies, operationsPerStep } = programCosts(program, { policyLength, iterations });
  const checks = [
    ["steps", steps, SIMULATION_LIMITS.steps],
    ["actions of a policy", policyLength, SIMULATION_LIMITS.policyLength],
    ["policies", policies, SIMULATION_LIMITS.policies],
    ["operations", operationsPerStep * steps, SIMULATION_LIMITS.operations],
    ["numbers of the result", numbersOf(program, settings, 2), SIMULATION_LIMITS.numbers],
  ] as const;
  for (const [what, wanted, limit] of checks)
    if (wanted > limit)
      throw new ProgramError(
        what,
        `The simulation needs ${Math.ceil(wanted).toLocaleString("en")} ${what}, more than ` +
          `${limit.toLocaleString("en")}. Use fewer steps, shorter policies (policy length now: ${policyLength}) or ` +
          "a smaller model.",
      );
}

/** Returns whether the parts of each score fit into the result limit. */
export function hasRoomForParts(program: DiscreteProgram, settings: RunSettings): boolean {
  return numbersOf(program, settings, settings.weights.hasParameterGain ? 5 : 4) <= SIMULATION_LIMITS.numbers;
}

function numbersOf(program: DiscreteProgram, { steps, policyLength }: RunSettings, perPolicy: number): number {
  const { policies } = programCosts(program, { policyLength });
  const states = program.agents.reduce(
    (sum, { factors }) => sum + factors.reduce((total, one) => total + one.states, 0),
    perPolicy * policies,
  );
  return states * steps;
}
