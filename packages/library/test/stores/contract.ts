import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plainLetters } from "../../src/search/plain-text.ts";
import { searchPassages, type PassageHits, type SearchRequest } from "../../src/search/search.ts";
import { Terms } from "../../src/search/terms.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import type { Filter, LibraryStore, PassageFields, PassageKind } from "../../src/store/store.ts";
import { createRandom } from "../../../../test/support/random.ts";
import { embedder, fill, FILTERS, madeDocuments, vectorOf, wordsOf, type MadeDocument } from "./corpus.ts";

const QUERIES = 100;
const DOCUMENTS = 30;
const CHUNKS_EACH = 12;
const ALL = { limit: 1_000, offset: 0 };
/** Time for every query with every filter on a remote server. */
const ALL_QUERIES_MS = 900_000;

export interface OpenStore {
  readonly store: LibraryStore;
  /** Opens a second connection to the same library, as another process would. */
  again(): Promise<LibraryStore>;
  close(): Promise<void>;
}

/** Contract of every store; `open` returns an empty one. With STORES_ALL, every query with every filter. */
export function storeContract(name: string, open: () => Promise<OpenStore>): void {
  describe(name, () => {
    let opened: OpenStore;
    let store: LibraryStore;
    let reference: LibraryStore;
    let documents: MadeDocument[];

    beforeAll(async () => {
      documents = await madeDocuments(DOCUMENTS, CHUNKS_EACH);
      opened = await open();
      store = opened.store;
      reference = await openSqliteStore(":memory:");
      await fill(store, documents);
      await fill(reference, documents);
    });
    afterAll(async () => {
      await opened?.close();
      await reference?.[Symbol.asyncDispose]();
    });

    const everywhere = "R20: a hundred queries find the same passages with the same similarities under every filter";
    test(everywhere, process.env["STORES_ALL"] ? { timeout: ALL_QUERIES_MS } : {}, async () => {
      const random = createRandom(11);
      for (let at = 0; at < QUERIES; at += 1) {
        const query = wordsOf(random, 7).join(" ");
        const filters = process.env["STORES_ALL"] ? FILTERS : [FILTERS[at % FILTERS.length]!];
        for (const filter of filters) {
          const request = { query, limit: 10, filter, minSimilarity: 0 };
          const expected = shown(await searched(reference, "chunk", request));
          expect(shown(await searched(store, "chunk", request)), JSON.stringify(request)).toEqual(expected);
        }
      }
    });

    test("finds the same summaries as the reference store, also by level", async () => {
      for (const levels of [undefined, [2, 3] as const]) {
        const request = { query: "w3 w70 w200", limit: 10, filter: {}, minSimilarity: 0, ...(levels && { levels }) };
        expect(shown(await searched(store, "summary", request))).toEqual(
          shown(await searched(reference, "summary", request)),
        );
      }
    });

    test.each(FILTERS)("lists documents in one order, in pages without gaps: %j", async (filter) => {
      const ids = async (of: LibraryStore, window = ALL) =>
        (await of.documents(filter, window)).documents.map(({ sourceId }) => sourceId);
      const expected = await ids(reference);
      expect(await ids(store)).toEqual(expected);
      const pages: string[] = [];
      for (let offset = 0; offset < expected.length; offset += 4)
        pages.push(...(await ids(store, { limit: 4, offset })));
      expect(pages).toEqual(expected);
      expect((await store.documents(filter, { limit: 1, offset: 0 })).total).toBe(expected.length);
    });

    test("returns a document and its text unchanged", async () => {
      const { document, text, chunks, summaries } = documents[3]!;
      expect(await store.document(document.sourceId)).toMatchObject({ ...document, chunks: CHUNKS_EACH, summaries: 3 });
      expect(await store.documentByUri(document.uri)).toMatchObject({ sourceId: document.sourceId });
      expect(await store.documentByHash(document.contentHash)).toMatchObject({ sourceId: document.sourceId });
      expect(await store.textOf(document.sourceId)).toBe(text);
      const whole = await store.whole(document.sourceId);
      expect(whole).toMatchObject({ document, text, passages: { embedder: embedder.id } });
      expect(whole!.passages.chunks).toEqual(chunks.map((chunk) => ({ ...chunk, concepts: chunk.concepts ?? [] })));
      expect(whole!.passages.summaries).toEqual(summaries);
    });

    test("returns undefined for unknown documents", async () => {
      expect(await store.document("none")).toBeUndefined();
      expect(await store.documentByUri("file:///none")).toBeUndefined();
      expect(await store.documentByHash("none")).toBeUndefined();
      expect(await store.textOf("none")).toBeUndefined();
      expect(await store.whole("none")).toBeUndefined();
      expect(await store.deleteDocument("none")).toBeUndefined();
    });

    test("returns the passages of a document in order, by window and by section title", async () => {
      const of = async (from: LibraryStore, section?: string) =>
        from.range("chunk", { sourceId: "work_4", limit: 5, offset: 2, ...(section !== undefined && { section }) });
      for (const section of [undefined, "The Work no. 4 › Part 1", "The Work no. 4 › Part 9"]) {
        const { passages, total } = await of(store, section);
        const expected = await of(reference, section);
        // Each store numbers its passages differently.
        const plain = expected.passages.map((passage, at) => ({ ...passage, id: passages[at]?.id }));
        expect(passages).toEqual(plain);
        expect(total).toBe(expected.total);
      }
    });

    test("returns the languages and term frequencies of the documents", async () => {
      expect(await store.languages()).toEqual(["de", "en", "fr"]);
      const terms = ["w1", "w17", "w599", "none"];
      for (const kind of ["chunk", "summary"] as const)
        expect(await store.termStats(kind, terms)).toEqual(await reference.termStats(kind, terms));
    });

    test.each(FILTERS)("returns passages that contain one word of each group: %j", async (filter) => {
      for (const kind of ["chunk", "summary"] as const) {
        const one = (await store.candidates(kind, { any: ["w1", "w40"] }, filter)).map(({ id, terms }) => [id, terms]);
        const words = new Set(["w2", "w70"]);
        const expected = one.filter(([, terms]) =>
          String(terms)
            .split(" ")
            .some((term) => words.has(term)),
        );
        const both = await store.candidates(kind, { any: ["w1", "w40"], and: Array.from(words) }, filter);
        expect(both.map(({ id, terms }) => [id, terms]).toSorted(byId)).toEqual(expected.toSorted(byId));
      }
      expect(await store.candidates("chunk", { any: ["none"], and: ["w1"] }, filter)).toEqual([]);
      expect(await store.candidates("chunk", { any: [] }, filter)).toEqual([]);
    });

    test("finds a text in every document, in the order of the documents", async () => {
      const document = documents[5]!;
      const piece = document.text.slice(10, 40).trim();
      for (const sourceId of [undefined, document.document.sourceId]) {
        const request = { plain: plainLetters(piece), sourceId, most: 20 };
        const expected = await reference.textPlaces!(request);
        expect(expected.some((place) => document.text.slice(place.from, place.to) === piece)).toBe(true);
        if (store.textPlaces) expect(await store.textPlaces(request)).toEqual(expected);
      }
      const none = { plain: "no document has these words", most: 20 };
      expect((await store.textPlaces?.(none)) ?? []).toEqual([]);
    });

    test("check reports no findings, and repair changes nothing", async () => {
      expect(await store.check()).toEqual([]);
      await store.repair();
      expect(await store.check()).toEqual([]);
      const { engine, place } = await store.describe();
      expect(engine).not.toBe("");
      expect(place).not.toContain("secret");
    });

    changes(() => opened);
  });
}

/** Operations that change the library; each test restores it. */
function changes(current: () => OpenStore): void {
  test("a search finds changes that another connection made before", async () => {
    const { store, again } = current();
    const other = await again();
    const find = async (query: string) =>
      (await searched(other, "chunk", { query, limit: 5, filter: {}, minSimilarity: 0 })).hits.map(
        ({ passage }) => `${passage.sourceId} ${passage.text}`,
      );
    const [extra] = await madeDocuments(1, 1, 99);
    const add = (text: string): Promise<void> =>
      store.replaceDocument({ ...extra!.document, sourceId: "extra", uri: "file:///extra" }, text, {
        embedder: embedder.id,
        chunks: [{ ...extra!.chunks[0]!, text, terms: text, length: 2, vector: vectorOf("w9000 w9001") }],
        summaries: [],
      });
    try {
      await add("w9000 w9001");
      expect(await find("w9000")).toContain("extra w9000 w9001");
      const { created } = (await other.document("extra"))!;
      await add("w9002 w9001");
      expect((await find("w9002"))[0]).toBe("extra w9002 w9001");
      expect(await find("w9000")).not.toContain("extra w9000 w9001");
      expect((await other.document("extra"))!.created).toBe(created);
      expect((await other.termStats("chunk", ["w9000", "w9002"])).frequencies).toEqual(new Map([["w9002", 1]]));
      expect(await store.deleteDocument("extra")).toEqual({ chunks: 1, summaries: 0 });
      expect((await find("w9002")).filter((hit) => hit.startsWith("extra"))).toEqual([]);
    } finally {
      await store.deleteDocument("extra");
      await other[Symbol.asyncDispose]();
    }
  });

  test("a repair during a write leaves the document complete", async () => {
    const { store, again } = current();
    const other = await again();
    const [extra] = await madeDocuments(1, 1, 97);
    const passage = extra!.chunks[0]!;
    const chunks = Array.from({ length: 600 }, (_, ordinal) => ({ ...passage, ordinal }));
    const document = { ...extra!.document, sourceId: "mended", uri: "file:///mended" };
    const over = new AbortController();
    try {
      const writing = store.replaceDocument(document, extra!.text, { embedder: embedder.id, chunks, summaries: [] });
      const written = writing.finally(() => over.abort());
      while (!over.signal.aborted) await other.repair();
      await written;
      expect((await other.whole("mended"))?.passages.chunks).toHaveLength(chunks.length);
      expect(await other.check()).toEqual([]);
    } finally {
      await store.deleteDocument("mended");
      await other[Symbol.asyncDispose]();
    }
  });

  test("stores and filters texts with special characters of every database engine", async () => {
    const { store } = current();
    const [extra] = await madeDocuments(1, 1, 98);
    const text = String.raw`'"\{}[]$1 %_ ${"\u2028"} 🦉 œuvre — «réel» {"a": null} \u0000 \\u0000 \ud800`;
    const document = { ...extra!.document, sourceId: `it's "odd" {1}`, uri: "file:///odd", title: text, work: text };
    try {
      await store.replaceDocument(document, text, { chunks: [{ ...extra!.chunks[0]!, text }], summaries: [] });
      const found = await store.whole(document.sourceId);
      expect(found).toMatchObject({ document: { title: text }, text });
      expect(found!.passages.chunks[0]!.text).toBe(text);
      expect((await store.documents({ work: text }, { limit: 5, offset: 0 })).total).toBe(1);
    } finally {
      await store.deleteDocument(document.sourceId);
    }
  });

  test("replaces an unpaired surrogate with U+FFFD, at the same offset", async () => {
    const { store } = current();
    const [extra] = await madeDocuments(1, 1, 96);
    const [given, kept] = ["before \ud800 after", "before \ufffd after"];
    const document = { ...extra!.document, sourceId: "half", uri: "file:///half", title: given };
    try {
      const chunk = { ...extra!.chunks[0]!, text: given, section: [given] };
      await store.replaceDocument(document, given, { chunks: [chunk], summaries: [] });
      const found = await store.whole("half");
      expect(found).toMatchObject({ text: kept, passages: { chunks: [{ text: kept }] } });
    } finally {
      await store.deleteDocument("half");
    }
  });

  test("clears vectors and sets new ones", async () => {
    const { store } = current();
    const near = async () => store.nearest("chunk", vectorOf("w5"), { filter: {}, count: 3 });
    const { passages } = await store.range("chunk", { sourceId: "work_0", limit: 100, offset: 0 });
    const before = new Map(
      (await store.whole("work_0"))!.passages.chunks.map(({ ordinal, vector }) => [ordinal, vector]),
    );
    const others = (await store.documents({ language: "en" }, { limit: 100, offset: 0 })).documents;
    const kept = await Promise.all(others.map(async ({ sourceId }) => (await store.whole(sourceId))!));
    await store.clearVectors("other");
    expect(await near()).toEqual([]);
    expect(await store.embedder()).toBe("other");
    const given = new Map(passages.map(({ id, ordinal }) => [id, before.get(ordinal)!]));
    await store.setVectors("chunk", { sourceId: "work_0", embedder: "other" }, given);
    expect((await near()).map(({ sourceId }) => sourceId)).toEqual(["work_0", "work_0", "work_0"]);
    await store.clearVectors(embedder.id);
    for (const { document, text, passages: own } of kept)
      await store.replaceDocument(document, text, { ...own, embedder: embedder.id });
    expect(await store.embedder()).toBe(embedder.id);
  });

  test("rejects vectors of an embedder other than the library's, and stores nothing of the document", async () => {
    const { store } = current();
    const [extra] = await madeDocuments(1, 2, 95);
    const document = { ...extra!.document, sourceId: "late", uri: "file:///late" };
    const { chunks, summaries } = extra!;
    const late = { code: "INDEX_MISMATCH", message: expect.stringContaining("reindex") };
    try {
      const writing = store.replaceDocument(document, extra!.text, { embedder: "other", chunks, summaries });
      await expect(writing).rejects.toMatchObject(late);
      expect(await store.document("late")).toBeUndefined();
      expect(await store.check()).toEqual([]);
      const own = { embedder: embedder.id, chunks: chunks.map(withoutVector), summaries: [] };
      await store.replaceDocument(document, extra!.text, own);
      const { passages } = await store.range("chunk", { sourceId: "late", limit: 5, offset: 0 });
      const vectors = new Map(passages.map(({ id, ordinal }) => [id, chunks[ordinal]!.vector!]));
      await expect(store.setVectors("chunk", { sourceId: "late", embedder: "other" }, vectors)).rejects.toMatchObject(
        late,
      );
      expect((await store.whole("late"))!.passages.chunks.map(({ vector }) => vector)).toEqual([undefined, undefined]);
      await store.setVectors("chunk", { sourceId: "late", embedder: embedder.id }, vectors);
      expect((await store.whole("late"))!.passages.chunks.map(({ vector }) => vector)).toEqual(
        chunks.map(({ vector }) => vector),
      );
    } finally {
      await store.deleteDocument("late");
    }
  });
}

function withoutVector({ vector: _vector, ...passage }: PassageFields): PassageFields {
  return passage;
}

function byId([one]: readonly unknown[], [other]: readonly unknown[]): number {
  return Number(one) - Number(other);
}

const terms = new Terms();

function searched(
  store: LibraryStore,
  kind: PassageKind,
  request: SearchRequest & { filter: Filter },
): Promise<PassageHits> {
  return searchPassages(kind, request, { store, terms, embedder });
}

function shown({ hits, matches }: PassageHits) {
  return {
    matches,
    hits: hits.map(({ passage: { sourceId, ordinal }, similarity, score }) => ({
      sourceId,
      ordinal,
      similarity,
      score,
    })),
  };
}
