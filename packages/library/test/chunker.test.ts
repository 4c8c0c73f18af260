import * as fc from "fast-check";
import { expect, test } from "vitest";
import { assemble } from "../src/documents/assemble.ts";
import type { Block } from "../src/documents/block.ts";
import { Sentences } from "../src/documents/sentences.ts";
import { summariesOf } from "../src/documents/summary.ts";
import { Terms } from "../src/search/terms.ts";
import { chunksOf } from "../src/documents/chunker.ts";

const BOUNDS = { min: 200, max: 800 };
const words = fc.array(fc.constantFrom("law", "nominalism", "réel", "idea.", "so,", "Why?", "x".repeat(900)), {
  minLength: 1,
  maxLength: 300,
});
const block: fc.Arbitrary<Block> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("heading" as const),
      level: fc.integer({ min: 1, max: 4 }),
      text: fc.constantFrom("One", "Two", "Three"),
    }),
  },
  { weight: 4, arbitrary: words.map((list) => ({ kind: "paragraph" as const, text: list.join(" ") })) },
);

function assembled(blocks: readonly Block[]) {
  return assemble({ blocks, pages: 0, metadata: [], warnings: [] });
}

test("R20: chunks respect the size limits, do not overlap, and stay within their section", () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 12 }), (blocks) => {
      const document = assembled(blocks);
      const chunks = chunksOf(document, BOUNDS);
      for (const [at, { from, to, section }] of chunks.entries()) {
        expect(to - from).toBeGreaterThan(0);
        expect(to - from).toBeLessThanOrEqual(BOUNDS.max);
        expect(from).toBeGreaterThanOrEqual(chunks[at - 1]?.to ?? 0);
        const parts = document.parts.filter((part) => part.from < to && part.to > from);
        for (const part of parts) expect(part.section).toEqual(section);
      }
    }),
    { seed: 16, numRuns: 150 },
  );
});

test("R20: chunks contain the whole text of a document except spaces", () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 12 }), (blocks) => {
      const document = assembled(blocks);
      const letters = (text: string): string => text.replaceAll(/\s/g, "");
      const own = document.parts.map(({ from, to }) => document.text.slice(from, to)).join("");
      const found = chunksOf(document, BOUNDS)
        .map(({ from, to }) => document.text.slice(from, to))
        .join("");
      expect(letters(found)).toBe(letters(own));
    }),
    { seed: 17, numRuns: 150 },
  );
});

test("joins short paragraphs of one section into one chunk, but not paragraphs of two sections", () => {
  const text = (word: string): Block => ({ kind: "paragraph", text: `${word} ${"words ".repeat(10)}`.trim() });
  const heading = (title: string): Block => ({ kind: "heading", level: 1, text: title });
  const chunks = chunksOf(
    assembled([heading("A"), text("first"), text("second"), heading("B"), text("third")]),
    BOUNDS,
  );
  expect(chunks.map(({ section }) => section)).toEqual([["A"], ["B"]]);
});

test("divides a paragraph of 150,000 sentences, and a section of 150,000 paragraphs", () => {
  const sentence = "Yes, so it is. ";
  const long = chunksOf(assembled([{ kind: "paragraph", text: sentence.repeat(150_000) }]), { min: 5, max: 20 });
  expect(long.length).toBe(150_000);
  const many = Array.from({ length: 150_000 }, (): Block => ({ kind: "paragraph", text: sentence }));
  expect(chunksOf(assembled(many), { min: 5, max: 20 }).length).toBe(150_000);
});

test("finds the same sentence ends in a long text as in a short one, and none within a character", () => {
  const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
  const text = "Yes, so it is. Is it, Mr. Peirce? “It is.” And 1.5 of it is 🦉 as well…\n".repeat(400);
  const ends = Array.from(segmenter.segment(text), ({ index, segment }) => index + segment.length);
  expect(new Sentences("en").endsIn(text)).toEqual(ends);
  expect(new Sentences("en").endsIn(`a${"🦉".repeat(10_000)}`).every((end) => end % 2 === 1)).toBe(true);
});

test("returns no summary for a single sentence of 150,000 words", () => {
  const text = Array.from({ length: 150_000 }, (_, at) => `word${at}`).join(" ");
  const rules = { terms: new Terms(), language: undefined, title: "Words" };
  expect(summariesOf(assembled([{ kind: "paragraph", text }]), rules)).toEqual([]);
});
