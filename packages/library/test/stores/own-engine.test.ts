// The SQLite engine of newer Node releases, tested with the oldest such release that the tests install.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ensureTools } from "../../../../scripts/tools.mjs";
import type { Passages } from "../../src/store/store.ts";
import { doomedDocument } from "./doomed-document.ts";

const INSTALL_MS = 120_000;
const STORE = new URL("../../dist/store/open-store.js", import.meta.url).href;
const WRITE = `
  const { openStore } = await import(process.argv[1]);
  const { file, document, text, passages } = JSON.parse(process.argv[2]);
  const store = await openStore({ kind: "sqlite", file });
  await store.replaceDocument(document, text, passages);
  const { chunks, summaries } = await store.document(document.sourceId);
  const { engine } = await store.describe();
  console.log(JSON.stringify({ engine, chunks, summaries, left: await store.check() }));
  await store[Symbol.asyncDispose]();`;

let node: string;
let folder: string;

beforeAll(() => {
  ({ node } = ensureTools());
}, INSTALL_MS);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-engine-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the stored form of a document with these passages. */
function written(passages: Passages): unknown {
  const { document, text } = doomedDocument("word");
  const given = JSON.stringify({ file: join(folder, "library.db"), document, text, passages });
  const args = ["--no-warnings", "--input-type=module", "-e", WRITE, STORE, given];
  return JSON.parse(execFileSync(node, args, { encoding: "utf8" }));
}

const [chunk] = doomedDocument("word").passages.chunks.map(({ vector: _none, ...plain }) => plain);
const engine = expect.stringContaining("node:sqlite");

test("a document without summaries is stored completely", () => {
  expect(written({ chunks: [chunk!], summaries: [] })).toEqual({ engine, chunks: 1, summaries: 0, left: [] });
});

test("a document without passages is stored completely", () => {
  expect(written({ chunks: [], summaries: [] })).toEqual({ engine, chunks: 0, summaries: 0, left: [] });
});
