import type { PartIndex, PartTool } from "./part-index.ts";

/** Occurrences of one word: ranks of the tools, weight of the word in each, and whether the tool's name contains it. */
export interface Postings {
  readonly ranks: Uint32Array;
  readonly weights: Float32Array;
  readonly inName: Uint8Array;
}

const NO_WORDS = new Uint32Array(0);

export interface WholeParts {
  /** Number of tools that can be found. */
  readonly size: number;
  readonly parts: readonly PartIndex[];
  /** Returns the rank of a tool by its part and its index in that part. Returns -1 if the tool cannot be found. */
  rankOf(part: number, at: number): number;
}

interface FoundTool {
  readonly tool: PartTool;
  readonly rank: number;
  readonly source: number;
  /** Words by their numbers in the whole index. */
  readonly words: Uint32Array;
}

/**
 * Combined index of all parts: one lookup returns the tools with a word. Built by the first search after a change. It
 * copies numbers from the indexes of the parts, without reading texts again.
 */
export class WholeIndex {
  /** For each rank: the number of words in the tool's name. */
  readonly nameLengths: Uint8Array;
  /** For each rank: the number of its source, from 0. */
  readonly sources: Uint32Array;
  readonly sourceCount: number;
  /** For each source: the number of its tools. */
  readonly sourceSizes: Uint32Array;
  readonly #numbers = new Map<string, number>();
  /** For each word: the start of its postings, and one more element for the end. */
  #starts = NO_WORDS;
  #ranks = NO_WORDS;
  #weights = new Float32Array(0);
  #inName = new Uint8Array(0);
  /** For each rank: the description's words, as their numbers in this index. */
  readonly #descriptions: Uint32Array[];

  private constructor({ size, parts }: WholeParts) {
    this.sourceCount = parts.length;
    this.nameLengths = new Uint8Array(size);
    this.sources = new Uint32Array(size);
    this.sourceSizes = new Uint32Array(parts.length);
    this.#descriptions = Array.from({ length: size }, () => NO_WORDS);
  }

  /** Builds the index in steps of one tool each. */
  static *steps(whole: WholeParts): Generator<void, WholeIndex> {
    const index = new WholeIndex(whole);
    const found: FoundTool[] = [];
    for (const [source, part] of whole.parts.entries()) {
      const numbers = Uint32Array.from(part.words, (word) => index.#numberOf(word));
      for (const [place, tool] of part.tools.entries()) {
        const rank = tool ? whole.rankOf(source, place) : -1;
        if (tool && rank >= 0) found.push({ tool, rank, source, words: tool.words.map((word) => numbers[word]!) });
        if (tool && rank >= 0) index.#descriptions[rank] = tool.description.map((word) => numbers[word]!);
        yield;
      }
    }
    yield* index.#fill(found);
    return index;
  }

  *#fill(found: readonly FoundTool[]): Generator<void, void> {
    const starts = (this.#starts = new Uint32Array(this.#numbers.size + 1));
    for (const { words } of found) {
      for (const word of words) starts[word + 1]! += 1;
      yield;
    }
    for (let word = 0; word < this.#numbers.size; word += 1) starts[word + 1]! += starts[word]!;
    const total = starts.at(-1)!;
    this.#ranks = new Uint32Array(total);
    this.#weights = new Float32Array(total);
    this.#inName = new Uint8Array(total);
    const next = starts.slice();
    for (const { tool, rank, source, words } of found) {
      this.#place(tool, rank, placesOf(words, next));
      this.nameLengths[rank] = Math.min(tool.nameLength, 255);
      this.sources[rank] = source;
      this.sourceSizes[source]! += 1;
      yield;
    }
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

  /** Returns the ranks of tools whose description has the two words adjacent and in this order. */
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
}

/** Returns the index of the next posting of each word, and advances `next`. */
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
