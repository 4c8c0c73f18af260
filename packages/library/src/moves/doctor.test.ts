import { describe, expect, test } from "vitest";
import { PIPELINE } from "../ingest/ingest.ts";
import type { LibraryStore } from "../store/store.ts";
import { examine } from "./doctor.ts";

/** Returns a store with documents of these pipelines, without files. */
function storeOf(pipelines: readonly string[]): LibraryStore {
  const documents = pipelines.map((pipeline, at) => ({
    sourceId: `book${at + 1}`,
    uri: "https://books.test/1",
    chunks: 3,
    pipeline,
  }));
  return {
    describe: async () => ({ engine: "SQLite", place: "memory" }),
    embedder: async () => undefined,
    check: async () => [],
    documents: async () => ({ documents, total: documents.length }),
  } as unknown as LibraryStore;
}

describe("outdated documents", () => {
  test.each([
    ["none of the current version", [`${PIPELINE} 200 800 words`], undefined],
    ["none with other settings", [`${PIPELINE} 100 500 table`], undefined],
    ["one of an earlier version", ["1 200 800 words", `${PIPELINE} 200 800 words`], "found less well: book1."],
    ["one of a later version", [`${PIPELINE}0 200 800 words`], "found less well: book1."],
    ["one without a version", [""], "found less well: book1."],
    [
      "the first of many",
      Array.from({ length: 7 }, () => "4 200 800"),
      "found less well: book1, book2, book3, book4, book5 and 2 more.",
    ],
  ])("are named, except those of the current version: %s", async (_, pipelines, message) => {
    const { findings } = await examine(storeOf(pipelines), undefined);
    if (message === undefined) expect(findings).toEqual([]);
    else expect(findings).toEqual([{ what: expect.stringContaining(message), canMend: false, about: "versions" }]);
  });
});
