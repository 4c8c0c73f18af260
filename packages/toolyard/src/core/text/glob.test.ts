import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../../../../test/fixtures/cpu-time.ts";
import { matchesAnyGlob, matchesGlob } from "./glob.ts";

test.each([
  ["*", ""],
  ["gh__*", "gh__search"],
  ["*__search", "gh__search"],
  ["gh__*_issue", "gh__create_issue"],
  ["a?c", "abc"],
  ["meta.*", "meta.ping"],
  ["**", "anything"],
])("`%s` matches `%s`", (pattern, text) => {
  expect(matchesGlob(pattern, text)).toBe(true);
});

test.each([
  ["", "a"],
  ["gh__*", "gl__search"],
  ["a?c", "ac"],
  ["meta.*", "metaXping"],
  ["GH__*", "gh__search"],
  ["a*b", "ac"],
])("`%s` does not match `%s`", (pattern, text) => {
  expect(matchesGlob(pattern, text)).toBe(false);
});

test("matches if one of several patterns matches, and never without patterns", () => {
  expect(matchesAnyGlob(["a*", "b*"], "bc")).toBe(true);
  expect(matchesAnyGlob([], "bc")).toBe(false);
});

test("agrees with the equivalent regular expression", () => {
  const part = fc.constantFrom("a", "b", "*", "?", ".");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), fc.stringMatching(/^[ab.]{0,10}$/), (parts, text) => {
      const expression = parts
        .map((one) => (one === "*" ? ".*" : one === "?" ? "." : one === "." ? "\\." : one))
        .join("");
      expect(matchesGlob(parts.join(""), text)).toBe(new RegExp(`^${expression}$`).test(text));
    }),
  );
});

test("S18: matches a pattern of many stars quickly", () => {
  const began = cpuMs();
  expect(matchesGlob(`${"*a".repeat(200)}b`, "a".repeat(8192))).toBe(false);
  expect(cpuMs() - began).toBeLessThan(500);
});
