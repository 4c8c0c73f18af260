import { expect, test } from "vitest";
import { languageOf } from "../src/search/languages.ts";
import { authorKey } from "../src/search/names.ts";
import { termsIn } from "../src/search/term-group.ts";
import { Terms } from "../src/search/terms.ts";

async function termsOf(text: string, language: string): Promise<string[]> {
  const terms = new Terms();
  await terms.load([language]);
  return terms.of(text, language);
}

test("C41: words of a language share their stem, regardless of accents, capitals and elisions", async () => {
  const [, oeuvre, , philosophers] = await termsOf("L’Œuvre des philosophes", "fr");
  expect(await termsOf("oeuvre philosophe", "fr")).toEqual([oeuvre, philosophers]);
  expect(await termsOf("law LAWS", "en")).toEqual(["law", "law"]);
});

test("does not stem words of a language without a stemmer", async () => {
  expect(await termsOf("Žena ženy", "cs")).toEqual(["zena", "zeny"]);
});

test("returns each pair of adjacent characters as a term in scripts without spaces", async () => {
  expect(await termsOf("東京都", "ja")).toEqual(["東京", "京都"]);
});

test("returns one group for a word of a query, with its stem in every language of the library", async () => {
  const terms = new Terms();
  await terms.load(["en", "fr"]);
  expect(terms.groupsOf("laws laws", ["en", "fr"])).toHaveLength(1);
  expect(termsIn(terms.groupsOf("philosophes", ["en", "fr"]).slice(0, 1))).toEqual(
    expect.arrayContaining([...terms.of("philosophes", "en"), ...terms.of("philosophes", "fr")]),
  );
});

test("detects the language of a document, and not that of a single word", () => {
  expect(
    languageOf("Le nominalisme soutient que seuls les individus existent, et que les généraux sont des noms."),
  ).toBe("fr");
  expect(languageOf("nominalisme")).toBeUndefined();
});

test.each([
  ["Peirce, Charles Sanders", "charles sanders peirce"],
  ["Charles S. Peirce", "charles s peirce"],
  ["Émile Durkheim", "emile durkheim"],
])("normalises the author %s to %s", (name, key) => {
  expect(authorKey(name)).toBe(key);
});
