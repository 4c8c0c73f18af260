import { expect, test } from "vitest";
import { AddProgress } from "../src/command/add-progress.ts";
import { wordsFor } from "../src/command/words.ts";
import { DocumentError } from "../src/documents/document-error.ts";
import { Pulse } from "../src/service/pulse.ts";
import type { ToolContext } from "../../toolyard/src/providers/modules/api.ts";

const ENGLISH = wordsFor({});

/** Progress of two documents; the second is three times as large. A page takes one second. */
function under(env: Record<string, string> = {}) {
  let now = 0;
  const progress = new AddProgress([1_000, 3_000], wordsFor(env), () => now);
  return { progress, pass: (ms: number) => (now += ms) };
}

test("shows pages for a document and bytes for the total, each with the rate and the time left", () => {
  const { progress, pass } = under();
  progress.begin("/books/one.pdf");
  expect(progress.lines()).toEqual([
    { name: "all", state: "0 of 2", since: 0, done: 0, total: 1 },
    { name: "one.pdf", state: "reading", since: 0 },
  ]);
  pass(5_000);
  progress.page(5, 10);
  expect(progress.lines()).toEqual([
    { name: "all", state: "0 of 2", since: 0, done: 0.125, total: 1, note: "1.0 pages/s, 35 s left" },
    { name: "one.pdf", state: "reading", since: 0, done: 5, total: 10, note: "1.0 pages/s, 5 s left" },
  ]);
  progress.page(10, 10);
  pass(5_000);
  progress.begin("/books/two.pdf");
  progress.page(10, 40);
  pass(10_000);
  expect(progress.lines()[0]).toMatchObject({ state: "1 of 2", done: 0.4375, note: "1.0 pages/s, 26 s left" });
});

test("shows one line for one document, without an estimate at the start", () => {
  const progress = new AddProgress([0], ENGLISH, () => 0);
  progress.begin("https://example.com/texts/real");
  progress.page(1, 2);
  expect(progress.lines()).toEqual([{ name: "real", state: "reading", since: 0, done: 1, total: 2 }]);
});

test("C47: prints French in a French locale, and English in others", () => {
  const { progress, pass } = under({ LANG: "fr_CA.UTF-8" });
  progress.begin("/books/one.pdf");
  pass(5_000);
  progress.page(5, 10);
  expect(progress.lines()).toMatchObject([
    { name: "tout", state: "0 sur 2", note: "1,0 pages/s, reste 35 s" },
    { state: "lecture" },
  ]);
  expect(wordsFor({ LANG: "fr_FR", LC_ALL: "en_US.UTF-8" })).toBe(ENGLISH);
  expect(wordsFor({ LANG: "fur_IT" })).toBe(ENGLISH);
  const locked = new DocumentError("PDF_PROCESSING_ERROR", "It is locked.", "password_required");
  expect(wordsFor({ LANG: "fr" }).failure(locked)).toMatch(/^Le fichier est protégé par un mot de passe.* \(It is/u);
});

test("sends progress to the client with numbers that always grow", () => {
  const told: number[] = [];
  using pulse = new Pulse({ progress: (value) => void told.push(value) } as ToolContext);
  pulse.tell(3, 10);
  pulse.tell(3, 10);
  pulse.tell(2, 10);
  pulse.tell(4, 10);
  expect(told).toEqual(told.toSorted((one, other) => one - other));
  expect(new Set(told).size).toBe(4);
  expect(told[2]).toBeCloseTo(3);
});
