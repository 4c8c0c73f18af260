import type { SourcePart } from "../source-part.ts";
import { documentOf } from "./document.ts";

/** Where a word stands in the tools of one source: places in the part's list of tools, and the word's weight there. */
export interface Postings {
  readonly tools: Uint32Array;
  readonly weights: Float32Array;
}

/** The words of one source's tools. */
export interface PartIndex {
  readonly postings: ReadonlyMap<string, Postings>;
  /** Words of names and keywords as they are written. */
  readonly nameWords: ReadonlySet<string>;
}

const made = new WeakMap<SourcePart, PartIndex>();

/** The index of one part, made once: a change in one source leaves the others' indexes as they are. */
export function partIndexOf(part: SourcePart): PartIndex {
  let index = made.get(part);
  if (!index) made.set(part, (index = makeIndex(part)));
  return index;
}

function makeIndex(part: SourcePart): PartIndex {
  const lists = new Map<string, { tools: number[]; weights: number[] }>();
  const nameWords = new Set<string>();
  for (const [at, tool] of part.tools.entries()) {
    if (tool.record.role === "discovery") continue;
    const document = documentOf(tool);
    for (const word of document.nameWords) nameWords.add(word);
    for (const [word, weight] of document.weights) {
      const list = lists.get(word);
      if (list) {
        list.tools.push(at);
        list.weights.push(weight);
      } else {
        lists.set(word, { tools: [at], weights: [weight] });
      }
    }
  }
  const postings = new Map<string, Postings>();
  for (const [word, { tools, weights }] of lists) postings.set(word, { tools: Uint32Array.from(tools), weights: Float32Array.from(weights) });
  return { postings, nameWords };
}
