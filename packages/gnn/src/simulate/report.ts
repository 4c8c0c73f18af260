import type { SimulatedAgent, SimulatedStep, Simulation } from "./simulate.ts";
import { highest } from "./vectors.ts";

/** Rows of the table that people read; the rest is in the data. */
const MAX_ROWS = 200;

/** A run as data, in the names of the tools' results. */
export function toRunData({ title, method, seed, steps, notes, agents }: Simulation): object {
  return { title, library: method, seed, steps, notes, agents: agents.map(agentData) };
}

function agentData({ name, factors, modalities, steps, learntD }: SimulatedAgent): object {
  return {
    name,
    factors,
    modalities,
    steps: steps.map(stepData),
    ...(learntD ? { learnt_D: learntD.map((vector) => (vector ? [...vector] : null)) } : {}),
  };
}

function stepData({ step, states, observation, beliefs, policies, scores, action }: SimulatedStep): object {
  return {
    step,
    ...(states ? { states } : {}),
    observation,
    beliefs: beliefs.map((belief) => [...belief]),
    policies: [...policies],
    negative_expected_free_energy: [...scores],
    action,
  };
}

/** A run as a table a person reads: each step in a line. */
export function toRunText({ title, method, seed, notes, agents }: Simulation): string {
  const heading = `${title}: ${method}, seed ${seed}`;
  return [heading, ...notes, ...agents.flatMap(agentLines)].join("\n");
}

function agentLines({ name, steps }: SimulatedAgent): readonly string[] {
  const columns = ["step", "state", "seen", "believed", "action"];
  const rows = steps
    .slice(0, MAX_ROWS)
    .map(({ step, states, observation, beliefs, action }) => [
      String(step),
      states ? states.join(" ") : "-",
      observation.join(" "),
      beliefs.map((belief) => `${highest(belief)} (${belief[highest(belief)]!.toFixed(3)})`).join("  "),
      action.join(" "),
    ]);
  const widths = columns.map((column, at) => Math.max(column.length, ...rows.map((row) => row[at]!.length)));
  const lines = [columns, ...rows].map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
  const more = steps.length > MAX_ROWS ? [`… ${steps.length - MAX_ROWS} more steps`] : [];
  return [...(name === "" ? [] : [`${name}:`]), ...lines, ...more];
}
