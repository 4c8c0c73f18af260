import { describe, expect, test } from "vitest";
import { authorFilter, authorKey, hasAuthor, hasTitlePart, plainWords } from "./names.ts";

const matches = (author: string, filter: string): boolean => hasAuthor(authorKey(author), authorFilter(filter)!);

describe("hasAuthor", () => {
  test.each([
    ["Peirce, Charles Sanders", "Charles Sanders Peirce"],
    ["Charles Sanders Peirce", "Peirce, Charles Sanders"],
    ["Charles Sanders Peirce", "C. S. Peirce"],
    ["Charles Sanders Peirce", "C.S. Peirce"],
    ["Charles Sanders Peirce", "Peirce, C."],
    ["C. S. Peirce", "Charles Sanders Peirce"],
    ["Charles S. Peirce", "Charles Sanders Peirce"],
    ["La Boétie, Étienne de", "Etienne de La Boetie"],
    ["Jean-Jacques Rousseau", "J.-J. Rousseau"],
    ["Émile Durkheim", "DURKHEIM"],
    ["W. E. B. Du Bois", "Du Bois"],
  ])("the filter %s matches the author %s", (author, filter) => {
    expect(matches(author, filter)).toBe(true);
  });

  test.each([
    ["Charles Sanders Peirce", "Pei"],
    ["Charles Sanders Peirce", "C. B. Peirce"],
    ["Benjamin Peirce", "Charles Peirce"],
    ["William James", "Henry James"],
    ["", "James"],
  ])("the filter %s does not match the author %s", (author, filter) => {
    expect(matches(author, filter)).toBe(false);
  });

  test.each(["", "…", " , "])("returns no filter for %j, which contains no letters", (filter) => {
    expect(authorFilter(filter)).toBeUndefined();
  });
});

test.each([
  ["How to Make Our Ideas Clear", "make our ideas", true],
  ["How to Make Our Ideas Clear", "Ideas CLEAR", true],
  ["L’œuvre et le réel", "l'oeuvre", true],
  ["How to Make Our Ideas Clear", "clear ideas", false],
  ["How to Make Our Ideas Clear", "lear", false],
])("title %s, filter %s: matches %s", (title, part, expected) => {
  expect(hasTitlePart(plainWords(title), part)).toBe(expected);
});
