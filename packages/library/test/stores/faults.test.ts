import { createServer } from "node:http";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore, parseStore } from "../../src/store/open-store.ts";
import { createSqliteStore, openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import { openSqlite } from "../../src/store/sqlite/open-sqlite.ts";
import { openLibrary } from "../../src/library.ts";
import type { SqliteDriver } from "../../src/store/sqlite/sqlite-driver.ts";
import { SqliteWrites } from "../../src/store/sqlite/sqlite-writes.ts";
import { searchPassages } from "../../src/search/search.ts";
import { Terms } from "../../src/search/terms.ts";
import { embedder, fill, madeDocuments } from "./corpus.ts";
import { openReadingKills } from "./reading-kills.ts";
import { DoomedWriters, wholeReading } from "./kills.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-faults-"));
  file = join(folder, "library.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const unavailable = { code: "STORE_UNAVAILABLE", failure: { kind: "unavailable" } };

describe("a file", () => {
  test("a process killed during a write leaves either the previous or the new version, complete", async () => {
    const address = `sqlite://${file}`;
    await using writers = new DoomedWriters();
    expect(await writers.writeAndKill(address, "Infinity", "first")).toBe("written");
    // Kills during the deletion, during the passages, and before the end; `npm run stores` tries every point.
    for (const at of [6, 20]) {
      expect(await writers.writeAndKill(address, String(at), "second")).toBe("killed");
      await using store = await openSqliteStore(file);
      expect(await wholeReading(store)).toBe("first");
      expect(await store.check()).toEqual([]);
    }
  });

  test("a process killed while reading keeps the earlier documents; the next process resumes its job", async () => {
    // Tests one stage; `npm run stores` tests all stages.
    const shelf = { address: `sqlite://${file}`, folder };
    await using readings = await openReadingKills(shelf, "before");
    expect(await readings.kill("embedding", "after")).toEqual(["before", "before"]);
  });

  test("two connections write in turn, and neither loses a document", async () => {
    const documents = await madeDocuments(12, 3);
    await using one = await openSqliteStore(file);
    await using other = await openSqliteStore(file);
    await Promise.all([fill(one, documents.slice(0, 6)), fill(other, documents.slice(6))]);
    expect((await one.documents({}, { limit: 50, offset: 0 })).total).toBe(12);
    expect(await other.check()).toEqual([]);
  });

  test("a full disk fails a write and stores no partial document; writing succeeds once there is space", async () => {
    const [document] = await madeDocuments(1, 200);
    const driver = await openSqlite(file);
    await using store = createSqliteStore(driver, file);
    const pages = Number(driver.get("pragma page_count")!["page_count"]);
    driver.exec(`pragma max_page_count = ${pages + 4}`);
    await expect(fill(store, [document!])).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining("The disk is full"),
    });
    expect((await store.documents({}, { limit: 5, offset: 0 })).total).toBe(0);
    expect(await store.check()).toEqual([]);
    driver.exec("pragma max_page_count = 1000000");
    await fill(store, [document!]);
    expect((await store.documents({}, { limit: 5, offset: 0 })).total).toBe(1);
  });

  test("refuses a file that is not a library, and does not change it", async () => {
    writeFileSync(file, "no library, ".repeat(500));
    await expect(openSqliteStore(file)).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining("The file is not a library"),
    });
    expect(readFileSync(file, "utf8")).toContain("no library");
  });

  test("refuses another program's database, and does not change it", async () => {
    const driver = await openSqlite(":memory:");
    driver.exec("create table meta(name text); insert into meta values ('mine')");
    driver.run("vacuum into ?", [file]);
    driver.close();
    const before = readFileSync(file);
    await expect(openSqliteStore(file)).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining("is the database of another program"),
    });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(["library.db"]);
  });

  test.runIf(process.platform === "linux")("closes a file that it refuses", async () => {
    writeFileSync(file, "no library, ".repeat(500));
    await expect(openSqliteStore(file)).rejects.toMatchObject(unavailable);
    const held = readdirSync("/proc/self/fd").map((fd) => linkOf(`/proc/self/fd/${fd}`));
    expect(held).not.toContain(file);
  });

  test("refuses a file in a folder that cannot be created, with the reason", async () => {
    writeFileSync(file, "");
    for (const path of [join(file, "library.db"), ...(process.platform === "linux" ? ["/proc/none/a.db"] : [])])
      await expect(openStore({ kind: "sqlite", file: path })).rejects.toMatchObject(unavailable);
  });

  test("refuses a library of a later version, and names the update", async () => {
    await (await openSqliteStore(file))[Symbol.asyncDispose]();
    const driver = await openSqlite(file);
    driver.run("update meta set value = '2' where key = 'schema'");
    driver.close();
    await expect(openSqliteStore(file)).rejects.toThrow(/of version 2, but this program reads version 1. Update/);
  });

  test("a search returns the new state of a document replaced meanwhile, without its old passages", async () => {
    await using store = await openSqliteStore(file);
    const documents = await madeDocuments(3, 4);
    await fill(store, documents);
    const [last] = (await madeDocuments(3, 4, 8)).slice(-1);
    let changes = 1;
    const changing = changedBehindSearch(store, async () => {
      if (changes-- > 0) await fill(store, [last!]);
    });
    const request = { query: "w1 w2 w3", limit: 50, filter: {}, minSimilarity: 0 };
    const during = await searchPassages("chunk", request, { store: changing, terms: new Terms(), embedder });
    const after = await searchPassages("chunk", request, { store, terms: new Terms(), embedder });
    expect(changes).toBeLessThan(0);
    expect(during).toEqual(after);
    expect(during.hits.some(({ passage }) => passage.text === last!.chunks[0]!.text)).toBe(true);
  });

  test("if its documents are replaced repeatedly, a search fails with STORE_BUSY and no partial results", async () => {
    await using store = await openSqliteStore(file);
    const documents = await madeDocuments(3, 4);
    await fill(store, documents);
    const changing = changedBehindSearch(store, () => fill(store, documents));
    const request = { query: "w1 w2 w3", limit: 50, filter: {}, minSimilarity: 0 };
    await expect(
      searchPassages("chunk", request, { store: changing, terms: new Terms(), embedder }),
    ).rejects.toMatchObject({ code: "STORE_BUSY" });
  });

  test("a check that another program blocks fails, and reports no finding", async () => {
    const driver = await openSqlite(file);
    await using store = createSqliteStore(driver, file);
    await fill(store, await madeDocuments(2, 3));
    const other = await openSqlite(file);
    other.exec("begin immediate");
    driver.exec("pragma busy_timeout = 0");
    await expect(store.check()).rejects.toMatchObject({ code: "STORE_BUSY" });
    other.exec("rollback");
    other.close();
    expect(await store.check()).toEqual([]);
  });

  test("a check reports no finding for a document that another program adds during the check", async () => {
    const [driver, other] = [await openSqlite(file), await openSqlite(file)];
    const [first, second] = await madeDocuments(2, 3);
    let adds = 1;
    const get: SqliteDriver["get"] = (sql, values) => {
      const row = driver.get(sql, values);
      if (values?.[0] === "size chunk" && adds-- > 0)
        new SqliteWrites(other).replaceDocument(second!.document, second!.text, second!);
      return row;
    };
    const slow = new Proxy(driver, {
      get: (target, name) => (name === "get" ? get : bound(target, Reflect.get(target, name))),
    });
    await using store = createSqliteStore(slow, file);
    new SqliteWrites(other).replaceDocument(first!.document, first!.text, first!);
    expect(await store.check()).toEqual([]);
    expect(adds).toBe(0);
    other.close();
    expect(await store.check()).toEqual([]);
  });

  test("the file of a backup appears only when the backup is complete, also after an interrupted backup", async () => {
    await using store = await openSqliteStore(file);
    await fill(store, await madeDocuments(2, 3));
    const saved = join(folder, "saved.db");
    writeFileSync(`${saved}.part`, "cut short");
    await store.backup!(saved);
    await using copy = await openSqliteStore(saved);
    expect((await copy.documents({}, { limit: 5, offset: 0 })).total).toBe(2);
    expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("a failed backup is reported, and the library stays writable", async () => {
    await using store = await openSqliteStore(file);
    const documents = await madeDocuments(2, 3);
    await fill(store, documents.slice(0, 1));
    await expect(store.backup!(join(folder, "none", "saved.db"))).rejects.toMatchObject(unavailable);
    await fill(store, documents);
    expect((await store.documents({}, { limit: 5, offset: 0 })).total).toBe(2);
    expect(await store.check()).toEqual([]);
  });

  test("finds a wrong count of passages, and counts them again if the file has no count", async () => {
    const driver = await openSqlite(file);
    await using store = createSqliteStore(driver, file);
    const documents = await madeDocuments(3, 3);
    await fill(store, documents.slice(0, 2));
    const { averageLength } = await store.termStats("chunk", []);
    driver.run("update meta set value = '9 9' where key = 'size chunk'");
    expect(await store.check()).toMatchObject([{ canMend: true }]);
    await store.repair();
    expect(await store.termStats("chunk", [])).toMatchObject({ passages: 6, averageLength });
    driver.run("delete from meta where key like 'size %'");
    expect(await store.termStats("chunk", [])).toMatchObject({ passages: 6, averageLength });
    await fill(store, documents.slice(1));
    expect((await store.termStats("chunk", [])).passages).toBe(9);
    expect(await store.check()).toEqual([]);
  });

  test("finds a damaged index of words, and rebuilds it", async () => {
    const driver = await openSqlite(file);
    await using store = createSqliteStore(driver, file);
    await fill(store, await madeDocuments(2, 3));
    driver.run("update chunk set terms = 'other' where ordinal = 0");
    expect(await store.check()).toMatchObject([{ canMend: true }]);
    await store.repair();
    expect(await store.check()).toEqual([]);
  });
});

describe("a server", () => {
  test.each(["postgres://me:secret@127.0.0.1:PORT/books", "weaviate+http://127.0.0.1:PORT"])(
    "reports an unreachable %s, without its password",
    async (address) => {
      const port = await closedPort();
      const opening = openStore(parseStore(address.replace("PORT", String(port))));
      await expect(opening).rejects.toMatchObject({ ...unavailable, message: expect.not.stringContaining("secret") });
      await expect(opening).rejects.toThrow(`127.0.0.1:${port}`);
    },
  );

  test("a search fails if Weaviate disconnects during it, and never returns an empty list", async () => {
    const classes = { description: "A document library of Toolyard, version 1" };
    const server = createServer((request, response) =>
      request.url!.startsWith("/v1/schema/") ? response.end(JSON.stringify(classes)) : request.socket.destroy(),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      await using library = await openLibrary({ store: `weaviate+http://127.0.0.1:${port}` });
      const request = { query: "truth", limit: 5, filter: {}, minSimilarity: 0 };
      await expect(library.search("chunk", request)).rejects.toMatchObject(unavailable);
      await expect(library.documents({}, { limit: 5, offset: 0 })).rejects.toMatchObject(unavailable);
    } finally {
      server.close();
    }
  });

  test("errors within a Weaviate answer are errors", async () => {
    const server = createServer((request, response) =>
      response.end(
        JSON.stringify(
          request.url === "/v1/graphql"
            ? { data: null, errors: [{ message: "no such class" }] }
            : { description: "A document library of Toolyard, version 1" },
        ),
      ),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      await using library = await openLibrary({ store: `weaviate+http://127.0.0.1:${port}` });
      await expect(library.documents({}, { limit: 5, offset: 0 })).rejects.toThrow("no such class");
    } finally {
      server.close();
    }
  });
});

describe("addresses", () => {
  test.each([
    ["sqlite:///a/library.db", { kind: "sqlite", file: "/a/library.db" }],
    ["sqlite:///a/library.db?collection=main", { kind: "sqlite", file: "/a/library.db" }],
    ["sqlite:///a/library.db?collection=scholars", { kind: "sqlite", file: "/a/library.scholars.db" }],
    ["postgres://host/books", { kind: "postgres", collection: "main" }],
    ["postgresql://host/books?collection=scholars", { kind: "postgres", collection: "scholars" }],
    ["weaviate+https://host:8443", { kind: "weaviate", collection: "main" }],
  ])("accepts %s as the address of a store", (address, expected) => {
    expect(parseStore(address)).toMatchObject(expected);
  });

  test.each([
    ["books", "A store address must have the form"],
    ["mysql://me:secret@host/books", "//***@host"],
    ["sqlite://relative/library.db", "A store address must have the form"],
    ["postgres://me:top/secret@host/books", "//***@host/books"],
    ["postgres://me:12/secret@host/books", "write the characters / # ? @ as %2F"],
    ["weaviate+http://:a#secret@host", "//***@host"],
    ["postgres://host/books?collection=Drop Table", "The collection"],
    ["sqlite:///a/library.db?collection=../other", "The collection"],
  ])("refuses %s without showing its password", (address, message) => {
    expect(() => parseStore(address)).toThrow(message);
    expect(() => parseStore(address)).not.toThrow("secret");
  });
});

/** Returns the store; calls `change` between the two reads of each search. */
function changedBehindSearch<S extends object>(store: S, change: () => Promise<unknown>): S {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name !== "candidates" || typeof value !== "function") return bound(target, value);
      return async (...given: unknown[]): Promise<unknown> => {
        const result: unknown = await value.apply(target, given);
        await change();
        return result;
      };
    },
  });
}

function bound(target: object, value: unknown): unknown {
  return typeof value === "function" ? (value.bind(target) as unknown) : value;
}

/** Returns the link's target; empty for a descriptor that was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

async function closedPort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
