import { describe, expect, test } from "vitest";
import { findQuote } from "../src/search/find-quote.ts";
import { plainText } from "../src/search/plain-text.ts";
import { QuoteSearch } from "../src/search/quote-search.ts";
import type { SearchParts } from "../src/search/search.ts";
import { Terms, wordsOf } from "../src/search/terms.ts";
import { createRandom } from "../../../test/support/random.ts";

describe("a quotation matches regardless of its typography", () => {
  test.each([
    ["accents as signs of their own", "une idée générale", "une ide\u0301e ge\u0301ne\u0301rale"],
    ["ligatures of printers", "the final office", "the \ufb01nal o\ufb03ce"],
    ["ligatures of a language", "l’œuvre et le Cæsar", "l'oeuvre et le Caesar"],
    ["a word that was cut at the end of a line", "what nominalism denies", "what nomi-\nnalism denies"],
    ["a compound that was cut there", "a self-evident law", "a self-\n  evident law"],
    ["soft hyphens, and signs without width", "nominalism", "nomi\u00adna\u200blism"],
    ["quotation marks", 'he said "no" to it', "he said « no » to it"],
    ["quotation marks below", 'he said "no" to it', "he said „no” to it"],
    ["apostrophes", "it isn't real", "it isn’t real"],
    ["dashes", "a law — a habit", "a law -- a habit"],
    ["dashes without spaces", "a law — a habit", "a law—a habit"],
    ["dashes between numbers", "in 1878-1879", "in 1878–1879"],
    ["the spaces of French", "le réel : est-il ?", "le réel\u202f: est-il\u00a0?"],
  ])("%s", (_what, plain, set) => {
    expect(plainText(set).text).toBe(plainText(plain).text);
  });

  test.each([
    ["other accents are other words", "pêche", "péché"],
    ["two words are not one", "no thing", "nothing"],
    ["a sign more is another quotation", "is it real", "is it real?"],
  ])("%s", (_what, one, other) => {
    expect(plainText(one).text).not.toBe(plainText(other).text);
  });

  test("maps each character to its position in the original text", () => {
    const text = "Une ide\u0301e, « nomi-\nnale », du \ufb01ni";
    const plain = plainText(text);
    const at = plain.text.indexOf("nominale");
    expect(text.slice(plain.starts[at], plain.ends[at + "nominale".length - 1])).toBe("nomi-\nnale");
    const accent = plain.text.indexOf("idée");
    expect(text.slice(plain.starts[accent], plain.ends[accent + 3])).toBe("ide\u0301e");
    expect(text.slice(plain.starts.at(-4), plain.ends.at(-1))).toBe("\ufb01ni");
  });

  test("reads a long run of spaces quickly", () => {
    expect(plainText(`a${" ".repeat(500_000)}b`).text).toBe("a b");
  });
});

/** Returns every place of a quotation, by comparing it at each character of the text. */
function placesByHand(text: string, quote: string): [number, number][] {
  const plain = plainText(text);
  const wanted = plainText(quote).text.trim();
  const places: [number, number][] = [];
  if (wanted === "") return places;
  for (let at = 0; at + wanted.length <= plain.text.length; at += 1)
    if (plain.text.startsWith(wanted, at)) places.push([plain.starts[at]!, plain.ends[at + wanted.length - 1]!]);
  return places;
}

const searched = (text: string, quote: string): unknown[] =>
  Array.from(new QuoteSearch(quote).placesIn(text)).filter((place) => place !== undefined);

test.each(Array.from({ length: 60 }, (_, seed) => seed))(
  "finds the same places as a comparison letter by letter (seed %i)",
  (seed) => {
    const random = createRandom(seed);
    const signs = [
      "a",
      "b",
      "A",
      "-",
      " ",
      "\n",
      "é",
      "e\u0301",
      "1",
      "«",
      "\u00ad",
      "\ufb01",
      "—",
      "\u{1f600}",
      "\u0301",
    ];
    const own = Array.from({ length: 2 + random.below(signs.length - 2) }, () => random.pick(signs));
    const textOf = (length: number): string => Array.from({ length }, () => random.pick(own)).join("");
    for (let time = 0; time < 20; time += 1) {
      const text = textOf(random.below(200));
      const from = random.below(text.length + 1);
      const quote = random.below(2) === 0 ? textOf(1 + random.below(6)) : text.slice(from, from + 1 + random.below(30));
      expect(searched(text, quote)).toEqual(placesByHand(text, quote));
    }
  },
);

test.each<[string, string, string]>([
  ["prose", "the quick brown fox jumps over the lazy dog ".repeat(40_000), "no such words in it"],
  ["one letter, again and again", "a".repeat(1_000_000), `${"a".repeat(9_999)}b`],
  ["a long period that breaks at its end", `${"a".repeat(99)}b`.repeat(10_000), `${`${"a".repeat(99)}b`.repeat(99)}c`],
  ["marks out of their order", `a${"\u0301\u0323".repeat(200_000)}`, "a\u0323\u0301x"],
  ["dashes and spaces", "a - ".repeat(250_000), "- b"],
  ["hyphens before spaces", `a-${" ".repeat(500)}1`.repeat(1_000), "b"],
  ["digits and spaces", `1${" ".repeat(500)}-`.repeat(1_000), "b"],
])("reads a long text in time proportional to its length: %s", (_what, text, quote) => {
  expect(searched(text, quote)).toEqual([]);
});

describe("a search through a long text", () => {
  const TEXT = "the quick brown fox jumps over the lazy dog ".repeat(100_000);
  const nothing = { languages: [], candidates: [], passages: [] } as const;
  const stats = { passages: 0, averageLength: 0, frequencies: new Map() };
  // A store with only the methods that a search for a quotation calls.
  const store = {
    languages: async () => nothing.languages,
    termStats: async () => stats,
    candidates: async () => nothing.candidates,
    passages: async () => nothing.passages,
    document: async () => ({ sourceId: "long", pageStarts: [] }),
    textOf: async () => TEXT,
  };
  const parts = { store, terms: new Terms(), embedder: undefined } as unknown as SearchParts;

  test("lets the event loop answer other requests, in a store without an index of texts", async () => {
    let turns = 0;
    let isOver = false;
    const search = findQuote({ quote: "the lazy cat", sourceId: "long" }, parts).finally(() => (isOver = true));
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    expect(await search).toEqual({ places: [] });
    expect(turns).toBeGreaterThan(3);
  });

  test("rejects with the signal's reason when the signal is aborted", async () => {
    const leaving = new AbortController();
    const search = findQuote({ quote: "the lazy cat", sourceId: "long", signal: leaving.signal }, parts);
    setImmediate(() => leaving.abort(new Error("left")));
    await expect(search).rejects.toThrow("left");
  });

  test("returns at most twenty places", async () => {
    const request = { quote: "OVER the lazy dog the", sourceId: "long" };
    expect((await findQuote(request, parts)).places).toHaveLength(20);
  });
});

test("a soft hyphen does not split an indexed word", () => {
  expect(wordsOf("nomi\u00adnalism")).toEqual(["nominalism"]);
});
