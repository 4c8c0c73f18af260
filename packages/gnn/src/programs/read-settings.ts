import type { ModelView } from "../language/view.ts";
import { AXES, orderLine, StatedOrders } from "../settings/orders.ts";
import { statedParameters } from "../settings/parameters.ts";
import { readSettings, type Settings, type StatedSettings } from "../settings/settings.ts";
import { jointActions, lengthOfPolicies } from "./habits.ts";
import type { Numbers } from "./numbers.ts";
import type { DiscreteAgent } from "./program.ts";
import { ProgramError } from "./program-error.ts";
import { compareSizes } from "./sizes.ts";
import { unusedNotes } from "./unused.ts";

/** Returns the settings that the model states. Throws a `ProgramError` for the first statement that cannot be used. */
export function usableSettings(view: ModelView, wanted?: readonly (keyof Settings)[]): StatedSettings {
  const stated = readSettings(view, wanted);
  const [problem] = stated.problems;
  if (problem) throw new ProgramError(problem.name, `${problem.message} Correct it, or remove the line.`);
  return stated;
}

/** Returns the index orders that the model states. Throws a `ProgramError` for an order that cannot be read. */
export function usableOrders(view: ModelView): StatedOrders {
  const orders = new StatedOrders(statedParameters(view));
  const [unknown] = orders.unknown;
  if (!unknown) return orders;
  const { parameter, letter } = unknown;
  const example = orderLine(letter, AXES[letter].join(" × "));
  throw new ProgramError(
    parameter.key.text,
    `${parameter.key.text} is not an index order. Write, for example, ${example}.`,
  );
}

/** Returns notes on the effect of the likelihoods' precision. */
export function omegaNotes(agents: readonly DiscreteAgent[], { omega = 1 }: Settings): readonly string[] {
  if (omega === 1) return [];
  const modalities = agents.flatMap((agent) => agent.modalities);
  const learnt = modalities.filter(({ countsA }) => countsA).map(({ name }) => name);
  const sharpened = modalities.some(({ believedA }) => believedA);
  return [
    ...(sharpened
      ? [`ω is ${omega}: the agent's likelihoods are A to the power of ${omega}, normalised; its world keeps A.`]
      : []),
    ...(learnt.length > 0 ? [`ω is not used for ${learnt.join(", ")}, which the agent learns.`] : []),
  ];
}

/** Returns notes on learning rates, and an information gain about parameters, of a model that does not learn them. */
export function learningNotes(agents: readonly DiscreteAgent[], settings: Settings): readonly string[] {
  const factors = agents.flatMap((agent) => agent.factors);
  const learns = {
    A: agents.some(({ modalities }) => modalities.some(({ countsA }) => countsA)),
    B: factors.some(({ countsB }) => countsB),
    D: factors.some(({ countsD }) => countsD),
  };
  const letters = ["A", "B", "D"] as const;
  const used = new Set(letters.filter((letter) => learns[letter]).map((letter) => settings[`learningRate${letter}`]));
  const unused = letters.filter((letter) => {
    const rate = settings[`learningRate${letter}`];
    return rate !== undefined && !learns[letter] && !used.has(rate);
  });
  const hasGain = learns.A || learns.B;
  return [
    ...(unused.length > 0
      ? [`The learning rate of ${unused.join(", ")} is not used, because the model has no Dirichlet counts of it.`]
      : []),
    ...(settings.hasParameterGain && !hasGain
      ? ["The information gain about parameters is not used, because the model learns neither A nor B."]
      : []),
  ];
}

/** Returns settings without an information gain about parameters if the agents learn none. */
export function withoutIdleGain(
  { hasParameterGain, ...settings }: Settings,
  agents: readonly DiscreteAgent[],
): Settings {
  const learns = agents.some(
    ({ modalities, factors }) => modalities.some(({ countsA }) => countsA) || factors.some(({ countsB }) => countsB),
  );
  return hasParameterGain && learns ? { ...settings, hasParameterGain } : settings;
}

interface PolicySource {
  readonly view: ModelView;
  readonly agents: readonly DiscreteAgent[];
  readonly notes: string[];
}

/** Adds the policy length that the length of E, or else `num_policies`, implies. A stated length has priority. */
export function withPolicyLength(settings: Settings, { view, agents, notes }: PolicySource): Settings {
  if (settings.policyLength !== undefined) return settings;
  const found = impliedByHabit(agents) ?? impliedByCount(view, agents);
  if (!found || found.length === 1) return settings;
  notes.push(`Policies have ${found.length} actions, because ${found.reason}.`);
  return { ...settings, policyLength: found.length };
}

interface ImpliedLength {
  readonly length: number;
  readonly reason: string;
}

function impliedByHabit(agents: readonly DiscreteAgent[]): ImpliedLength | undefined {
  for (const agent of agents) {
    const length = agent.E && lengthOfPolicies(agent.E.length, jointActions(agent));
    if (length !== undefined && length > 1) return { length, reason: `E has ${agent.E!.length} numbers` };
  }
  return undefined;
}

function impliedByCount(view: ModelView, agents: readonly DiscreteAgent[]): ImpliedLength | undefined {
  const value = statedParameters(view).findLast(({ key }) => key.text === "num_policies")?.value;
  if (value?.kind !== "number") return undefined;
  const lengths = agents.map((agent) => lengthOfPolicies(value.value, jointActions(agent)));
  const [length] = lengths;
  if (length === undefined || lengths.some((one) => one !== length)) return undefined;
  return { length, reason: `num_policies is ${value.value}` };
}

interface ReadModel {
  readonly numbers: Numbers;
  readonly stated: StatedSettings;
  readonly agents: readonly DiscreteAgent[];
  readonly settings: Settings;
  /** Names of the parameters with labels. */
  readonly labels: readonly string[];
}

/** Returns notes on sizes that contradict the tensors, and on statements that the program does not use. */
export function remainingNotes(view: ModelView, read: ReadModel): readonly string[] {
  const { numbers, stated, agents, settings, labels } = read;
  const policies = agents.map((agent) => jointActions(agent) ** (settings.policyLength ?? 1));
  const sizes = compareSizes(statedParameters(view), agents, policies);
  const parameters = new Set([...stated.usedParameters, ...numbers.usedParameters, ...sizes.compared, ...labels]);
  const values = new Set([...stated.usedValues, ...numbers.usedValues]);
  return [...sizes.notes, ...unusedNotes(view, { parameters, values })];
}
