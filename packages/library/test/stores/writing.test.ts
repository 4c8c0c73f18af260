import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { searchPassages } from "../../src/search/search.ts";
import { Terms } from "../../src/search/terms.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import type { LibraryStore, PassageFields } from "../../src/store/store.ts";
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

/** Writes a document with one word in all passages. */
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

test("answers searches during a long write, each from one version", async () => {
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

test("applies concurrent changes one after another", async () => {
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

test("stores only the part of an array that the vector's view covers", async () => {
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

test("a library closed during a write is complete", async () => {
  const store = await openSqliteStore(file);
  const writing = writeLong(store, "w1");
  await store[Symbol.asyncDispose]();
  await writing;
  await using again = await openSqliteStore(file);
  expect((await again.document("doomed"))?.chunks).toBe(LONG);
});

test("reports a missing file, and does not create a new one", async () => {
  await using store = await openSqliteStore(file);
  renameSync(file, join(folder, "moved.db"));
  await expect(writeLong(store, "w1")).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("no longer exists"),
  });
  expect(existsSync(file)).toBe(false);
});

test("if the file is removed during use, reads and writes fail and do not create it again", async () => {
  await using store = await openSqliteStore(file);
  await writeLong(store, "w1");
  const moved = join(folder, "moved.db");
  renameSync(file, moved);
  const gone = { code: "STORE_UNAVAILABLE", message: expect.stringContaining("no longer exists") };
  await expect(writeLong(store, "w2")).rejects.toMatchObject(gone);
  await expect(wordsFound(store)).rejects.toMatchObject(gone);
  await expect(store.documents({}, { limit: 5, offset: 0 })).rejects.toMatchObject(gone);
  expect(existsSync(file)).toBe(false);
  renameSync(moved, file);
  expect(await wordsFound(store)).toEqual(new Set(["w1"]));
  await writeLong(store, "w3");
  expect(await wordsFound(store)).toEqual(new Set(["w3"]));
});

test("reports a backup that replaced the file during use, and does not modify it", async () => {
  {
    await using store = await openSqliteStore(file);
    await writeLong(store, "w1");
    const saved = join(folder, "saved.db");
    await store.backup!(saved);
    await writeLong(store, "w2");
    renameSync(saved, file);
    const other = { code: "STORE_UNAVAILABLE", message: expect.stringContaining("another file replaced it") };
    await expect(writeLong(store, "w3")).rejects.toMatchObject(other);
    await expect(wordsFound(store)).rejects.toMatchObject(other);
  }
  await using again = await openSqliteStore(file);
  expect(await wordsFound(again)).toEqual(new Set(["w1"]));
  expect(await again.check()).toEqual([]);
});

test("reports a thread that exits while receiving a document, and the next write starts a new thread", async () => {
  await using store = await openSqliteStore(file);
  let hasEnded = false;
  process.once("worker", (worker: Worker) => {
    worker.once("exit", () => (hasEnded = true));
    void worker.terminate();
  });
  const { document, text, passages } = doomedDocument("w1");
  // Passages of which only some are sent before the thread exits.
  const chunks = new Proxy<PassageFields[]>([], {
    get: (target, name) =>
      name === "length" ? (hasEnded ? 0 : Number.MAX_SAFE_INTEGER) : (Reflect.get(target, name) as unknown),
  });
  await expect(store.replaceDocument(document, text, { ...passages, chunks })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("thread that writes the library failed"),
  });
  expect(await store.document("doomed")).toBeUndefined();
  await writeLong(store, "w2");
  expect(await wordsFound(store)).toEqual(new Set(["w2"]));
});

test("a document that cannot be sent to the thread adds nothing to the next document", async () => {
  await using store = await openSqliteStore(file);
  const { document, text, passages } = doomedDocument("w1");
  const chunks = Array.from({ length: 250 }, (_, ordinal) => ({ ...passages.chunks[0]!, ordinal }));
  const unsendable = { ...chunks[220]!, concepts: [() => ""] as unknown as string[] };
  await expect(
    store.replaceDocument(document, text, { ...passages, chunks: chunks.with(220, unsendable) }),
  ).rejects.toThrow("could not be cloned");
  await writeLong(store, "w2");
  expect(await wordsFound(store)).toEqual(new Set(["w2"]));
  expect((await store.document("doomed"))?.chunks).toBe(LONG);
});

test("a closed library accepts no changes, and starts no thread", async () => {
  const store = await openSqliteStore(file);
  await writeLong(store, "w1");
  await store[Symbol.asyncDispose]();
  await expect(writeLong(store, "w2")).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("closed"),
  });
  await using again = await openSqliteStore(file);
  expect(await wordsFound(again)).toEqual(new Set(["w1"]));
});
