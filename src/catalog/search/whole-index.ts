import type { PartIndex, PartTool } from "./part-index.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Where one word stands: ranks of tools, the word's weight there, and whether the tool's name has it. */
export interface Postings {
  readonly ranks: Uint32Array;
  readonly weights: Float32Array;
  readonly inName: Uint8Array;
}

const NO_WORDS = new Uint32Array(0);

/**
 * The parts' indexes as one: which tools have a word is one look. Made at the first search after a change by copying
 * numbers out of the parts, which read no text again.
 */
export class WholeIndex {
  /** By rank: number of words in the tool's name. */
  readonly nameLengths: Uint8Array;
  /** By rank: which source it belongs to, from 0. */
  readonly sources: Uint32Array;
  readonly sourceCount: number;
  /** By source: how many tools it has. */
  readonly sourceSizes: Uint32Array;
  readonly #parts: readonly PartIndex[];
  readonly #numbers = new Map<string, number>();
  /** By number of a word: where its postings begin; one more for the end. */
  readonly #starts: Uint32Array;
  readonly #ranks: Uint32Array;
  readonly #weights: Float32Array;
  readonly #inName: Uint8Array;
  /** By rank: the description's words by their numbers here. */
  readonly #descriptions: Uint32Array[];
  #vocabulary: Vocabulary | undefined;

  /** `rankOf`: the rank of a tool by part and place in it; -1 for what is not found. */
  constructor(size: number, parts: readonly PartIndex[], rankOf: (part: number, at: number) => number) {
    this.#parts = parts;
    this.sourceCount = parts.length;
    this.nameLengths = new Uint8Array(size);
    this.sources = new Uint32Array(size);
    this.sourceSizes = new Uint32Array(parts.length);
    this.#descriptions = Array.from({ length: size }, () => NO_WORDS);
    const translations = parts.map((part) => Uint32Array.from(part.words, (word) => this.#numberOf(word)));
    const found = (take: (tool: PartTool, rank: number, part: number) => void): void => {
      for (const [at, part] of parts.entries()) {
        for (const [place, tool] of part.tools.entries()) {
          const rank = tool ? rankOf(at, place) : -1;
          if (tool && rank >= 0) take(tool, rank, at);
        }
      }
    };
    this.#starts = new Uint32Array(this.#numbers.size + 1);
    found((tool, _, part) => {
      for (const word of tool.words) this.#starts[translations[part]![word]! + 1]! += 1;
    });
    for (let word = 0; word < this.#numbers.size; word += 1) this.#starts[word + 1]! += this.#starts[word]!;
    const total = this.#starts.at(-1)!;
    this.#ranks = new Uint32Array(total);
    this.#weights = new Float32Array(total);
    this.#inName = new Uint8Array(total);
    const next = this.#starts.slice();
    found((tool, rank, part) => {
      const words = tool.words.map((word) => translations[part]![word]!);
      this.#place(tool, rank, placesOf(words, next));
      this.nameLengths[rank] = Math.min(tool.nameLength, 255);
      this.sources[rank] = part;
      this.sourceSizes[part]! += 1;
      this.#descriptions[rank] = tool.description.map((word) => translations[part]![word]!);
    });
  }

  #numberOf(word: string): number {
    let number = this.#numbers.get(word);
    if (number === undefined) this.#numbers.set(word, (number = this.#numbers.size));
    return number;
  }

  #place(tool: PartTool, rank: number, places: Uint32Array): void {
    for (let at = 0; at < places.length; at += 1) {
      const place = places[at]!;
      this.#ranks[place] = rank;
      this.#weights[place] = tool.weights[at]!;
      this.#inName[place] = tool.inName[at]!;
    }
  }

  postings(word: string): Postings | undefined {
    const number = this.#numbers.get(word);
    if (number === undefined) return undefined;
    const start = this.#starts[number]!;
    const end = this.#starts[number + 1]!;
    if (start === end) return undefined;
    return {
      ranks: this.#ranks.subarray(start, end),
      weights: this.#weights.subarray(start, end),
      inName: this.#inName.subarray(start, end),
    };
  }

  /** Ranks of tools in whose description the two words stand side by side, in this order. */
  withNeighbours(left: string, right: string): number[] {
    const first = this.#numbers.get(left);
    const second = this.#numbers.get(right);
    const found: number[] = [];
    if (first === undefined || second === undefined) return found;
    const rarer = this.#length(first) < this.#length(second) ? first : second;
    for (let at = this.#starts[rarer]!; at < this.#starts[rarer + 1]!; at += 1) {
      const rank = this.#ranks[at]!;
      if (areNeighbours(this.#descriptions[rank]!, first, second)) found.push(rank);
    }
    return found;
  }

  #length(word: number): number {
    return this.#starts[word + 1]! - this.#starts[word]!;
  }

  /** Words of names and keywords as they are written. */
  get vocabulary(): Vocabulary {
    return (this.#vocabulary ??= new Vocabulary(new Set(this.#parts.flatMap((part) => [...part.nameWords]))));
  }
}

/** Where the next postings of these words go; `next` moves on behind them. */
function placesOf(words: Uint32Array, next: Uint32Array): Uint32Array {
  return words.map((word) => {
    const place = next[word]!;
    next[word] = place + 1;
    return place;
  });
}

function areNeighbours(text: Uint32Array, first: number, second: number): boolean {
  for (let at = 1; at < text.length; at += 1) if (text[at] === second && text[at - 1] === first) return true;
  return false;
}
