import { parsePattern, type PatternNode } from "./pattern-parse.ts";
import { stepsLeft } from "./steps-left.ts";

/**
 * Matches patterns from untrusted servers, which could keep JavaScript's own engine busy for hours. Each pair of (node,
 * position) is visited at most once, so a match costs at most the pattern's size times the text's length; the total of
 * a validation is limited too. Lookahead is supported; lookbehind and back references are not (`PatternError`).
 */
export class LinearPattern {
  readonly #source: string;
  readonly #nodes: readonly PatternNode[];
  readonly #start: number;
  /** Indexes of the nodes that several paths lead to. Only these can be visited twice at the same position. */
  readonly #slots: Int32Array;
  readonly #slotCount: number;
  readonly #anchored: boolean;

  constructor(source: string) {
    const { nodes, start } = parsePattern(source);
    this.#source = source;
    this.#nodes = nodes;
    this.#start = start;
    this.#slots = numberJoins(nodes, start);
    this.#slotCount = this.#slots.reduce((most, slot) => Math.max(most, slot + 1), 0);
    this.#anchored = nodes[start]?.op === "start";
  }

  /** Number of nodes after counted repetitions were written out. */
  get size(): number {
    return this.#nodes.length;
  }

  /** Returns whether the text matches. Throws a `PatternCostError` once the allowance of the check is used up. */
  test(text: string): boolean {
    const width = text.length + 1;
    if (this.#slotCount * width > MAX_CELLS) throw new PatternCostError();
    // Clearing the memory counts as steps, because it takes time too.
    spendPatternSteps(STEPS_TO_BEGIN + (this.#slotCount * width) / CELLS_PER_STEP);
    const run = { text, width, seen: new Uint8Array((this.#slotCount * width + 7) >> 3), marked: undefined };
    const last = this.#anchored ? 0 : text.length;
    for (let from = 0; from <= last; from += 1) {
      if (!isInsidePair(text, from) && this.#reaches(run, this.#start, from)) return true;
    }
    return false;
  }

  toString(): string {
    return this.#source;
  }

  #reaches(run: MatchRun, start: number, from: number): boolean {
    const stack = [start, from];
    while (stack.length > 0) {
      let position = stack.pop()!;
      let at = stack.pop()!;
      for (;;) {
        spendPatternSteps(1);
        if (this.#wasSeen(run, at, position)) break;
        const node = this.#nodes[at]!;
        if (node.op === "match") return true;
        if (node.op === "split") stack.push(node.other, position);
        else if (node.op === "char") {
          const code = run.text.codePointAt(position);
          if (code === undefined || !node.set.has(code)) break;
          position += code > 0xffff ? 2 : 1;
        } else if (!this.#holds(run, node, position)) break;
        at = node.next;
      }
    }
    return false;
  }

  #wasSeen(run: MatchRun, at: number, position: number): boolean {
    const slot = this.#slots[at]!;
    if (slot < 0) return false;
    const cell = slot * run.width + position;
    const bit = 1 << (cell & 7);
    if ((run.seen[cell >> 3]! & bit) !== 0) return true;
    run.seen[cell >> 3]! |= bit;
    run.marked?.push(cell);
    return false;
  }

  #holds(run: MatchRun, node: Exclude<PatternNode, { op: "match" | "split" | "char" }>, position: number): boolean {
    if (node.op === "start") return position === 0;
    if (node.op === "end") return position === run.text.length;
    if (node.op === "word") return (isWord(run.text, position - 1) === isWord(run.text, position)) === node.negated;
    return this.#reachesBody(run, node.body, position) !== node.negated;
  }

  // A pair of node and position that failed always fails, so it may stay marked. After a success the marks are cleared,
  // because the pairs that led to the success are also marked.
  #reachesBody(run: MatchRun, body: number, position: number): boolean {
    const marked: number[] = [];
    const found = this.#reaches({ ...run, marked }, body, position);
    if (found) for (const cell of marked) run.seen[cell >> 3]! &= ~(1 << (cell & 7));
    return found;
  }
}

interface MatchRun {
  readonly text: string;
  readonly width: number;
  readonly seen: Uint8Array;
  readonly marked: number[] | undefined;
}

/** Maximum memory for one match in bits: 4 MB. */
const MAX_CELLS = 2 ** 25;
const CELLS_PER_STEP = 64;
const STEPS_TO_BEGIN = 16;
/** Maximum number of steps for one check of a value against its schema; they take about 100 ms. */
export const MAX_PATTERN_STEPS = 5_000_000;

/** Thrown if the patterns of a schema would take too long on this value. */
export class PatternCostError extends Error {
  override readonly name = "PatternCostError";
}

/** Subtracts steps from those of the check. Throws a `PatternCostError` when they are used up. */
function spendPatternSteps(steps: number): void {
  stepsLeft.patterns -= steps;
  if (stepsLeft.patterns < 0) throw new PatternCostError();
}

function isWord(text: string, position: number): boolean {
  const code = text.charCodeAt(position);
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}

// Characters are code points. A search does not begin inside a surrogate pair.
function isInsidePair(text: string, position: number): boolean {
  const code = text.charCodeAt(position);
  return code >= 0xdc00 && code <= 0xdfff && text.codePointAt(position - 1)! > 0xffff;
}

function numberJoins(nodes: readonly PatternNode[], start: number): Int32Array {
  const ways = new Uint32Array(nodes.length);
  ways[start] = 1;
  for (const node of nodes) {
    if (node.op === "match") continue;
    ways[node.next]! += 1;
    if (node.op === "split") ways[node.other]! += 1;
    if (node.op === "look") ways[node.body]! += 1;
  }
  let slots = 0;
  return Int32Array.from(ways, (count) => (count > 1 ? slots++ : -1));
}
