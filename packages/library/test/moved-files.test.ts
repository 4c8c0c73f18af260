import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CLEAR_IDEAS, OEUVRE } from "./books.ts";
import { Shelf } from "./shelf.ts";

let shelf: Shelf;
beforeAll(async () => {
  shelf = await Shelf.open();
});
beforeEach(() => shelf.empty());
afterAll(() => shelf[Symbol.asyncDispose]());

const move = (from: string, to: string): string => {
  mkdirSync(shelf.path("new"), { recursive: true });
  renameSync(shelf.path(from), shelf.path(to));
  return shelf.path(to);
};

test.each([
  ["a new folder", "a.md", "new/a.md"],
  ["a new name", "a.md", "b.md"],
  ["a name with blanks and accents", "a.md", "new/L’été à Nîmes.md"],
  ["another extension", "a.md", "new/a.markdown"],
])("a file moved to %s keeps its id, and its links lead to the new place", async (_case, from, to) => {
  const { document } = await shelf.library.add({ path: shelf.write(from, CLEAR_IDEAS) });
  const path = move(from, to);
  const again = await shelf.library.add({ path });
  expect([again.status, again.document.sourceId, again.document.uri]).toEqual([
    "updated",
    document.sourceId,
    pathToFileURL(path).href,
  ]);
  const { hits } = await shelf.library.search("chunk", { query: "nominalism", limit: 5, filter: {}, minSimilarity: 0 });
  expect(new Set(hits.map(({ passage }) => passage.sourceId))).toEqual(new Set([document.sourceId]));
  expect((await shelf.library.add({ path })).status).toBe("unchanged");
});

test("a moved file keeps the metadata that its user gave", async () => {
  const metadata = { author: "Given Author", year: 1900 };
  await shelf.library.add({ path: shelf.write("a.md", OEUVRE), metadata });
  const { document } = await shelf.library.add({ path: move("a.md", "new/a.md") });
  expect(document).toMatchObject(metadata);
});

test("a copy changes neither the document nor its link while the first file exists", async () => {
  const { document } = await shelf.library.add({ path: shelf.write("a.md", CLEAR_IDEAS) });
  const again = await shelf.library.add({ path: shelf.write("copy.md", CLEAR_IDEAS) });
  expect([again.status, again.document.sourceId, again.document.uri]).toEqual(["unchanged", "a", document.uri]);
});

test("a file that was moved and changed is a new document", async () => {
  await shelf.library.add({ path: shelf.write("a.md", CLEAR_IDEAS) });
  const path = move("a.md", "new/other.md");
  writeFileSync(path, OEUVRE);
  expect(await shelf.library.add({ path })).toMatchObject({ status: "added", document: { sourceId: "other" } });
});
