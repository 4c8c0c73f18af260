import type { DocumentFields, Passages } from "../../src/store/store.ts";
import { vectorOf } from "./corpus.ts";

export const CHUNKS = 12;
/** Passages of a book, which is written into the log of a file before it is complete. */
export const BOOK_CHUNKS = 3_000;

interface DocumentToDelete {
  readonly document: DocumentFields;
  readonly text: string;
  readonly passages: Passages;
}

/** A document that contains one word in all passages, so that a mixture of two versions is visible. */
export function doomedDocument(word: string, count = CHUNKS): DocumentToDelete {
  const passage = (ordinal: number, level: number) => ({
    ordinal,
    level,
    section: ["Doomed"],
    from: ordinal,
    to: ordinal + 1,
    // Passages of a book have the usual length.
    text: `${word} ${ordinal}`.padEnd(count === CHUNKS ? 0 : 600, "…"),
    terms: `${word} all`,
    length: 2,
    vector: vectorOf("w1 w2"),
  });
  return {
    document: {
      sourceId: "doomed",
      uri: "file:///doomed.md",
      contentHash: word.padEnd(64, "0"),
      pipeline: "1",
      bytes: 1,
      mime: "text/markdown",
      title: word,
      work: word,
      pages: 0,
      pageStarts: [],
      toc: [],
      origins: {},
      warnings: [],
    },
    text: word.repeat(3),
    passages: {
      embedder: "made",
      chunks: Array.from({ length: count }, (_, ordinal) => passage(ordinal, 0)),
      summaries: [passage(0, 1)],
    },
  };
}
