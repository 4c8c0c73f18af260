import { expectLegacy } from "../programs/legacy.ts";
import type { DiscreteProgram, Program } from "../programs/program.ts";
import { expectBounds, hasRoomForParts } from "./bounds.ts";
import { DiscreteRun } from "./discrete-run.ts";
import { runFilter } from "./linear-run.ts";
import { preparedProgram, resolveSettings, settingNotes, type RunSettings, type SimulateOptions } from "./options.ts";
import { replaysOf } from "./replay.ts";
import type { DiscreteSimulation, Simulation } from "./simulation.ts";

/**
 * Runs a model: agents with discrete states, or a Kalman filter. Rejects with a `ProgramError` if the model cannot be
 * run or the run would take too long, and with the reason of the signal if it is aborted.
 *
 * @example
 * ```ts
 * import { newModel, parseGnn, readProgram, simulate, viewOf } from "@toolyard/gnn";
 *
 * const options = { name: "Thermostat", states: 3, observations: 3, actions: 2 };
 * const [model] = parseGnn(newModel("pomdp", options)).file.models;
 * console.log(await simulate(readProgram(viewOf(model!)), { steps: 10, seed: 1 }));
 * ```
 */
export async function simulate(program: Program, options: SimulateOptions = {}): Promise<Simulation> {
  const settings = resolveSettings(program, options);
  return program.kind === "discrete"
    ? simulateAgents(program, settings, options)
    : runFilter(program, settings, options);
}

async function simulateAgents(
  program: DiscreteProgram,
  settings: RunSettings,
  options: SimulateOptions,
): Promise<DiscreteSimulation> {
  expectBounds(program, settings);
  const replays = replaysOf(program, options, settings.steps);
  const prepared = preparedProgram(program, settings);
  if (settings.method === "pymdp-0.0.7") expectLegacy(program);
  const hasParts = hasRoomForParts(program, settings);
  const { signal, onStep } = options;
  const run = new DiscreteRun(prepared, { settings, replays, hasParts, signal, onStep });
  const { method, seed, steps, policyLength, gamma } = settings;
  const notes = [
    ...program.notes,
    ...settingNotes(program, settings),
    ...(hasParts ? [] : ["The parts of the expected free energy are omitted, because the run has too many policies."]),
  ];
  return {
    kind: "discrete",
    title: program.title,
    method,
    seed,
    steps,
    policyLength,
    gamma,
    notes,
    agents: await run.whole(),
  };
}
