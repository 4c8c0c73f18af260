import { isLinearRun, type FilteredStep, type LinearSimulation, type SimulatedAgent } from "./simulation.ts";
import type { DiscreteSimulation, SimulatedFactor, SimulatedStep, Simulation } from "./simulation.ts";
import { highest } from "./vectors.ts";

/** Maximum number of rows in the table. The data has all rows. */
const MAX_ROWS = 200;

/** Returns a run as data with the field names of the tools' results. */
export function toRunData(simulation: Simulation): object {
  const { title, method, seed, steps, notes } = simulation;
  if (isLinearRun(simulation)) return { title, library: method, seed, steps, notes, agents: [filterData(simulation)] };
  const { policyLength, gamma, agents } = simulation;
  const settings = { policy_length: policyLength, gamma };
  return { title, library: method, seed, steps, ...settings, notes, agents: agents.map(agentData) };
}

function agentData({ name, factors, modalities, steps, learntD }: SimulatedAgent): object {
  return {
    name,
    factors: factors.map(({ actionLabels, stateLabels, ...factor }) => ({
      ...factor,
      ...(actionLabels ? { action_labels: actionLabels } : {}),
      ...(stateLabels ? { state_labels: stateLabels } : {}),
    })),
    modalities,
    steps: steps.map((step) => stepData(step, factors)),
    ...(learntD ? { learnt_D: learntD.map((vector) => (vector ? [...vector] : null)) } : {}),
  };
}

function stepData(row: SimulatedStep, factors: readonly SimulatedFactor[]): object {
  const { step, states, observation, beliefs, freeEnergy, policies, scores, action } = row;
  const { epistemic, pragmatic, parameters } = row;
  return {
    step,
    ...(states ? { states } : {}),
    observation,
    beliefs: beliefs.map((belief) => [...belief]),
    free_energy: freeEnergy,
    policies: [...policies],
    negative_expected_free_energy: [...scores],
    ...(epistemic ? { epistemic_value: [...epistemic] } : {}),
    ...(pragmatic ? { pragmatic_value: [...pragmatic] } : {}),
    ...(parameters ? { parameter_information_gain: [...parameters] } : {}),
    action,
    ...(factors.some(({ actionLabels }) => actionLabels) ? { action_labels: actionNames(row, factors) } : {}),
  };
}

function filterData({ filtered }: LinearSimulation): object {
  return { name: "", factors: [], modalities: [], steps: filtered.map(filteredData) };
}

function filteredData({ step, state, observation, mean, covariance, freeEnergy }: FilteredStep): object {
  const size = mean.length;
  return {
    step,
    ...(state ? { state: [...state] } : {}),
    observation: [...observation],
    mean: [...mean],
    covariance: Array.from(mean, (_, row) => [...covariance.subarray(row * size, (row + 1) * size)]),
    free_energy: freeEnergy,
  };
}

/** Returns a run as a text table with a line for each step. */
export function toRunText(simulation: Simulation): string {
  const { title, method, seed, notes } = simulation;
  const lines = isLinearRun(simulation) ? filterLines(simulation) : simulation.agents.flatMap(agentLines);
  return [`${title}: ${method}, seed ${seed}${plannedText(simulation)}`, ...notes, ...lines].join("\n");
}

function plannedText(simulation: Simulation): string {
  if (isLinearRun(simulation)) return "";
  const { policyLength, gamma } = simulation satisfies DiscreteSimulation;
  return `, ${policyLength === 1 ? "policies of 1 action" : `policies of ${policyLength} actions`}, γ ${gamma}`;
}

function agentLines({ name, factors, modalities, steps }: SimulatedAgent): readonly string[] {
  const labelled = (labels: readonly string[] | undefined, place: number): string => labels?.[place] ?? String(place);
  const rows = steps
    .slice(0, MAX_ROWS)
    .map((row) => [
      String(row.step),
      row.states ? row.states.map((state, at) => labelled(factors[at]!.stateLabels, state)).join(" ") : "-",
      row.observation.map((outcome, at) => labelled(modalities[at]!.labels, outcome)).join(" "),
      row.beliefs
        .map(
          (belief, at) =>
            `${labelled(factors[at]!.stateLabels, highest(belief))} (${belief[highest(belief)]!.toFixed(3)})`,
        )
        .join("  "),
      actionNames(row, factors).join(" "),
      row.freeEnergy.toFixed(3),
    ]);
  const lines = tableLines(["step", "state", "seen", "believed", "action", "F"], rows);
  return [...(name === "" ? [] : [`${name}:`]), ...lines, ...moreLines(steps.length)];
}

function actionNames({ action }: SimulatedStep, factors: readonly SimulatedFactor[]): readonly string[] {
  return action.map((one, factor) => factors[factor]!.actionLabels?.[one] ?? String(one));
}

function filterLines({ filtered }: LinearSimulation): readonly string[] {
  const shown = (values: Float64Array): string => Array.from(values, (value) => value.toFixed(3)).join(" ");
  const rows = filtered
    .slice(0, MAX_ROWS)
    .map(({ step, state, observation, mean, covariance, freeEnergy }) => [
      String(step),
      state ? shown(state) : "-",
      shown(observation),
      Array.from(
        mean,
        (value, at) => `${value.toFixed(3)} (±${Math.sqrt(covariance[at * (mean.length + 1)]!).toFixed(3)})`,
      ).join("  "),
      freeEnergy.toFixed(3),
    ]);
  return [...tableLines(["step", "state", "seen", "believed", "F"], rows), ...moreLines(filtered.length)];
}

function moreLines(steps: number): readonly string[] {
  return steps > MAX_ROWS ? [`… ${steps - MAX_ROWS} more steps`] : [];
}

function tableLines(columns: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = columns.map((column, at) => Math.max(column.length, ...rows.map((row) => row[at]!.length)));
  return [columns, ...rows].map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
}
