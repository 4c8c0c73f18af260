import { ProgramError } from "./program-error.ts";

/** What the name of a tensor says: `A_agent1_m0` is the likelihood of modality 0 of agent 1. */
export interface Part {
  /** As it is written. */
  readonly name: string;
  readonly letter: Letter;
  /** `level1`, `agent1`; empty for the only one. */
  readonly instance: string;
  /** Which modality or factor; 0 without a number. */
  readonly index: number;
  readonly isCounts: boolean;
}

export type Letter = "A" | "B" | "C" | "D" | "E";

const PART = /^(dirichlet_)?([ABCDE])((?:_(?:m|f|level|agent)?\d{1,6}|_t)*)$/;
const PIECE = /_(m|f|level|agent)?(\d+)/g;

/** What a name stands for in a discrete model; nothing for any other name. */
export function partOf(name: string): Part | undefined {
  const [, counts, letter, suffix] = PART.exec(name) ?? [];
  if (letter === undefined) return undefined;
  let instance = "";
  let index = 0;
  for (const [, kind = "", digits] of suffix!.matchAll(PIECE))
    if (kind === "level" || kind === "agent") instance = `${kind}${Number(digits)}`;
    else index = Number(digits);
  return { name, letter: letter as Letter, instance, index, isCounts: counts !== undefined };
}

/** The instances of a model in the order of their numbers, and how they stand to one another. */
export function arrange(parts: readonly Part[]): {
  readonly arrangement: "single" | "agents" | "levels";
  readonly instances: readonly string[];
} {
  const instances = [...new Set(parts.map(({ instance }) => instance))];
  const kinds = new Set(instances.map((instance) => instance.replace(/\d+$/, "")));
  if (kinds.size > 1) {
    const [one, other] = [...kinds].map((kind) => parts.find(({ instance }) => instance.replace(/\d+$/, "") === kind)!);
    throw new ProgramError(
      other!.name,
      `${one!.name} and ${other!.name} belong to models of different kinds. Name all of them by _level, all by ` +
        "_agent, or none by either.",
    );
  }
  const sorted = instances.toSorted((one, other) => numberOf(one) - numberOf(other));
  const [kind] = kinds;
  return { arrangement: kind === "level" ? "levels" : kind === "agent" ? "agents" : "single", instances: sorted };
}

function numberOf(instance: string): number {
  return Number(/\d+$/.exec(instance)?.[0] ?? 0);
}
