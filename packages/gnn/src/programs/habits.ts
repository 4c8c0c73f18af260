import { outer } from "../simulate/vectors.ts";
import type { DiscreteAgent, DiscreteProgram } from "./program.ts";
import { ProgramError } from "./program-error.ts";

/**
 * Returns the program with one number of E for each policy. E may also have one number for each action: then the habit
 * of a policy is the product of the habits of its actions. Throws a `ProgramError` for any other length.
 */
export function withHabits(program: DiscreteProgram, policyLength: number): DiscreteProgram {
  if (!program.agents.some(({ E }) => E)) return program;
  return { ...program, agents: program.agents.map((agent) => withHabit(agent, policyLength)) };
}

function withHabit(agent: DiscreteAgent, policyLength: number): DiscreteAgent {
  const { name, E } = agent;
  const actions = jointActions(agent);
  const policies = actions ** policyLength;
  if (!E || E.length === policies) return agent;
  if (E.length === actions) return { ...agent, E: outer(Array.from({ length: policyLength }, () => E)) };
  throw new ProgramError(
    "E",
    `E${name === "" ? "" : `_${name}`} has ${counted(E.length, "number")}, and there ` +
      `${policies === 1 ? "is 1 policy" : `are ${policies} policies`} of ${counted(policyLength, "action")}. ` +
      `Write a number for each policy, or for each of the ${actions} actions.`,
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns the number of combinations of actions of an agent. */
export function jointActions({ factors }: Pick<DiscreteAgent, "factors">): number {
  return factors.reduce((product, { actions }) => product * actions, 1);
}

/**
 * Returns the policy length that a number of policies implies; undefined if it is not a power of the number of actions.
 */
export function lengthOfPolicies(policies: number, actions: number): number | undefined {
  if (actions < 2) return undefined;
  const length = Math.round(Math.log(policies) / Math.log(actions));
  return length > 0 && actions ** length === policies ? length : undefined;
}
