import type { SourcePart } from "../source-part.ts";
import { documentOf, type SearchDocument } from "./document.ts";
import type { Ranking } from "./ranking.ts";

/** Words of one source's tools, numbered by first occurrence. */
export interface PartIndex {
  readonly words: readonly string[];
  /** Words of each tool, by index in the part's list of tools. `undefined` for tools that are never found. */
  readonly tools: readonly (PartTool | undefined)[];
}

export interface PartTool {
  /** Numbers of the tool's distinct words, with their weights. */
  readonly words: Uint32Array;
  readonly weights: Float32Array;
  /** 1 if the word is in the tool's name. */
  readonly inName: Uint8Array;
  readonly nameLength: number;
  /** Numbers of the description's words, in order. */
  readonly description: Uint32Array;
}

const made = new WeakMap<SourcePart, PartIndex>();

/**
 * Builds the index of one part, once, in steps of one tool each. A change in one source leaves the indexes of other
 * sources unchanged.
 */
export function* partIndexSteps(part: SourcePart, ranking: Ranking): Generator<void, PartIndex> {
  const known = made.get(part);
  if (known) return known;
  const numbers = new Map<string, number>();
  const numberOf = (word: string): number => {
    let number = numbers.get(word);
    if (number === undefined) numbers.set(word, (number = numbers.size));
    return number;
  };
  const tools: (PartTool | undefined)[] = [];
  for (const tool of part.tools) {
    tools.push(tool.record.role === "discovery" ? undefined : numbered(documentOf(tool, ranking), numberOf));
    yield;
  }
  const index = { words: [...numbers.keys()], tools };
  made.set(part, index);
  return index;
}

function numbered({ weights, nameStems, description }: SearchDocument, numberOf: (word: string) => number): PartTool {
  const words = [...weights.keys()];
  return {
    words: Uint32Array.from(words, numberOf),
    weights: Float32Array.from(weights.values()),
    inName: Uint8Array.from(words, (word) => (nameStems.has(word) ? 1 : 0)),
    nameLength: nameStems.size,
    description: Uint32Array.from(description, numberOf),
  };
}
