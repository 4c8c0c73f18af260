import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { searchPassages } from "../../../servers/library/search/search.ts";
import { Terms } from "../../../servers/library/search/terms.ts";
import { openSqliteStore } from "../../../servers/library/store/sqlite.ts";
import type { LibraryStore } from "../../../servers/library/store/store.ts";
import { embedder, fill, madeDocuments } from "./corpus.ts";
import { doomedDocument } from "./doomed-document.ts";

const LONG = 1_500;

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-writing-"));
  file = join(folder, "library.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** All of whose passages hold one word. */
function writeLong(store: LibraryStore, word: string): Promise<void> {
  const { document, text, passages } = doomedDocument(word);
  const chunks = Array.from({ length: LONG }, (_, ordinal) => ({ ...passages.chunks[0]!, ordinal }));
  return store.replaceDocument(document, text, { ...passages, chunks });
}

async function wordsFound(store: LibraryStore): Promise<Set<string>> {
  const request = { query: "all", limit: 50, filter: {}, minSimilarity: 0 };
  const { hits } = await searchPassages("chunk", request, { store, terms: new Terms(), embedder });
  expect(hits).toHaveLength(50);
  return new Set(hits.map(({ passage }) => passage.text.split(" ")[0]!));
}

test("while a long document is replaced, searches are answered, each from one reading of it", async () => {
  await using store = await openSqliteStore(file);
  await using other = await openSqliteStore(file);
  await writeLong(store, "w1");
  const over = new AbortController();
  const writing = writeLong(store, "w2").finally(() => over.abort());
  let during = 0;
  while (!over.signal.aborted) {
    for (const one of [store, other]) {
      const words = await wordsFound(one);
      expect(words.size, Array.from(words).join(" ")).toBe(1);
      if (words.has("w1")) during += 1;
    }
    await nextTurn();
  }
  await writing;
  expect(during).toBeGreaterThan(0);
  for (const one of [store, other]) expect(await wordsFound(one)).toEqual(new Set(["w2"]));
  expect(await store.check()).toEqual([]);
});

test("changes that come at the same time are made one after another", async () => {
  await using store = await openSqliteStore(file);
  const documents = await madeDocuments(8, 3);
  await Promise.all(documents.map((document) => fill(store, [document])));
  const [first, second] = documents;
  const [deleted, gone] = await Promise.all([
    store.deleteDocument(first!.document.sourceId),
    store.deleteDocument("none"),
    fill(store, [second!]),
  ]);
  expect([deleted, gone]).toEqual([{ chunks: 3, summaries: 3 }, undefined]);
  expect((await store.documents({}, { limit: 50, offset: 0 })).total).toBe(7);
  expect(await store.check()).toEqual([]);
});

test("a vector that is a view of a larger list of numbers is kept alone", async () => {
  await using store = await openSqliteStore(file);
  const { document, text, passages } = doomedDocument("w1");
  const numbers = new Float32Array(1_000).fill(0.5);
  const vector = numbers.subarray(500, 504);
  await store.replaceDocument(document, text, {
    ...passages,
    chunks: [{ ...passages.chunks[0]!, vector }],
    summaries: [],
  });
  expect((await store.whole("doomed"))!.passages.chunks[0]!.vector).toEqual(new Float32Array([0.5, 0.5, 0.5, 0.5]));
});

test("a library that is closed while it is written is whole", async () => {
  const store = await openSqliteStore(file);
  const writing = writeLong(store, "w1");
  await store[Symbol.asyncDispose]();
  await writing;
  await using again = await openSqliteStore(file);
  expect((await again.document("doomed"))?.chunks).toBe(LONG);
});

test("a file that is gone is told, and none is made in its place", async () => {
  await using store = await openSqliteStore(file);
  renameSync(file, join(folder, "moved.db"));
  await expect(writeLong(store, "w1")).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("is gone"),
  });
  expect(existsSync(file)).toBe(false);
});
