import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Desk } from "../../../test/cli/harness.ts";
import { exportLibrary, importLibrary } from "../src/moves/export-file.ts";
import { compareLibraries, moveLibrary } from "../src/moves/move.ts";
import { bars } from "../src/moves/statistics.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import { CLEAR_IDEAS, OEUVRE } from "./books.ts";
import { embedder, fill, madeDocuments, vectorOf } from "./stores/corpus.ts";

let folder: string;
const path = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-moves-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a library as a whole", () => {
  test("an import of an export contains every document, passage and vector", async () => {
    await using from = await openSqliteStore(":memory:");
    await using to = await openSqliteStore(":memory:");
    await fill(from, await madeDocuments(6, 5));
    await exportLibrary(from, path("books.jsonl"));
    expect(await importLibrary(to, path("books.jsonl"))).toEqual({ documents: 6, chunks: 30, summaries: 18 });
    for (const id of ["work_0", "work_5"]) expect(await to.whole(id)).toEqual(await from.whole(id));
    expect(await compareLibraries(from, to, embedder)).toMatchObject({ queries: 50, equal: 50 });
  });

  test.each<[string, (text: string) => string, string]>([
    ["cut short", (text) => text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1), "it is truncated"],
    ["changed", (text) => text.replace("work_0", "work_9"), "its digest does not match: it was changed"],
    ["something else", () => "{}\n", "its first line is not that of an export"],
    ["no JSON", () => "books\n", "a line is not JSON"],
    ["of a later version", (text) => text.replace('"version":1', '"version":2'), "it has version 2"],
  ])("imports nothing from an export that is %s", async (_what, change, message) => {
    await using from = await openSqliteStore(":memory:");
    await using to = await openSqliteStore(":memory:");
    await fill(from, await madeDocuments(2, 2));
    await exportLibrary(from, path("books.jsonl"));
    writeFileSync(path("books.jsonl"), change(readFileSync(path("books.jsonl"), "utf8")));
    await expect(importLibrary(to, path("books.jsonl"))).rejects.toThrow(message);
    expect((await to.documents({}, { limit: 5, offset: 0 })).total).toBe(0);
  });

  test("does not mix vectors of different embedders", async () => {
    await using from = await openSqliteStore(":memory:");
    await using to = await openSqliteStore(":memory:");
    await fill(from, await madeDocuments(1, 2));
    await to.clearVectors("other");
    await exportLibrary(from, path("books.jsonl"));
    await expect(importLibrary(to, path("books.jsonl"))).rejects.toMatchObject({ code: "INDEX_MISMATCH" });
  });

  test("moves only the vectors if only the vectors changed since the last move", async () => {
    await using from = await openSqliteStore(":memory:");
    await using to = await openSqliteStore(":memory:");
    await fill(from, await madeDocuments(2, 2));
    await moveLibrary(from, to, {});
    await from.clearVectors("other");
    const { passages } = await from.range("chunk", { sourceId: "work_0", limit: 1, offset: 0 });
    const anew = new Float32Array([0.6, 0.8]);
    await from.setVectors("chunk", { sourceId: "work_0", embedder: "other" }, new Map([[passages[0]!.id, anew]]));
    expect(await moveLibrary(from, to, {})).toMatchObject({ documents: 2, unchanged: 1 });
    expect(await to.embedder()).toBe("other");
    const vectors = async (id: string) => (await to.whole(id))!.passages.chunks.map(({ vector }) => vector);
    expect([await vectors("work_0"), await vectors("work_1")]).toEqual([
      [anew, undefined],
      [undefined, undefined],
    ]);
  });

  test("an interrupted export leaves no file", async () => {
    await using from = await openSqliteStore(":memory:");
    await fill(from, await madeDocuments(2, 2));
    const signal = AbortSignal.abort();
    await expect(exportLibrary(from, path("books.jsonl"), { signal })).rejects.toThrow();
    expect([existsSync(path("books.jsonl")), existsSync(path("books.jsonl.part"))]).toEqual([false, false]);
  });

  test("resumes an interrupted move, and refuses a target with other documents", async () => {
    await using from = await openSqliteStore(":memory:");
    await using to = await openSqliteStore(":memory:");
    const documents = await madeDocuments(4, 3);
    await fill(from, documents);
    await fill(to, documents.slice(0, 2));
    expect(await moveLibrary(from, to, { embedder })).toMatchObject({
      documents: 4,
      unchanged: 2,
      compared: { queries: 50, equal: 50 },
    });
    await from.deleteDocument("work_0");
    await expect(moveLibrary(from, to, { embedder })).rejects.toThrow('other documents, such as "work_0"');
  });

  test("moves only documents that changed since the last move, and returns the number of the others", async () => {
    await using from = await openSqliteStore(":memory:");
    await using to = await openSqliteStore(":memory:");
    const [first, second, third] = await madeDocuments(3, 3);
    await fill(from, [first!, second!, third!]);
    await moveLibrary(from, to, { embedder });
    // Other metadata of the same file, and vectors that were computed again.
    await fill(from, [{ ...first!, document: { ...first!.document, title: "Another title" } }]);
    const turned = third!.chunks.map((chunk) => ({ ...chunk, vector: vectorOf("w9") }));
    await fill(from, [{ ...third!, chunks: turned }]);
    expect(await moveLibrary(from, to, { embedder })).toMatchObject({ documents: 3, unchanged: 1 });
    for (const id of ["work_0", "work_1", "work_2"]) expect(await to.whole(id)).toEqual(await from.whole(id));
  });

  test("an export contains all unchanged documents while others are added and removed", async () => {
    await using from = await openSqliteStore(":memory:");
    await using to = await openSqliteStore(":memory:");
    await fill(from, await madeDocuments(260, 1));
    const going = new Proxy(from, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        if (name !== "documents") return value.bind(target) as unknown;
        return async (...given: unknown[]): Promise<unknown> => {
          const found = (await value.apply(target, given)) as { readonly documents: { readonly sourceId: string }[] };
          await from.deleteDocument(found.documents[0]!.sourceId);
          return found;
        };
      },
    });
    await exportLibrary(going, path("books.jsonl"));
    await importLibrary(to, path("books.jsonl"));
    const all = { limit: 500, offset: 0 };
    const ids = async (of: typeof from) => (await of.documents({}, all)).documents.map(({ sourceId }) => sourceId);
    expect(await ids(to)).toEqual(expect.arrayContaining(await ids(from)));
  });

  test("reports the queries with different results in two stores", async () => {
    await using one = await openSqliteStore(":memory:");
    await using other = await openSqliteStore(":memory:");
    const documents = await madeDocuments(4, 3);
    await fill(one, documents);
    await fill(other, documents.slice(0, 3));
    const { equal, different } = await compareLibraries(one, other, embedder);
    expect(equal).toBeLessThan(50);
    expect(different).toHaveLength(50 - equal);
  });

  test("draws bars in proportion to their values, with at least one mark for a value above zero", () => {
    const rows = [
      { name: "Peirce", value: 400 },
      { name: "Öl", value: 100 },
      { name: "x", value: 1 },
      { name: "none", value: 0 },
    ];
    expect(bars(rows, 8)).toEqual(["Peirce  ████████ 400", "Öl      ██ 100", "x       ▏ 1", "none     0"]);
  });
});

describe("toolyard library", () => {
  const BOOKS = { "books/clear.md": CLEAR_IDEAS, "books/oeuvre.md": OEUVRE };

  test("exports, imports, moves, backs up, measures and checks a library", async () => {
    await using desk = await Desk.create(BOOKS);
    const run = async (words: readonly string[]) => desk.run(["library", ...words]);
    await run(["add", "books"]);
    expect((await run(["stats"])).stdout).toMatch(/2 documents, 3 passages.*languages:.*\n\npassages by author/su);
    expect(JSON.parse((await run(["stats", "--json"])).stdout)).toMatchObject({ documents: 2, passages: 3 });
    expect(await run(["doctor"])).toMatchObject({ code: 0, stdout: expect.stringContaining("No fault was found.") });
    expect(await run(["export", "all.jsonl"])).toMatchObject({ code: 0 });
    expect(await run(["import", "all.jsonl"])).toMatchObject({
      code: 0,
      stdout: "imported   2 documents, 3 passages\n",
    });
    expect(await run(["backup", "saved.db"])).toMatchObject({ code: 0 });
    expect((await run(["backup", "saved.db"])).stderr).toContain("already exists");
    const moved = await run(["move", "--to", `sqlite://${desk.path("other.db")}`, "--json"]);
    expect([moved.code, JSON.parse(moved.stdout)]).toEqual([
      0,
      expect.objectContaining({ documents: 2, queries: 50, equal: 50 }),
    ]);
    rmSync(desk.path("books/clear.md"));
    const { code, stderr } = await run(["doctor"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("Files are missing, so links to them do not work: clear"),
    ]);
  });

  test.each([
    [["move"], "--to"],
    [["move", "--to", "books"], "A store address must have the form"],
    [["import", "none.jsonl"], "none.jsonl cannot be read"],
    [["import", "books"], "books cannot be read"],
    [["export", "none/all.jsonl"], "all.jsonl cannot be written"],
  ])("refuses %j with the reason", async (words, message) => {
    await using desk = await Desk.create(BOOKS);
    const { code, stderr } = await desk.run(["library", ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
