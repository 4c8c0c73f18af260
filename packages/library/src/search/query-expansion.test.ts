import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../store/sqlite/sqlite.ts";
import type { Filter, LibraryStore } from "../store/store.ts";
import { passageTerms } from "./passage-terms.ts";
import { expandQuery } from "./query-expansion.ts";
import { searchPassages, type PassageHits } from "./search.ts";
import { termsIn } from "./term-group.ts";
import { Terms } from "./terms.ts";

/** Id, language, title and text of each document. */
const DOCUMENTS = [
  ["foules", "fr", "Psychologie des foules", "L'individu en foule perd la raison et obéit à des meneurs."],
  ["servitude", "fr", "De la servitude", "Pourquoi un peuple entier obéit-il à un tyran qu'il pourrait quitter ?"],
  ["paresse", "fr", "Le Droit à la paresse", "Les ouvriers ne devraient travailler que trois heures par jour."],
  ["paris", "fr", "Promenade", "Un promeneur regarde les arbres du jardin."],
  ["cave", "en", "Republic", "The prisoners in the cave look at the shadows on the wall."],
  ["wager", "en", "Thoughts", "You must wager on the existence of God."],
  ["death", "en", "Letter", "We should not fear death, for we do not feel it."],
  ["garden", "en", "A Walk", "A man walks between the trees of a garden and loses his hat."],
] as const;
const terms = new Terms();
let store: LibraryStore;

async function fill(documents: readonly (readonly [string, string, string, string])[]): Promise<LibraryStore> {
  const own = await openSqliteStore(":memory:");
  for (const [id, language, title, text] of documents) {
    await terms.load([language]);
    const indexed = passageTerms({ title, section: [], text }, { terms, language });
    const file = { uri: `file:///${id}`, contentHash: id, pipeline: "", bytes: 1, mime: "text/plain" };
    const found = { title, work: title, language, pages: 0, pageStarts: [], toc: [], origins: {}, warnings: [] };
    const chunk = { ordinal: 0, level: 0, section: [], from: 0, to: text.length, text, ...indexed };
    await own.replaceDocument({ sourceId: id, ...file, ...found }, text, { chunks: [chunk], summaries: [] });
  }
  return own;
}

beforeAll(async () => (store = await fill(DOCUMENTS)));
afterAll(() => store[Symbol.asyncDispose]());

function search(query: string, filter: Filter = {}, own = store): Promise<PassageHits> {
  const request = { query, limit: 10, filter, minSimilarity: 0 };
  return searchPassages("chunk", request, { store: own, terms, embedder: undefined });
}
const idsOf = ({ hits }: PassageHits): string[] => hits.map(({ passage }) => passage.sourceId);

describe("a question in another language than its answer", () => {
  test.each([
    ["how individuals in a crowd lose their reason", "foules"],
    ["why do people obey a tyrant", "servitude"],
    ["the workers should work three hours a day", "paresse"],
    ["des prisonniers dans une caverne regardent des ombres", "cave"],
    ["il faut parier sur l'existence de Dieu", "wager"],
    ["il ne faut pas avoir peur de la mort", "death"],
    // Without function words, the dictionary indicates the language.
    ["tyrant people", "servitude"],
    ["ombres caverne", "cave"],
  ])("«%s» finds %s first", async (query, expected) => {
    expect(idsOf(await search(query))[0]).toBe(expected);
  });

  test("ranks a passage in the language of the query before a translated match with the same words", async () => {
    const both = [
      ["fr", "fr", "Notes", "Les loups de la montagne."],
      ["en", "en", "Notes", "The wolves of the mountain."],
    ] as const;
    await using own = await fill(both);
    expect(idsOf(await search("the wolves of the mountain", {}, own))).toEqual(["en", "fr"]);
    expect(idsOf(await search("les loups de la montagne", {}, own))).toEqual(["fr", "en"]);
  });

  test("returns only passages of the language of a filter", async () => {
    expect(idsOf(await search("why do people obey a tyrant", { language: "fr" }))).toEqual(["servitude"]);
    expect(idsOf(await search("why do people obey a tyrant", { language: "en" }))).not.toContain("servitude");
  });

  test("translates nothing in a library of one language, or of a language without a dictionary", async () => {
    await using own = await fill([
      ["en", "en", "Notes", "Nothing about it."],
      ["de", "de", "Notizen", "Ein Tyrann und sein Volk."],
    ]);
    expect(idsOf(await search("why do people obey a tyrant", {}, own))).toEqual([]);
    const { translations } = await expandQuery("the crowd", { terms, languages: ["en", "de"] });
    expect(translations).toEqual([]);
  });

  test("finds nothing for a question whose translation is in no passage", async () => {
    expect(idsOf(await search("comment installer un lave-vaisselle ?"))).toEqual([]);
  });
});

describe("many passages with words of the query", () => {
  const novels = Array.from({ length: 12 }, (_, at) => {
    return [`novel${at}`, "en", `Novel ${at}`, `The crowd lost its way, and the reason of it was rain ${at}.`] as const;
  });

  test("leave one of the first five places to a passage in another language", async () => {
    await using own = await fill([...novels, ...DOCUMENTS]);
    const found = await search("how a crowd loses its reason", {}, own);
    expect(idsOf(found).slice(0, 5)).toContain("foules");
    const scores = found.hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((one, other) => other - one));
  });

  test("leave no place to a passage that is not relevant", async () => {
    await using own = await fill([...novels, ...DOCUMENTS.filter(([id]) => id === "paris")]);
    expect(idsOf(await search("how a crowd loses its reason", {}, own))).not.toContain("paris");
  });
});

describe("synonyms", () => {
  test("find a passage that has none of the words, after one that has", async () => {
    await using own = await fill([
      ["own", "fr", "Notes", "Un navire arrive seul."],
      ["like", "fr", "Notes", "Un bateau arrive seul."],
      ["en", "en", "Notes", "Nothing about it."],
    ]);
    expect(idsOf(await search("où est le navire", {}, own))).toEqual(["own", "like"]);
  });

  test("are added to the group of their word, with less weight", async () => {
    const { groups } = await expandQuery("où est le navire", { terms, languages: ["en", "fr"] });
    const group = groups.find((one) => one.has("navir"))!;
    expect(group.get("navir")).toBe(1);
    expect(group.get("bateau")).toBeLessThan(1);
    expect(termsIn(groups)).not.toContain("et");
  });
});
