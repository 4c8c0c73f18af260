import { expect, test } from "vitest";
import { preferredLanguage } from "./preferred-language.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["de", "de"],
  ["de-AT,de;q=0.9,en;q=0.8", "de"],
  ["en;q=0.3, FR;q=0.9", "fr"],
  ["nl, fr;q=0.5, en;q=0.4", "fr"],
  ["de;q=0, en", "en"],
  ["*", undefined],
  [`${"xx,".repeat(10)}de`, undefined],
  ["de;q=x, fr", "de"],
])("prefers in the header %j the language %j", (header, language) => {
  expect(preferredLanguage(header, ["en", "de", "fr"])).toBe(language);
});
