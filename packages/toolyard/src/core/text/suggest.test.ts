import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../../../../test/fixtures/cpu-time.ts";
import { editDistance, nearest } from "./suggest.ts";

test("finds the intended name for a typing error", () => {
  expect(nearest("serach_files", ["search_files", "send_email", "read_file"])).toEqual(["search_files"]);
});

test("finds nothing for a word that is far from every candidate", () => {
  expect(nearest("weather", ["search_files", "send_email"])).toEqual([]);
});

test("finds names with another separator, another case or without a prefix", () => {
  expect(nearest("GH.Search", ["gh__search"])).toEqual(["gh__search"]);
  expect(nearest("search", ["gh__search", "zz"])).toEqual(["gh__search"]);
  expect(nearest("serach", ["gh__search", "zz"])).toEqual(["gh__search"]);
});

test("returns at most three names, nearest first and then by name", () => {
  expect(nearest("abcd", ["abce", "abcf", "abcd", "abcg", "abch"])).toEqual(["abcd", "abce", "abcf"]);
});

test("does not depend on the order of the candidates", () => {
  const names = ["abce", "abcf", "abxd", "abcg", "abdc"];
  fc.assert(
    fc.property(fc.shuffledSubarray(names, { minLength: names.length }), (order) => {
      expect(nearest("abcd", order)).toEqual(nearest("abcd", names));
    }),
  );
});

test("the distance equals that of the textbook algorithm within the limit", () => {
  const word = fc.stringMatching(/^[abc]{0,7}$/);
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 4 }), (a, b, bound) => {
      const exact = textbook(a, b);
      expect(editDistance(a, b, bound)).toBe(exact <= bound ? exact : Infinity);
    }),
    { numRuns: 500 },
  );
});

test("S18: compares 10,000 long candidates quickly", () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `server_${at % 20}__some_rather_long_tool_name_${at}`);
  const began = cpuMs();
  nearest("server_7__some_rather_long_tol_name_4711", names);
  expect(cpuMs() - began).toBeLessThan(1500);
});

/** Textbook algorithm of optimal string alignment, with the whole table. */
function textbook(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, row) =>
    Array.from({ length: b.length + 1 }, (_, column) => (row === 0 ? column : column === 0 ? row : 0)),
  );
  for (let row = 1; row <= a.length; row += 1) {
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let cost = Math.min(
        table[row - 1]![column]! + 1,
        table[row]![column - 1]! + 1,
        table[row - 1]![column - 1]! + same,
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        cost = Math.min(cost, table[row - 2]![column - 2]! + 1);
      table[row]![column] = cost;
    }
  }
  return table[a.length]![b.length]!;
}
