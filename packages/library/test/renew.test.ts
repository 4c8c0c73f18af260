// Documents that an older version of the library read: who is told, and how they are read again.
import { rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { Desk } from "../../../test/cli/harness.ts";
import { createHub } from "../../toolyard/src/index.ts";
import { PIPELINE } from "../src/ingest/ingest.ts";
import { openLibrary } from "../src/library.ts";
import { countOutdated } from "../src/moves/outdated.ts";
import type { ModuleHub } from "../../toolyard/src/index.ts";
import { library } from "../src/service.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import type { LibraryStore } from "../src/store/store.ts";
import { CLEAR_IDEAS, OEUVRE } from "./books.ts";

const BOOKS = { "books/clear.md": CLEAR_IDEAS, "books/oeuvre.md": OEUVRE, "books/plain.md": "# Plain\n\nSome words." };

/** Opens a desk with three documents. `env` names the store of its commands. */
async function openDesk() {
  const desk = await Desk.create(BOOKS);
  const file = desk.path("store/books.db");
  const env = { LIBRARY_FILE: file };
  await using own = await openLibrary({ file });
  for (const name of ["clear", "oeuvre"]) await own.add({ path: desk.path(`books/${name}.md`) });
  await own.add({ path: desk.path("books/plain.md"), metadata: { author: "A. Nonymous" } });
  return { desk, env, file };
}

/** Changes stored documents as if a version of the library had read them. */
async function readBy(version: string, file: string, ids: readonly string[]): Promise<void> {
  await using store = await openSqliteStore(file);
  for (const id of ids) {
    const { document, text, passages } = (await store.whole(id))!;
    const chunks = passages.chunks.map((one) => ({ ...one, section: ["Old section"] }));
    await store.replaceDocument({ ...document, pipeline: `${version} 200 800 words` }, text, { ...passages, chunks });
  }
}

describe("toolyard library renew", () => {
  test("reads the files of outdated documents again, and keeps their ids and given metadata", async () => {
    const { desk, env, file } = await openDesk();
    await using _desk = desk;
    await readBy("4", file, ["clear", "plain"]);
    expect(await desk.run(["library", "renew"], { env })).toMatchObject({
      code: 0,
      stdout:
        "collection main: 2 documents read by another version\n" +
        "updated    plain (1 passage)\nupdated    clear (2 passages)\n",
    });
    await using store = await openSqliteStore(file);
    expect(await store.document("plain")).toMatchObject({ author: "A. Nonymous", title: "Plain" });
    expect(await countOutdated(store)).toBe(0);
    expect((await store.range("chunk", { sourceId: "clear", limit: 5, offset: 0 })).passages[0]!.section).not.toEqual([
      "Old section",
    ]);
    expect(await desk.run(["library", "renew"], { env })).toMatchObject({
      code: 0,
      stdout: "This version of the library read all documents.\n",
    });
  });

  test("--dry-run lists the documents of each collection, and reads none", async () => {
    const { desk, env, file } = await openDesk();
    await using _desk = desk;
    await desk.run(["library", "add", "books/oeuvre.md", "--collection", "scholars"], { env });
    const scholars = desk.path("store/books.scholars.db");
    await readBy("5", file, ["clear"]);
    await readBy("6", scholars, ["oeuvre"]);
    const { stdout } = await desk.run(["library", "renew", "--dry-run", "--json"], { env });
    expect(JSON.parse(stdout)).toEqual({
      outdated: 2,
      collections: [
        {
          collection: "main",
          documents: [{ source_id: "clear", uri: pathToFileURL(desk.path("books/clear.md")).href, version: "5" }],
        },
        { collection: "scholars", documents: [expect.objectContaining({ source_id: "oeuvre", version: "6" })] },
      ],
    });
    const one = await desk.run(["library", "renew", "--collection", "scholars"], { env });
    expect(one.stdout).toBe("collection scholars: 1 document read by another version\nupdated    oeuvre (1 passage)\n");
    for (const [path, count] of [
      [file, 1],
      [scholars, 0],
    ] as const) {
      await using store = await openSqliteStore(path);
      expect(await countOutdated(store)).toBe(count);
    }
  });

  test("a missing file fails, the others are read, and its document stays", async () => {
    const { desk, env, file } = await openDesk();
    await using _desk = desk;
    await readBy("4", file, ["clear", "oeuvre"]);
    rmSync(desk.path("books/clear.md"));
    const { code, stdout, stderr } = await desk.run(["library", "renew"], { env });
    expect([code, stdout]).toEqual([1, expect.stringContaining("updated    oeuvre (1 passage)")]);
    expect(stderr).toMatch(/failed .*clear\.md/);
    await using store = await openSqliteStore(file);
    expect(await store.document("clear")).toMatchObject({ chunks: 2 });
  });

  test("a changed file is read as it is now", async () => {
    const { desk, env, file } = await openDesk();
    await using _desk = desk;
    await readBy("4", file, ["plain"]);
    writeFileSync(desk.path("books/plain.md"), "# Plain\n\nOther words.");
    await desk.run(["library", "renew"], { env });
    await using store = await openSqliteStore(file);
    expect(await store.textOf("plain")).toContain("Other words.");
  });

  test.each([
    ["no collection", []],
    ["an unknown collection", ["--collection", "nobody"]],
  ])("creates no store for %s", async (_case, options) => {
    await using desk = await Desk.create({});
    const env = { LIBRARY_FILE: desk.path("none/books.db") };
    expect(await desk.run(["library", "renew", ...options], { env })).toMatchObject({ code: 0 });
    expect(await desk.run(["library", "renew", "--json"], { env })).toMatchObject({
      stdout: '{"collections":[],"outdated":0}\n',
    });
  });
});

describe("documents of another version are reported", () => {
  test("by list, search and doctor, on standard error, with the command", async () => {
    const { desk, env, file } = await openDesk();
    await using _desk = desk;
    const quiet = await desk.run(["library", "list"], { env });
    expect(quiet.stderr).toBe("");
    await readBy("4", file, ["clear", "oeuvre"]);
    const advice = "Another version of the library read 2 documents. To read the files again: toolyard library renew\n";
    expect((await desk.run(["library", "list"], { env })).stderr).toBe(advice);
    expect((await desk.run(["library", "search", "nominalism"], { env })).stderr).toBe(advice);
    const french = await desk.run(["library", "list"], { env: { ...env, LC_ALL: "fr_FR.UTF-8" } });
    expect(french.stderr).toContain("toolyard library renew");
    expect((await desk.run(["library", "doctor"], { env })).stderr).toContain("Run `toolyard library renew`");
    expect((await desk.run(["library", "list", "--json"], { env })).stderr).toBe("");
  });

  test("by list_collections with the names of the collections, and in the log after the first call", async () => {
    const { desk, env, file } = await openDesk();
    await using _desk = desk;
    await readBy("4", file, ["clear"]);
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    const logger = { debug() {}, info() {}, warning: write, error: write, with: () => logger };
    const environment = { ...env, TOOLYARD_HOME: desk.path("home"), LIBRARY_ROOTS: desk.path("books") };
    const registerTools = (own: ModuleHub): void => library.register(own, environment);
    const hub = await createHub({ logger: logger as never, variables: {}, registerTools });
    try {
      expect(lines).toEqual([]);
      const { result } = (await hub.call("list_collections", {})) as unknown as {
        result: { structuredContent: { warnings?: string[] } };
      };
      expect(result.structuredContent.warnings).toEqual([
        expect.stringMatching(/read 1 document of the collection main, .*`toolyard library renew`/),
      ]);
      await hub.call("list_documents", {});
      await expect.poll(() => lines).toEqual([expect.stringContaining("1 document of the collection main")]);
    } finally {
      await hub.close();
    }
  });
});

test.each([0, 1, 49, 50, 51, 120])("counts the outdated documents among %i in steps", async (total) => {
  const asked: number[] = [];
  const documents = async (_filter: object, { limit, offset }: { limit: number; offset: number }) => {
    asked.push(offset);
    const all = Array.from({ length: total }, (_, at) => ({ pipeline: at % 3 === 0 ? "1 a" : `${PIPELINE} a` }));
    return { documents: all.slice(offset, offset + limit), total };
  };
  expect(await countOutdated({ documents } as unknown as LibraryStore)).toBe(Math.ceil(total / 3));
  expect(asked).toHaveLength(Math.max(1, Math.ceil(total / 50)));
});
