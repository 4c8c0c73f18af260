import type { ActorStep } from "./actor.ts";
import type { MethodName } from "./options.ts";

/** Result of a run. */
export type Simulation = DiscreteSimulation | LinearSimulation;

interface SimulationHeader {
  readonly title: string;
  readonly seed: number;
  readonly steps: number;
  readonly notes: readonly string[];
  /** Agents; empty for a linear-Gaussian model. */
  readonly agents: readonly SimulatedAgent[];
}

/** Returns whether a run is that of a Kalman filter. */
export function isLinearRun(simulation: Simulation): simulation is LinearSimulation {
  return simulation.kind === "linear-gaussian";
}

/** Run of agents with discrete states. */
export interface DiscreteSimulation extends SimulationHeader {
  readonly kind: "discrete";
  readonly method: MethodName;
  readonly policyLength: number;
  readonly gamma: number;
}

export interface SimulatedAgent {
  readonly name: string;
  readonly factors: readonly SimulatedFactor[];
  readonly modalities: readonly SimulatedModality[];
  readonly steps: readonly SimulatedStep[];
  /** Learnt initial state of each factor; undefined for factors whose D is not learnt. */
  readonly learntD?: readonly (Float64Array | undefined)[];
}

export interface SimulatedFactor {
  readonly name: string;
  readonly states: number;
  readonly actions: number;
  readonly actionLabels?: readonly string[];
  readonly stateLabels?: readonly string[];
}

export interface SimulatedModality {
  readonly name: string;
  readonly outcomes: number;
  readonly labels?: readonly string[];
}

export interface SimulatedStep extends ActorStep {
  readonly step: number;
  /** True states, if the model's own world generates the observations. */
  readonly states?: readonly number[];
}

/** Run of a linear-Gaussian model: a Kalman filter in a world of the same model. */
export interface LinearSimulation extends SimulationHeader {
  readonly kind: "linear-gaussian";
  readonly method: "kalman-filter";
  readonly filtered: readonly FilteredStep[];
}

/** State after one observation. */
export interface FilteredStep {
  readonly step: number;
  /** True state, if the model's own world generates the observations. */
  readonly state?: Float64Array;
  readonly observation: Float64Array;
  readonly mean: Float64Array;
  /** Covariance: state × state, row by row. */
  readonly covariance: Float64Array;
  /** Negative logarithm of the density of the observation, given the earlier ones. */
  readonly freeEnergy: number;
}
