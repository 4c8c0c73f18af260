import { ProgramError } from "./program-error.ts";

/** Parsed name of a tensor: `A_agent1_m0` is the likelihood of modality 0 of agent 1. */
export interface Part {
  /** Name as written. */
  readonly name: string;
  readonly letter: Letter;
  /** Name of the agent or level, such as `level1` or `agent1`; empty if there is only one. */
  readonly instance: string;
  /** Number of the modality or factor; 0 if the name has none. */
  readonly index: number;
  readonly isCounts: boolean;
}

export type Letter = "A" | "B" | "C" | "D" | "E";

const PART = /^(dirichlet_)?([ABCDE])((?:_(?:m|f|level|agent)?\d{1,6}|_t)*)$/;
const PIECE = /_(m|f|level|agent)?(\d+)/g;

/** Parses a name of a discrete model; returns undefined for other names. */
function partOf(name: string): Part | undefined {
  const [, counts, letter, suffix] = PART.exec(name) ?? [];
  if (letter === undefined) return undefined;
  let instance = "";
  let index = 0;
  for (const [, kind = "", digits] of suffix!.matchAll(PIECE))
    if (kind === "level" || kind === "agent") instance = `${kind}${Number(digits)}`;
    else index = Number(digits);
  return { name, letter: letter as Letter, instance, index, isCounts: counts !== undefined };
}

/**
 * Parses the variable names of a discrete model. Without numbered likelihoods (`A1`), words distinguish the modalities
 * (`A_reward`, `C_reward`). Without numbered transitions and priors (`B1`, `D1`), words distinguish the factors
 * (`B_place`, `D_place`). Modalities and factors are numbered in the order of the names.
 */
export function partsOf(names: readonly string[]): readonly Part[] {
  const numbered = names.map(partOf).filter((part) => part !== undefined);
  const isNumbered = (letters: string): boolean => numbered.some(({ letter }) => letters.includes(letter));
  return [
    ...numbered,
    ...(isNumbered("A") ? [] : wordParts(names, "A", "C")),
    ...(isNumbered("BD") ? [] : wordParts(names, names.some((name) => wordOf(name)?.letter === "B") ? "B" : "D", "D")),
  ];
}

const WORD = /^(dirichlet_)?([ABCD])((?:_(?:level|agent)\d{1,6})?)_(\p{L}[\p{L}\p{M}\p{N}_]*)$/u;

interface WordName {
  readonly letter: Letter;
  readonly instance: string;
  readonly word: string;
  readonly isCounts: boolean;
}

function wordOf(name: string): WordName | undefined {
  const [, counts, letter, instance, word] = WORD.exec(name) ?? [];
  if (letter === undefined || word === "t") return undefined;
  return { letter: letter as Letter, instance: instance!.slice(1), word: word!, isCounts: counts !== undefined };
}

/** Returns the parts with the letter `first`, which determine the order of the words, and those with `second`. */
function wordParts(names: readonly string[], first: Letter, second: Letter): readonly Part[] {
  const found = names.flatMap((name) => {
    const read = wordOf(name);
    return read && (read.letter === first || read.letter === second) ? [{ name, ...read }] : [];
  });
  const words = new Map<string, Map<string, number>>();
  for (const { letter, instance, word, isCounts } of found) {
    if (letter !== first || isCounts) continue;
    const own = words.get(instance) ?? new Map<string, number>();
    words.set(instance, own.set(word, own.get(word) ?? own.size));
  }
  if (words.size === 0) return [];
  return found.map(({ name, letter, instance, word, isCounts }) => {
    const index = words.get(instance)?.get(word);
    const meant = `${first}${instance === "" ? "" : `_${instance}`}_${word}`;
    if (index === undefined) throw new ProgramError(name, `${name} belongs to ${meant}, but the model has none.`);
    return { name, letter, instance, index, isCounts };
  });
}

/** Returns the instances of a model in numeric order, and their arrangement. */
export function arrange(parts: readonly Part[]): {
  readonly arrangement: "single" | "agents" | "levels";
  readonly instances: readonly string[];
} {
  const instances = [...new Set(parts.map(({ instance }) => instance))];
  const kinds = new Set(instances.map((instance) => instance.replace(/(?<!\d)\d+$/, "")));
  if (kinds.size > 1) {
    const [one, other] = [...kinds].map((kind) =>
      parts.find(({ instance }) => instance.replace(/(?<!\d)\d+$/, "") === kind)!,
    );
    throw new ProgramError(
      other!.name,
      `${one!.name} and ${other!.name} belong to models of different kinds. Name all agents with _level, all with ` +
        "_agent, or none with either.",
    );
  }
  const sorted = instances.toSorted((one, other) => numberOf(one) - numberOf(other));
  const [kind] = kinds;
  return { arrangement: kind === "level" ? "levels" : kind === "agent" ? "agents" : "single", instances: sorted };
}

function numberOf(instance: string): number {
  return Number(/(?<!\d)\d+$/.exec(instance)?.[0] ?? 0);
}
