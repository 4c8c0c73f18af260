import type { DiscreteAgent, Program } from "../programs/program.ts";

/** Costs of a program made of a model. */
export interface ProgramCosts {
  /** Size of the tensors, with 8 bytes per number. */
  readonly tensorBytes: number;
  /** Multiplications and additions of one step: updating the beliefs, then evaluating every policy. */
  readonly operationsPerStep: number;
  readonly policies: number;
}

export interface CostOptions {
  /** Number of actions in a policy. @default 1 */
  readonly policyLength?: number;
  /** Number of updates of the beliefs if there are several factors. @default 16 */
  readonly iterations?: number;
}

const BYTES = 8;

/**
 * Returns bytes and operations of a program, by counting what the sums of the rendered programs compute. In a sum of
 * products with `k` factors, each term counts as `k` operations.
 */
export function programCosts(program: Program, options: CostOptions = {}): ProgramCosts {
  if (program.kind === "discrete") {
    const iterations = options.iterations ?? 16;
    const costs = { ...options, iterations: iterations * (program.window ?? 1), isExact: program.window === undefined };
    const all = program.agents.map((agent) => agentCosts(agent, costs));
    const sum = (cost: (one: ProgramCosts) => number): number => all.reduce((total, one) => total + cost(one), 0);
    return {
      tensorBytes: sum((one) => one.tensorBytes),
      operationsPerStep: sum((one) => one.operationsPerStep),
      policies: sum((one) => one.policies),
    };
  }
  const { states: n, outcomes: m } = program;
  return {
    tensorBytes: BYTES * (3 * n * n + n * m + m * m + n),
    // Operations for F P Fᵀ, H P Hᵀ, the gain by elimination, P - K H P, and the means.
    operationsPerStep: 3 * n ** 3 + 3 * n * n * m + 2 * n * m * m + m ** 3 + n * n + 2 * n * m,
    policies: 0,
  };
}

interface AgentOptions extends CostOptions {
  readonly iterations: number;
  /** True for fixed-point iteration, false for message passing. */
  readonly isExact: boolean;
}

function agentCosts(agent: DiscreteAgent, { policyLength = 1, iterations, isExact }: AgentOptions): ProgramCosts {
  const { factors, modalities, E } = agent;
  const policies = factors.reduce((product, { actions }) => product * actions, 1) ** policyLength;
  const likelihoods = modalities.reduce((sum, { A }) => sum + A.data.length, 0);
  const transitions = factors.reduce((sum, { B }) => sum + B.data.length, 0);
  const counts =
    modalities.reduce((sum, { countsA }) => sum + (countsA?.data.length ?? 0), 0) +
    factors.reduce((sum, { countsB, countsD }) => sum + (countsB?.data.length ?? 0) + (countsD?.length ?? 0), 0);
  const vectors =
    modalities.reduce((sum, { outcomes }) => sum + outcomes, 0) +
    factors.reduce((sum, { states }) => sum + states, 0) +
    (E?.length ?? 0);
  return {
    tensorBytes: BYTES * (likelihoods + transitions + counts + vectors),
    operationsPerStep:
      (isExact ? inference(agent, agent.factors.length === 1 ? 1 : iterations) : passing(agent, iterations)) +
      policies * policyLength * planning(agent) +
      2 * counts,
    policies,
  };
}

/** Each iteration sums the likelihood of the observation once for each factor that it depends on. */
function inference({ factors, modalities }: DiscreteAgent, iterations: number): number {
  const messages = modalities.reduce(
    (sum, { A, outcomes, factors: on }) => sum + (A.data.length / outcomes) * on.length * on.length,
    0,
  );
  const states = factors.reduce((sum, one) => sum + one.states, 0);
  return iterations * (messages + 2 * states);
}

/** Operations for the messages that pass between consecutive steps. */
function passing(agent: DiscreteAgent, iterations: number): number {
  const between = agent.factors.reduce(
    (sum, { B, actions, from }) => sum + (B.data.length / actions) * from.length * (from.length + 3),
    0,
  );
  return inference(agent, iterations) + iterations * between;
}

/** Predicts states and outcomes, their uncertainty, and the preferences for them. */
function planning({ factors, modalities }: DiscreteAgent): number {
  const states = factors.reduce((sum, { B, actions, from }) => sum + (B.data.length / actions) * (from.length + 1), 0);
  const outcomes = modalities.reduce(
    (sum, one) => sum + 2 * one.A.data.length * (one.factors.length + 1) + 3 * one.outcomes,
    0,
  );
  return states + outcomes;
}
