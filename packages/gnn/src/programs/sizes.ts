import type { Parameter, Value } from "../language/model.ts";
import { isSizeParameter } from "../settings/known.ts";
import type { DiscreteAgent } from "./program.ts";

/** Sizes that parameters such as `num_obs` repeat. */
interface Sizes {
  /** Lengths of each agent's parts. */
  readonly perAgent: readonly (readonly number[])[];
  /** Number of parts that the parameter may count instead, such as factors. */
  readonly counts: readonly number[];
}

/** Words in the name of a size parameter, with the size that they denote. */
const SUBJECTS = [
  { words: /agent/, subject: "agents" },
  { words: /level/, subject: "levels" },
  { words: /obs|outcome|modalit/, subject: "modalities" },
  { words: /action|control/, subject: "actions" },
  { words: /state|factor/, subject: "states" },
  { words: /polic/, subject: "policies" },
] as const;

/**
 * Compares parameters that repeat sizes (`num_hidden_states: 3`) with the tensors, which determine the sizes. Returns
 * the names of these parameters, and a note for each that contradicts the tensors.
 */
export function compareSizes(
  parameters: readonly Parameter[],
  agents: readonly DiscreteAgent[],
  policies: readonly number[],
): { readonly compared: readonly string[]; readonly notes: readonly string[] } {
  const compared: string[] = [];
  const notes: string[] = [];
  const last = new Map(parameters.map((parameter) => [parameter.key.text, parameter.value]));
  for (const [name, value] of last) {
    const numbers = numbersOf(value);
    const found =
      isSizeParameter(name) && numbers ? SUBJECTS.find(({ words }) => words.test(wordsOf(name))) : undefined;
    if (!found) continue;
    const sizes = sizesOf(found.subject, agents, policies);
    compared.push(name);
    if (agrees(numbers!, sizes)) continue;
    notes.push(
      `${name} is ${numbers!.join(", ")}, but the tensors have ${shown(sizes)}; the program uses the tensors.`,
    );
  }
  return { compared, notes };
}

/** Returns the part of a name before `_per_`: `num_obs_per_agent` counts outcomes, not agents. */
function wordsOf(name: string): string {
  return name.replace(/_per_.*$/, "");
}

function sizesOf(subject: string, agents: readonly DiscreteAgent[], policies: readonly number[]): Sizes {
  switch (subject) {
    case "agents":
    case "levels":
      return { perAgent: [], counts: [agents.length] };
    case "modalities":
      return {
        perAgent: agents.map(({ modalities }) => modalities.map(({ outcomes }) => outcomes)),
        counts: agents.map(({ modalities }) => modalities.length),
      };
    case "actions":
      return {
        perAgent: agents.map(({ factors }) => factors.map(({ actions }) => actions)),
        counts: agents.map(({ factors }) => factors.filter(({ actions }) => actions > 1).length),
      };
    case "policies":
      return { perAgent: policies.map((count) => [count]), counts: [] };
    default:
      return {
        perAgent: agents.map(({ factors }) => factors.map(({ states }) => states)),
        counts: agents.map(({ factors }) => factors.length),
      };
  }
}

/**
 * Returns whether a size matches the tensors: one length, the product of an agent's lengths or of all lengths, a count,
 * or the list of lengths.
 */
function agrees(numbers: readonly number[], { perAgent, counts }: Sizes): boolean {
  const product = (lengths: readonly number[]): number => lengths.reduce((all, length) => all * length, 1);
  const all = perAgent.flat();
  if (numbers.length > 1)
    return [all, ...perAgent].some(
      (lengths) => lengths.length === numbers.length && lengths.every((length, at) => length === numbers[at]),
    );
  const [number] = numbers;
  return [...all, ...perAgent.map(product), product(all), ...counts].includes(number!);
}

function numbersOf(value: Value): readonly number[] | undefined {
  if (value.kind === "number") return [value.value];
  if (value.kind !== "group" || value.items.length === 0) return undefined;
  const numbers = value.items.flatMap((item) => (item.kind === "number" ? [item.value] : []));
  return numbers.length === value.items.length ? numbers : undefined;
}

function shown({ perAgent, counts }: Sizes): string {
  const lists = [...new Set(perAgent.map((lengths) => lengths.join(" and ")))];
  return lists.length > 0 ? lists.join("; ") : counts.join(", ");
}
