import type { DiscreteProgram } from "./program.ts";
import { ProgramError } from "./program-error.ts";

/** PyMDP 0.0.7 has every likelihood over all factors, and would learn what the model says does not matter. */
export function expectWholeCounts({ agents }: DiscreteProgram): void {
  for (const { modalities, factors } of agents)
    for (const { name, countsA, factors: on } of modalities)
      if (countsA && on.length < factors.length)
        throw new ProgramError(
          `dirichlet_${name}`,
          `dirichlet_${name} is learnt over ${on.length} of ${factors.length} factors, and PyMDP 0.0.7 learns over ` +
            "all of them. Use PyMDP 1.x.",
        );
}
