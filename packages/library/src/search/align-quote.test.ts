import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../test/support/random.ts";
import { alignQuote } from "./align-quote.ts";

const TEXT =
  "Logic is old. Nominalism denies that anything general is real, and whoever asks what a law is has to answer it. " +
  "L’œuvre de la pensée consiste à employer les noms.";

describe("alignQuote", () => {
  test.each([
    ["one changed word", "nominalism denies that nothing general is real", 6 / 7, [["nothing", "anything"]]],
    ["an omitted word", "Nominalism denies anything general is real", 5 / 6, [["", "that"]]],
    ["an added word", "that anything very general is real", 5 / 6, [["very", ""]]],
    ["another beginning", "Peirce denies that anything general is real", 6 / 7, [["Peirce", "Nominalism"]]],
    ["another end", "whoever asks what a law does", 5 / 6, [["does", "is"]]],
    ["two differences", "Realism denies that everything general is real", 5 / 7, undefined],
    ["the typesetting of another edition", "l'oeuvre de la pensee consiste", 0.8, [["pensee", "pensée"]]],
  ])("returns the similarity and the differences for %s", (_case, quote, similarity, differences) => {
    const found = alignQuote(quote, TEXT)!;
    expect(found.similarity).toBeCloseTo(similarity, 5);
    if (differences)
      expect(found.differences).toEqual(differences.map(([own, other]) => ({ quote: own, document: other })));
  });

  test("returns similarity 1 without differences for the same words", () => {
    expect(alignQuote("anything GENERAL is real", TEXT)).toMatchObject({ similarity: 1, differences: [] });
  });

  test.each(["zebra crossing", "", "…", "42"])(
    "returns undefined for the quotation %j, which has no word in common with the text",
    (quote) => {
      expect(alignQuote(quote, TEXT)).toBeUndefined();
    },
  );

  test("returns undefined for an empty text", () => {
    expect(alignQuote("anything", " ")).toBeUndefined();
  });

  test.each(Array.from({ length: 40 }, (_, seed) => seed))(
    "returns the range of a quotation with one changed word (seed %i)",
    (seed) => {
      const random = createRandom(seed);
      const words = Array.from({ length: 60 }, (_, at) => `w${at}${random.pick(["a", "b", "é"])}`);
      const [from, count] = [random.below(40), 4 + random.below(12)];
      const own = words.slice(from, from + count);
      const changed = own.with(1 + random.below(count - 2), "changed");
      const text = words.join(" ");
      const found = alignQuote(changed.join(" "), text)!;
      expect(text.slice(found.from, found.to)).toBe(own.join(" "));
      expect(found.similarity).toBeCloseTo(1 - 1 / count, 5);
      expect(found.differences).toHaveLength(1);
    },
  );

  test("compares at most the first 400 words of a quotation", () => {
    const words = Array.from({ length: 500 }, (_, at) => `w${at}`).join(" ");
    expect(alignQuote(`${words} other`, words)?.similarity).toBe(1);
  });
});
