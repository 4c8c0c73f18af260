import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService } from "../../toolyard/servers/shared/service.ts";
import { library } from "../src/service.ts";
import { collectionsIn } from "../src/store/open-store.ts";
import { CLEAR_IDEAS } from "./books.ts";

let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-library-")));
  mkdirSync(join(folder, "books"));
  writeFileSync(join(folder, "books", "clear.md"), CLEAR_IDEAS);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(name: string, more: Record<string, string> = {}) {
  const environment = {
    LIBRARY_ROOTS: join(folder, "books"),
    LIBRARY_FILE: join(folder, name, "books.db"),
    TOOLYARD_HOME: join(folder, name),
    TOOLYARD_LOGGING_LEVEL: "error",
    ...more,
  };
  return openService(library, { environment });
}

function classesOf(start: string): string[] {
  return ["Document", "Chunk", "Summary", "Meta"].map((end) => `${start}${end}`);
}

async function listed(hub: Awaited<ReturnType<typeof open>>): Promise<unknown> {
  const outcome = await hub.call("list_collections", {});
  return (outcome as unknown as { result: { structuredContent: unknown } }).result.structuredContent;
}

describe("list_collections", () => {
  test("names only the configured collection in a new library", async () => {
    const hub = await open("new");
    expect(await listed(hub)).toEqual({ collections: [{ name: "main", is_default: true }], total_count: 1 });
    await hub.close();
  });

  test("lists each collection that add_documents created, also after a restart", async () => {
    const first = await open("several");
    for (const collection of ["scholars", "essays"])
      await first.call("add_documents", { paths: ["clear.md"], collection });
    await first.close();
    const hub = await open("several");
    expect(await listed(hub)).toEqual({
      collections: [
        { name: "essays", is_default: false },
        { name: "main", is_default: true },
        { name: "scholars", is_default: false },
      ],
      total_count: 3,
    });
    for (const collection of ["essays", "scholars", "main"])
      expect(await hub.call("list_documents", { collection })).toMatchObject({ ok: true });
    await hub.close();
  });

  test("marks the configured collection as the default", async () => {
    const hub = await open("several", { LIBRARY_COLLECTION: "scholars" });
    expect(await listed(hub)).toMatchObject({
      collections: expect.arrayContaining([{ name: "scholars", is_default: true }]),
    });
    await hub.close();
  });

  test("creates no collection", async () => {
    const hub = await open("untouched");
    await listed(hub);
    expect(await collectionsIn(`sqlite://${join(folder, "untouched", "books.db")}`)).toEqual([]);
    await hub.close();
  });

  test("refuses parameters that it does not have", async () => {
    const hub = await open("new");
    expect(await hub.call("list_collections", { collection: "main" })).toMatchObject({ kind: "invalid_params" });
    await hub.close();
  });
});

describe("the collections of a file", () => {
  test.each([
    ["only files of this library", ["books.db", "books.a.db", "other.b.db"], ["a", "main"]],
    ["no journals and locks", ["books.db", "books.db-wal", "books.a.db-shm", "books.a.db"], ["a", "main"]],
    ["no names that are none", ["books.A.db", "books.a.b.db", "books..db", "books.9.db"], []],
    ["a collection without the main one", ["books.a_1.db"], ["a_1"]],
    ["no file with the name of the main collection in it", ["books.main.db"], []],
    ["no folders", ["books.a.db/file"], []],
  ])("lists the collections of a file: %s", async (_case, files, names) => {
    const place = mkdtempSync(join(folder, "files-"));
    for (const file of files) {
      mkdirSync(join(place, file, ".."), { recursive: true });
      writeFileSync(join(place, file), "");
    }
    expect(await collectionsIn(`sqlite://${join(place, "books.db")}`)).toEqual(names);
    expect(await collectionsIn(`sqlite://${join(place, "books.db")}?collection=a`)).toEqual(names);
  });

  test.each<[string, readonly string[], readonly string[]]>([
    ["all four classes", ["MainDocument", "MainChunk", "MainSummary", "MainMeta"], ["main"]],
    ["classes of two collections", ["A", "B_2"].flatMap(classesOf), ["a", "b_2"]],
    ["no collection with a missing class", ["MainDocument", "MainChunk", "MainMeta"], []],
    ["no classes of other programs", ["Article", "Meta", "ArticleMeta"], []],
    ["an empty server", [], []],
  ])("lists the collections of Weaviate: %s", async (_case, classes, names) => {
    const schema = { classes: classes.map((name) => ({ class: name })) };
    const server = createServer((_request, response) => response.end(JSON.stringify(schema)));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    expect(await collectionsIn(`weaviate+http://127.0.0.1:${port}`)).toEqual(names);
    server.close();
    server.closeAllConnections();
  });

  test("refuses the collections of a server that does not answer as unavailable", async () => {
    await expect(collectionsIn("weaviate+http://127.0.0.1:9")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("returns no collections if the file's folder is missing", async () => {
    expect(await collectionsIn(`sqlite://${join(folder, "none", "books.db")}`)).toEqual([]);
  });
});
