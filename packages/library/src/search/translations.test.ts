import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Terms } from "./terms.ts";
import { loadTranslations, Translations } from "./translations.ts";

/** Dictionary of two languages with few words. */
const SMALL = new Translations(
  new Map([
    [
      "en-fr",
      new Map([
        ["crowd", "foul 100 mass 50"],
        ["mob", "foul 100"],
        ["rock", "pierr 100"],
      ]),
    ],
    [
      "fr-en",
      new Map([
        ["foul", "crowd 100 mob 60"],
        ["mass", "crowd 100"],
        ["pierr", "rock 100"],
      ]),
    ],
  ]),
);

describe("translations of the package", () => {
  test.each([
    ["crowd", "en", "foule"],
    ["lazy", "en", "paresseux"],
    ["tyrant", "en", "tyran"],
    ["obey", "en", "obéir"],
    ["laziness", "en", "paresse"],
    ["caverne", "fr", "cave"],
    ["parier", "fr", "wager"],
    ["croyance", "fr", "belief"],
    ["horloger", "fr", "watchmaker"],
    ["esclave", "fr", "slave"],
  ])("translates «%s» (%s) with «%s»", async (word, from, expected) => {
    const to = from === "en" ? "fr" : "en";
    const terms = new Terms();
    await terms.load([from, to]);
    const translations = (await loadTranslations([from, to]))!;
    const found = translations.of(terms.of(word, from)[0]!, from, to);
    expect(found.map(({ term }) => term)).toContain(terms.of(expected, to)[0]);
    expect(found[0]!.weight).toBe(1);
  });

  test.each([[["en"]], [["fr", "de"]], [[]], [["xx", "en"]]])("has none for a library in %j", async (languages) => {
    expect(await loadTranslations(languages)).toBeUndefined();
  });

  test.each(["en-fr", "fr-en"])("%s has sorted lines with at most five weighted translations", (name) => {
    const lines = readFileSync(new URL(`translations/${name}.tsv`, import.meta.url), "utf8").split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.filter((line) => !/^[^\s]+\t[^\s]+ 100( [^\s]+ \d{2,3}){0,4}$/u.test(line))).toEqual([]);
    expect(new Set(lines.map((line) => line.split("\t")[0])).size).toBe(lines.length);
  });
});

describe("a small dictionary", () => {
  test("returns translations with weights relative to the first", () => {
    expect(SMALL.of("crowd", "en", "fr")).toEqual([
      { term: "foul", weight: 1 },
      { term: "mass", weight: 0.5 },
    ]);
  });

  test.each([
    ["none", "en", "fr"],
    ["crowd", "fr", "en"],
    ["crowd", "en", "de"],
  ])("returns no translation of «%s» from %s to %s", (stem, from, to) => {
    expect(SMALL.of(stem, from, to)).toEqual([]);
  });

  test("returns words with the same translation as synonyms, and never the word itself", () => {
    const [mob, ...others] = SMALL.synonymsOf("crowd", "en");
    expect(mob).toMatchObject({ term: "mob" });
    expect(others).toEqual([]);
    expect(mob!.weight).toBeGreaterThan(0);
    expect(mob!.weight).toBeLessThan(1);
    expect(SMALL.synonymsOf("rock", "en")).toEqual([]);
    expect(SMALL.synonymsOf("none", "en")).toEqual([]);
  });
});
