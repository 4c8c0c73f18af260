import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../store/sqlite/sqlite.ts";
import type { LibraryStore } from "../store/store.ts";
import type { Embedder } from "./embedder.ts";
import { passageTerms } from "./passage-terms.ts";
import { searchPassages, type PassageHits, type SearchRequest } from "./search.ts";
import { Terms } from "./terms.ts";

interface PassageCase {
  readonly id: string;
  readonly author: string;
  readonly title: string;
  readonly section?: string;
  readonly text: string;
  readonly language?: string;
  readonly vector?: readonly number[];
}

const PASSAGES: readonly PassageCase[] = [
  {
    id: "peirce",
    author: "Peirce, Charles Sanders",
    title: "Clear Ideas",
    text: "The meaning of a belief is a habit.",
  },
  {
    id: "other",
    author: "Ann Bell",
    title: "Letters",
    text: "Peirce wrote much of habit, and of Peirce one may say more.",
  },
  { id: "nominate", author: "Cole", title: "Votes", text: "They nominate whom they like, and vote for other people." },
  { id: "nominalism", author: "Cole", title: "Names", text: "What nominalism is depends on universals and on names." },
  { id: "title", author: "Dee", title: "The Fixation of Belief", text: "Nobody has written more on this than he." },
  {
    id: "section",
    author: "Dee",
    title: "Notes",
    section: "Tenacity",
    text: "It is a method that some people follow.",
  },
  { id: "krieg", author: "Ede", title: "Zeit", text: "Es war ein Haus, das war alt, und es war kalt.", language: "de" },
  { id: "war", author: "Hobbes", title: "Leviathan", text: "In a war of all against all nothing can be unjust." },
  { id: "the", author: "Fee", title: "Boissons", text: "Le thé est une boisson chaude du matin.", language: "fr" },
];
const terms = new Terms();
let store: LibraryStore;

async function fill(passages: readonly PassageCase[]): Promise<LibraryStore> {
  const own = await openSqliteStore(":memory:");
  await terms.load(["en", "fr", "de"]);
  for (const { id, author, title, section, text, language = "en", vector } of passages) {
    const sections = section === undefined ? [] : [section];
    const indexed = passageTerms({ author, title, section: sections, text }, { terms, language });
    const place = { ordinal: 0, level: 0, section: sections, from: 0, to: text.length, text };
    const document = {
      sourceId: id,
      uri: `file:///${id}`,
      contentHash: id,
      pipeline: "",
      bytes: 1,
      mime: "text/plain",
    };
    const rest = { title, work: title, author, language, pages: 0, pageStarts: [], toc: [], origins: {}, warnings: [] };
    await own.replaceDocument({ ...document, ...rest }, text, {
      chunks: [{ ...place, ...indexed, ...(vector && { vector: Float32Array.from(vector) }) }],
      summaries: [],
      ...(vector && { embedder: "made" }),
    });
  }
  return own;
}

beforeAll(async () => (store = await fill(PASSAGES)));
afterAll(() => store[Symbol.asyncDispose]());

function search(query: string, request: Partial<SearchRequest> = {}): Promise<PassageHits> {
  const own = { query, limit: 10, filter: {}, minSimilarity: 0, ...request };
  return searchPassages("chunk", own, { store, terms, embedder: undefined });
}

describe("order by words", () => {
  test.each([
    ["a passage by an author before passages that mention the name", "Peirce on habit", "peirce"],
    ["a passage by an author who is named with initials", "C. S. Peirce on habit", "peirce"],
    ["a passage whose title has the words", "the fixation of belief", "title"],
    ["a passage whose section has the word", "tenacity", "section"],
    ["the exact word before another word with its stem", "nominalism", "nominalism"],
    ["a word that is a function word of another language", "war", "war"],
  ])("ranks first: %s", async (_case, query, expected) => {
    expect((await search(query)).hits[0]?.passage.sourceId).toBe(expected);
  });

  test("does not find function words of the query's language in other languages", async () => {
    const { hits } = await search("what is the method of the people", { minRelevance: 0 });
    expect(hits.map(({ passage }) => passage.sourceId)).not.toContain("the");
  });

  test("finds a query of function words only", async () => {
    expect((await search("what is it", { minRelevance: 0 })).hits.length).toBeGreaterThan(0);
  });
});

describe("relevance", () => {
  test.each([
    "chocolate cake recipe",
    "quantum gluon of a habit machine learning",
    "zxqv",
    "recette de tarte aux pommes",
  ])("finds nothing for %j", async (query) => {
    expect(await search(query)).toMatchObject({ hits: [], matches: 0 });
  });

  test("returns at most three near misses, and none for words that no passage contains", async () => {
    const { nearMisses } = await search("peirce quantum gluon machine learning transformer habit network");
    expect(nearMisses[0]?.passage.sourceId).toBe("peirce");
    expect(nearMisses.length).toBeLessThanOrEqual(3);
    expect((await search("zxqv")).nearMisses).toEqual([]);
  });

  test("does not return near misses if there are hits", async () => {
    expect((await search("nominalism")).nearMisses).toEqual([]);
  });

  test.each([
    ["nominalism", "nominalism of quantum chocolate machines"],
    ["war of all against all", "war of all kitchen appliances"],
    ["Peirce on habit", "habit of gluons"],
  ])("scores the query %j higher than the query %j", async (better, worse) => {
    const [one, other] = [await search(better), await search(worse, { minRelevance: 0 })];
    expect(one.hits[0]!.score).toBeGreaterThan(other.hits[0]!.score);
    expect(one.hits[0]!.score).toBeLessThanOrEqual(1);
  });
});

describe("similarity", () => {
  const half = Math.SQRT1_2;
  const own: readonly PassageCase[] = [
    { id: "near", author: "A", title: "T", text: "horses stand in the field", vector: [1, 0] },
    { id: "between", author: "A", title: "T", text: "horses run in the field", vector: [half, half] },
    { id: "far", author: "A", title: "T", text: "horses sleep in the field", vector: [0, 1] },
    { id: "without", author: "A", title: "T", text: "horses jump in the field", language: "fr" },
  ];
  const embedder: Embedder = { id: "made", dimensions: 2, embed: async () => [Float32Array.from([1, 0])] };
  const calibration = { middle: half, spread: 0.05 };
  const searchOwn = async (by: Embedder, minSimilarity = 0): Promise<PassageHits> => {
    await using filled = await fill(own);
    const request = { query: "horses", limit: 10, filter: {}, minSimilarity };
    return await searchPassages("chunk", request, { store: filled, terms, embedder: by });
  };

  test("the similarity is 0.5 at the middle of the calibration, and absent without a vector", async () => {
    const { hits } = await searchOwn({ ...embedder, calibration });
    const by = new Map(hits.map(({ passage, similarity }) => [passage.sourceId, similarity]));
    expect(by.get("between")).toBeCloseTo(0.5, 2);
    expect(by.get("near")).toBeGreaterThan(0.99);
    expect(by.get("far")).toBeLessThan(0.01);
    expect(by.get("without")).toBeUndefined();
  });

  test("the similarity is absent for an embedder without a calibration", async () => {
    const { hits } = await searchOwn(embedder);
    expect(hits.every((hit) => !("similarity" in hit))).toBe(true);
    expect(hits[0]?.cosine).toBe(1);
  });

  test("a minimum similarity keeps passages of unknown similarity", async () => {
    const { hits } = await searchOwn({ ...embedder, calibration }, 0.4);
    expect(hits.map(({ passage }) => passage.sourceId)).toEqual(["near", "between", "without"]);
  });

  test("does not rank a passage without a vector before a passage with the same words and a vector", async () => {
    const { hits } = await searchOwn({ ...embedder, calibration });
    expect(hits.map(({ passage }) => passage.sourceId).slice(0, 2)).toEqual(["near", "between"]);
  });

  test("searches by words only if the embedder does not understand the query's language", async () => {
    const { hits } = await searchOwn({ ...embedder, calibration, languages: ["fr"] });
    expect(hits[0]?.cosine).toBe(1);
    await using filled = await fill(own);
    const request = { query: "where are the horses", limit: 10, filter: {}, minSimilarity: 0 };
    const english = await searchPassages("chunk", request, {
      store: filled,
      terms,
      embedder: { ...embedder, languages: ["fr"] },
    });
    expect(english.hits.every((hit) => hit.cosine === undefined)).toBe(true);
  });
});
