import type { DiscreteAgent, DiscreteProgram } from "./program.ts";
import { ProgramError } from "./program-error.ts";

/** Throws if an agent of PyMDP 0.0.7 would behave differently from the model. */
export function expectLegacy({ agents, window, settings }: DiscreteProgram): void {
  if (window !== undefined)
    throw new ProgramError(
      "inference_algo",
      "inference_algo is MMP, which PyMDP 0.0.7 applies to each policy separately, over future steps. Use PyMDP 1.x.",
    );
  const coupled = agents.flatMap(({ factors }) => factors).find(({ from }) => from.length > 1);
  if (coupled)
    throw new ProgramError(
      coupled.name,
      `${coupled.name} depends on the states of several factors, but PyMDP 0.0.7 supports only a factor's own ` +
        "states. " +
        "Use PyMDP 1.x.",
    );
  // PyMDP 0.0.7 defines each likelihood over all factors, so it would learn dependencies that the model excludes.
  for (const { modalities, factors } of agents)
    for (const { name, countsA, factors: on } of modalities)
      if (countsA && on.length < factors.length)
        throw new ProgramError(
          `dirichlet_${name}`,
          `dirichlet_${name} is learnt over ${on.length} of ${factors.length} factors, but PyMDP 0.0.7 learns over ` +
            "all factors. Use PyMDP 1.x.",
        );
  if (settings.hasParameterGain) agents.forEach(expectWholeGain);
}

/** Throws if the agent learns only some A, or only some B: PyMDP 0.0.7 adds the gain of the others. */
function expectWholeGain({ modalities, factors }: DiscreteAgent): void {
  const learnt = [modalities.map(({ countsA }) => countsA), factors.map(({ countsB }) => countsB)];
  if (learnt.every((counts) => counts.every(Boolean) || !counts.some(Boolean))) return;
  throw new ProgramError(
    "use_param_info_gain",
    "use_param_info_gain is True, and the model learns only some A or only some B; PyMDP 0.0.7 would add the gain of " +
      "all. Use PyMDP 1.x.",
  );
}
