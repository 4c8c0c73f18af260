import { describe, expect, test } from "vitest";
import { scoreBm25, selectiveTerms, type Candidate } from "../../src/search/bm25.ts";
import { byPlace } from "../../src/search/order.ts";
import { TermCounter } from "../../src/search/term-counter.ts";
import { termGroup, termsIn } from "../../src/search/term-group.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import type { LibraryStore, PassageFields } from "../../src/store/store.ts";
import { dot } from "../../src/store/vectors/vectors.ts";
import { createRandom, type Random } from "../../../../test/support/random.ts";
import { doomedDocument } from "./doomed-document.ts";

const COUNT = 10;

describe("nearest vectors of a file equal those of an exact comparison", () => {
  // In the last cases, 8-bit integers cannot distinguish the vectors.
  test.each([
    [3, 1],
    [33, 1],
    [128, 1],
    [128, 0.001],
    [16, 0],
  ])("finds the nearest vectors with %i dimensions, %d apart", async (dimensions, apart) => {
    const random = createRandom(dimensions);
    await using store = await openSqliteStore(":memory:");
    const all = new Map<string, readonly PassageFields[]>();
    for (let at = 0; at < 12; at += 1) all.set(`d${at}`, await put(store, `d${at}`, { random, dimensions, apart }));
    await expectExact(store, all, { random, dimensions, apart });
    // Deletes a document in the middle, replaces one, and stores one with fewer passages.
    await store.deleteDocument("d3");
    all.delete("d3");
    all.set("d7", await put(store, "d7", { random, dimensions, apart, chunks: 5 }));
    await expectExact(store, all, { random, dimensions, apart });
  });

  test("a vector of zeros or of another length does not affect other results", async () => {
    await using store = await openSqliteStore(":memory:");
    const random = createRandom(5);
    const chunks = await put(store, "d0", { random, dimensions: 8, apart: 1 });
    await write(store, "zeros", [new Float32Array(8)]);
    await write(store, "short", [new Float32Array([1, 0])]);
    const query = unit(random, 8, 1);
    const near = await store.nearest("chunk", query, { filter: {}, count: 100 });
    expect(near.filter(({ sourceId }) => sourceId === "d0")).toHaveLength(chunks.length);
    expect(near.find(({ sourceId }) => sourceId === "zeros")?.similarity).toBe(0);
    expect(near.some(({ sourceId }) => sourceId === "short")).toBe(false);
    expect(await store.nearest("chunk", new Float32Array([1, 0, 0]), { filter: {}, count: 5 })).toEqual([]);
  });
});

describe("terms", () => {
  test("counts whole terms only, and counts a term for each group that contains it", () => {
    const counter = new TermCounter([termGroup("a", "bc"), termGroup("bc"), termGroup("missing"), termGroup("œuvre")]);
    expect(Array.from(counter.countsIn("a bc abc a œuvre bca bc"))).toEqual([4, 2, 0, 1]);
    expect(Array.from(counter.countsIn(""))).toEqual([0, 0, 0, 0]);
    expect(Array.from(counter.countsIn("bc"))).toEqual([1, 1, 0, 0]);
  });

  test("counts a term with its weight in each group", () => {
    const counter = new TermCounter([
      new Map([
        ["a", 1],
        ["b", 0.5],
      ]),
      new Map([["b", 0.25]]),
    ]);
    expect(Array.from(counter.countsIn("a b b c"))).toEqual([2, 0.5]);
  });

  test("scores by term tables equal scores by counting words one by one", () => {
    const random = createRandom(3);
    const words = Array.from({ length: 300 }, (_, at) => `w${at}`);
    const candidates = Array.from({ length: 50 }, (_, id): Candidate => {
      const terms = Array.from({ length: 40 }, () => words[random.below(words.length)]!);
      return { id, sourceId: "a", ordinal: id, terms: terms.join(" "), length: terms.length };
    });
    const groups = [termGroup("w1", "w2"), termGroup("w3"), termGroup("w299")];
    const frequencies = new Map(termsIn(groups).map((term) => [term, 5]));
    const scores = scoreBm25(groups, candidates, { passages: 50, averageLength: 40, frequencies });
    const holders = candidates.filter(({ terms }) => terms.split(" ").some((term) => frequencies.has(term)));
    expect(Array.from(scores.keys())).toEqual(holders.map(({ id }) => id));
  });
});

describe("words that select the candidates", () => {
  const stats = (frequencies: Record<string, number>) => ({
    passages: 100_000,
    averageLength: 40,
    frequencies: new Map(Object.entries(frequencies)),
  });

  test("selects the rarest words, up to a limit of passages in total", () => {
    const found = selectiveTerms(
      ["all", "rare", "less", "none"].map((term) => termGroup(term)),
      stats({ all: 90_000, rare: 9, less: 900 }),
      50,
    );
    expect(found).toEqual({ any: ["rare", "less"] });
  });

  test("selects a pair of words if each alone has too many passages", () => {
    const found = selectiveTerms(
      [termGroup("all"), termGroup("most", "mosts")],
      stats({ all: 90_000, most: 20_000, mosts: 5 }),
      50,
    );
    expect(found).toEqual({ any: ["most", "mosts"], and: ["all"] });
  });

  test("selects a single word if there is no other", () => {
    expect(selectiveTerms([termGroup("all")], stats({ all: 90_000 }), 50)).toEqual({ any: ["all"] });
    expect(selectiveTerms([termGroup("none")], stats({}), 50)).toEqual({ any: [] });
  });
});

interface Making {
  readonly random: Random;
  readonly dimensions: number;
  readonly apart: number;
  readonly chunks?: number;
}

async function put(store: LibraryStore, sourceId: string, making: Making): Promise<readonly PassageFields[]> {
  const { random, dimensions, apart, chunks = 40 } = making;
  return write(
    store,
    sourceId,
    Array.from({ length: chunks }, () => unit(random, dimensions, apart)),
  );
}

async function write(store: LibraryStore, sourceId: string, vectors: readonly Float32Array[]) {
  const { document, text, passages } = doomedDocument("w1");
  const chunks = vectors.map((vector, ordinal) => ({ ...passages.chunks[0]!, ordinal, vector }));
  await store.replaceDocument({ ...document, sourceId }, text, { ...passages, chunks, summaries: [] });
  return chunks;
}

/** Returns a vector of length 1 with the given distance from one direction. */
function unit(random: Random, dimensions: number, apart: number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, (_, at) =>
    at === 0 ? 1 : apart * (random.below(2_001) / 1_000 - 1),
  );
  const length = Math.hypot(...vector);
  return vector.map((number) => number / length);
}

async function expectExact(
  store: LibraryStore,
  all: ReadonlyMap<string, readonly PassageFields[]>,
  making: Making,
): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const query = unit(making.random, making.dimensions, making.apart);
    const expected = Array.from(all, ([sourceId, chunks]) =>
      chunks.map(({ ordinal, vector }) => ({ sourceId, ordinal, similarity: dot(query, vector!) })),
    )
      .flat()
      .toSorted((one, other) => other.similarity - one.similarity || byPlace(one, other))
      .slice(0, COUNT);
    const near = await store.nearest("chunk", query, { filter: {}, count: COUNT });
    expect(near.map(({ sourceId, ordinal, similarity }) => ({ sourceId, ordinal, similarity }))).toEqual(expected);
  }
}
