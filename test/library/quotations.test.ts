import { describe, expect, test } from "vitest";
import { plainText } from "../../servers/library/search/plain-text.ts";
import { wordsOf } from "../../servers/library/search/terms.ts";

describe("a quotation is the same however it is set", () => {
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

  test("each letter is known by its place in the text as it is", () => {
    const text = "Une ide\u0301e, « nomi-\nnale », du \ufb01ni";
    const plain = plainText(text);
    const at = plain.text.indexOf("nominale");
    expect(text.slice(plain.starts[at], plain.ends[at + "nominale".length - 1])).toBe("nomi-\nnale");
    const accent = plain.text.indexOf("idée");
    expect(text.slice(plain.starts[accent], plain.ends[accent + 3])).toBe("ide\u0301e");
    expect(text.slice(plain.starts.at(-4), plain.ends.at(-1))).toBe("\ufb01ni");
  });

  test("a long run of spaces takes no long time", () => {
    expect(plainText(`a${" ".repeat(500_000)}b`).text).toBe("a b");
  });
});

test("a soft hyphen divides no word of the index", () => {
  expect(wordsOf("nomi\u00adnalism")).toEqual(["nominalism"]);
});
