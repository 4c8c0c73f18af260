import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqlite } from "../src/store/sqlite/open-sqlite.ts";
import { Shelf } from "./shelf.ts";

let shelf: Shelf;
beforeAll(async () => {
  shelf = await Shelf.open();
  const { library } = shelf;
  await library.add({
    path: shelf.write(
      "one.md",
      "---\ntitle: One\nauthor: Ann Bell\n---\n# One\n\nThe self-evident law — « un peu » — of it.\n",
    ),
  });
  await library.add({
    path: shelf.write(
      "two.md",
      "---\ntitle: Two\nauthor: Bert Cole\n---\n# Two\n\nIt is what it is. The selfevident\nlaw, of it.\n",
    ),
  });
});
afterAll(() => shelf[Symbol.asyncDispose]());

describe("findQuote in a file", () => {
  test.each<[string, string, string[]]>([
    ["words that both documents have", "self-evident law", ["one", "two"]],
    ["function words only", "it is what it is", ["two"]],
    ["a part of a word", "vident law", ["one", "two"]],
    ["another typesetting", 'law - "un peu"', ["one"]],
    ["punctuation", "law, of it.", ["two"]],
    ["words across a line end", "evident law, of", ["two"]],
  ])("finds %s", async (_case, quote, sources) => {
    const { places } = await shelf.library.findQuote(quote);
    expect(places.map(({ document }) => document.sourceId)).toEqual(sources);
  });

  test.each(["", "   ", "\u200b", "no such words", "law of it"])("finds no place of %j", async (quote) => {
    expect((await shelf.library.findQuote(quote)).places).toEqual([]);
  });

  test("searches only the given document", async () => {
    const { places } = await shelf.library.findQuote("self-evident law", "two");
    expect(places.map(({ document }) => document.sourceId)).toEqual(["two"]);
    expect((await shelf.library.findQuote("it is what it is", "one")).places).toEqual([]);
  });

  test("names no similar text if too few words are equal", async () => {
    expect(await shelf.library.findQuote("law zebra crossing lemon marmalade kitchen")).toEqual({ places: [] });
  });

  test("compares with the given document only", async () => {
    const { nearest } = await shelf.library.findQuote("it is what it was", "two");
    expect(nearest).toMatchObject({ similarity: 0.8, differences: [{ quote: "was", document: "is" }] });
    expect((await shelf.library.findQuote("it is what it was", "none")).nearest).toBeUndefined();
  });

  test("does not find a document that was removed", async () => {
    await shelf.library.add({ path: shelf.write("three.md", "# Three\n\nA sentence of the third document.\n") });
    expect((await shelf.library.findQuote("of the third document")).places).toHaveLength(1);
    await shelf.library.remove("three");
    expect((await shelf.library.findQuote("of the third document")).places).toEqual([]);
  });
});

test("finds quotations in a file of an earlier version, and repair creates the index", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-library-")));
  const own = await Shelf.open();
  try {
    await own.library.add({ path: own.write("a.md", "# A\n\nAn œuvre of an earlier version.\n") });
    const driver = await openSqlite(own.path("library.db"));
    driver.exec("delete from plain");
    expect((await own.library.findQuote("oeuvre of an earlier")).places).toHaveLength(1);
    driver.close();
  } finally {
    await own[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
});
