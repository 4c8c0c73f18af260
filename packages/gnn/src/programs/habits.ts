import type { DiscreteProgram } from "./program.ts";
import { ProgramError } from "./program-error.ts";

/** E has a number for each policy. */
export function expectHabits({ agents }: DiscreteProgram, policyLength: number): void {
  for (const { name, factors, E } of agents) {
    const policies = factors.reduce((product, { actions }) => product * actions, 1) ** policyLength;
    if (!E || E.length === policies) continue;
    throw new ProgramError(
      "E",
      `E${name === "" ? "" : `_${name}`} has ${E.length} numbers, and there are ${policies} policies of ` +
        `${policyLength} action${policyLength > 1 ? "s" : ""}.`,
    );
  }
}
