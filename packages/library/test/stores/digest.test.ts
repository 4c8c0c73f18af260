import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { searchPassages } from "../../src/search/search.ts";
import { Terms } from "../../src/search/terms.ts";
import { openSqlite } from "../../src/store/sqlite/open-sqlite.ts";
import { plainMemory, vectorMemory } from "../../src/store/vectors/row-memory.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import type { Filter, LibraryStore } from "../../src/store/store.ts";
import { createRandom } from "../../../../test/support/random.ts";
import { embedder, fill, madeDocuments, wordsOf } from "./corpus.ts";

const QUERIES = 60;
const FILTERS: readonly Filter[] = [{}, { author: "Peirce" }, { language: "en" }];

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-digest-"));
  file = join(folder, "library.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Returns the results of queries of one and of several words, and the number of passages that were read by digest only.
 */
async function answersOf(store: LibraryStore): Promise<{ answers: unknown[]; told: number }> {
  const terms = new Terms();
  const random = createRandom(5);
  const answers: unknown[] = [];
  let told = 0;
  const watched: LibraryStore = new Proxy(store, {
    get: (_, name: keyof LibraryStore) => {
      const method = store[name];
      if (typeof method !== "function") return method;
      return async (...given: never[]) => {
        const result: unknown = await (method as (...all: never[]) => unknown).apply(store, given);
        if (name === "places" && result !== undefined) told += 1;
        return result;
      };
    },
  });
  for (let at = 0; at < QUERIES; at += 1) {
    const request = { query: wordsOf(random, 1 + (at % 8)).join(" "), limit: 1 + (at % 12), minSimilarity: 0 };
    const search = { ...request, filter: FILTERS[at % FILTERS.length]! };
    const { hits, matches } = await searchPassages("chunk", search, { store: watched, terms, embedder });
    const shown = hits.map(({ passage, similarity, score }) => [passage.sourceId, passage.ordinal, similarity, score]);
    answers.push([search.query, matches, shown]);
  }
  return { answers, told };
}

async function withoutDigests(): Promise<void> {
  const driver = await openSqlite(file);
  for (const kind of ["chunk", "summary"]) driver.exec(`drop table ${kind}_digest; drop table ${kind}_repeated`);
  driver.close();
}

test("a library of an earlier version gives the same answers, and a repair makes them faster", async () => {
  const store = await openSqliteStore(file);
  await fill(store, await madeDocuments(40, 60));
  const { answers, told } = await answersOf(store);
  expect(told).toBeGreaterThan(QUERIES / 4);
  await store[Symbol.asyncDispose]();
  await withoutDigests();

  await using earlier = await openSqliteStore(file);
  expect(await answersOf(earlier)).toEqual({ answers, told: 0 });
  const findings = await earlier.check();
  expect(findings.map(({ canMend }) => canMend)).toEqual([true, true]);
  expect(findings[0]!.what).toContain("40 documents are searched slowly");
  await earlier.repair();
  expect(await earlier.check()).toEqual([]);
  expect(await answersOf(earlier)).toEqual({ answers, told });
});

test("finds documents that a program of an earlier version writes, with the vectors that are added later", async () => {
  const store = await openSqliteStore(file);
  await fill(store, await madeDocuments(40, 60));
  const before = await store.range("chunk", { sourceId: "work_0", limit: 1, offset: 0 });
  const query = new Float32Array(embedder.dimensions!).fill(1 / Math.sqrt(embedder.dimensions!));
  expect((await store.nearest("chunk", query, { filter: {}, count: 1 }))[0]?.id).not.toBe(before.passages[0]!.id);
  const driver = await openSqlite(file);
  driver.transaction(() => {
    driver.run("update chunk set vector = ? where id = ?", [new Uint8Array(query.buffer), before.passages[0]!.id]);
    driver.run("update meta set value = cast(value as integer) + 1 where key = 'revision'");
    driver.run("update document set revision = (select value from meta where key = 'revision') where source_id = ?", [
      "work_0",
    ]);
  });
  driver.close();
  expect((await store.nearest("chunk", query, { filter: {}, count: 1 }))[0]?.id).toBe(before.passages[0]!.id);
  expect((await store.check()).map(({ what }) => what)).toHaveLength(2);
  await store[Symbol.asyncDispose]();
});

test("documents that were replaced or deleted do not affect the answers", async () => {
  const documents = await madeDocuments(40, 60);
  await using store = await openSqliteStore(file);
  await fill(store, await madeDocuments(44, 50, 8));
  await fill(store, documents);
  for (let at = 40; at < 44; at += 1) await store.deleteDocument(`work_${at}`);
  await using fresh = await openSqliteStore(":memory:");
  await fill(fresh, documents);
  expect(await answersOf(store)).toEqual(await answersOf(fresh));
  expect(await store.check()).toEqual([]);
});

test.each([
  [1, 8],
  [4_096, 16],
  [300, 384],
])("%i rows of %i numbers have the same products with vector instructions as without", (count, stride) => {
  const numbers = Int8Array.from({ length: count * stride }, (_, at) =>
    at % 7 === 0 ? 127 * (-1) ** at : ((at * 7919) % 255) - 127,
  );
  const wanted = Int16Array.from({ length: stride }, (_, at) => ((at * 104_729) % 2_000) - 1_000);
  const [plain, vector] = [plainMemory(stride), vectorMemory(stride)].map((memory) => {
    memory.grow(1);
    memory.numbers[0] = 5;
    memory.grow(count);
    expect(memory.numbers[0]).toBe(5);
    memory.numbers.set(numbers);
    return Array.from(memory.products(wanted, 0, count).subarray(0, count));
  });
  expect(vector).toEqual(plain);
});
