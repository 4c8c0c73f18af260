import { isDeepStrictEqual } from "node:util";
import { DocumentError } from "../documents/document-error.ts";
import type { Embedder } from "../search/embedder.ts";
import { searchPassages } from "../search/search.ts";
import { Terms, wordsOf } from "../search/terms.ts";
import type { LibraryStore, WholeDocument } from "../store/store.ts";
import type { ExportOptions } from "./export-file.ts";
import { sourceIdsOf } from "./documents.ts";

/** Number of queries that compare both libraries. */
const QUERIES = 50;
/** Number of words in a query. They are taken from the middle of a passage. */
const WORDS = 7;
const LIMIT = 10;

export interface MoveResult {
  readonly documents: number;
  /** Documents that the target already had, from an interrupted move. */
  readonly unchanged: number;
  readonly compared: QueryComparison;
}

export interface QueryComparison {
  readonly queries: number;
  /** Queries with equal passages and similarities in both libraries. */
  readonly equal: number;
  /** Queries with different results. */
  readonly different: readonly string[];
}

/**
 * Copies a library into another store and compares the search results of both. The first library is not changed.
 * Rejects with `VALIDATION_ERROR` if the target contains documents that the first library does not.
 */
export async function moveLibrary(
  from: LibraryStore,
  to: LibraryStore,
  { embedder, ...moving }: ExportOptions & { readonly embedder?: Embedder },
): Promise<MoveResult> {
  const ids = await sourceIdsOf(from);
  await expectNothingElse(to, new Set(ids));
  await takeVectorsAway(to, await from.embedder());
  let unchanged = 0;
  for (const [at, id] of ids.entries()) {
    moving.signal?.throwIfAborted();
    const whole = await from.whole(id);
    // If the target cannot read its copy, the document is written again. If the target is unavailable, that write
    // fails.
    const there = await to.whole(id).catch(() => undefined);
    if (whole && isSame(whole, there)) unchanged += 1;
    else if (whole) await to.replaceDocument(whole.document, whole.text, whole.passages);
    moving.onDocument?.(at + 1, ids.length);
  }
  // Creating the indexes at the end is faster than updating them for each document.
  await to.repair();
  const own = embedder && (await from.embedder()) === embedder.id ? embedder : undefined;
  return { documents: ids.length, unchanged, compared: await compareLibraries(from, to, own) };
}

/**
 * Removes the target's vectors if they are from a move before the first library was reindexed. All vectors are written
 * again, so that vectors of two embedders are not mixed.
 */
async function takeVectorsAway(to: LibraryStore, embedder: string | undefined): Promise<void> {
  const there = await to.embedder();
  if (embedder !== undefined && there !== undefined && there !== embedder) await to.clearVectors(embedder);
}

/** Returns whether two documents are equal. Also compares metadata and vectors, which may differ for the same file. */
function isSame(one: WholeDocument, other: WholeDocument | undefined): boolean {
  const compared = ({ passages, ...rest }: WholeDocument) => ({ ...rest, ...passages, created: undefined });
  return other !== undefined && isDeepStrictEqual(compared(one), compared(other));
}

async function expectNothingElse(to: LibraryStore, ids: ReadonlySet<string>): Promise<void> {
  const other = (await sourceIdsOf(to)).find((id) => !ids.has(id));
  if (other === undefined) return;
  const { place } = await to.describe();
  throw new DocumentError(
    "VALIDATION_ERROR",
    `The library at ${place} contains other documents, such as ${JSON.stringify(other)}. Name another collection ` +
      "(?collection=name), or transfer them with `toolyard library export` and `import`.",
  );
}

/** Runs the same queries in both libraries. The queries are words of passages from all parts of the library. */
export async function compareLibraries(
  one: LibraryStore,
  other: LibraryStore,
  embedder: Embedder | undefined,
): Promise<QueryComparison> {
  const queries = await queriesOf(one);
  const terms = new Terms();
  const different: string[] = [];
  for (const query of queries) {
    const request = { query, limit: LIMIT, filter: {}, minSimilarity: 0 };
    const [first, second] = [one, other].map(async (store) => {
      const { hits, matches } = await searchPassages("chunk", request, { store, terms, embedder });
      const found = hits.map(({ passage, cosine }) => [passage.sourceId, passage.ordinal, cosine]);
      return JSON.stringify({ found, matches });
    });
    if ((await first) !== (await second)) different.push(query);
  }
  return { queries: queries.length, equal: queries.length - different.length, different };
}

/** Returns queries: words of passages from all parts of the library. */
export async function queriesOf(store: LibraryStore): Promise<string[]> {
  const ids = await sourceIdsOf(store);
  const queries: string[] = [];
  if (ids.length === 0) return queries;
  for (let at = 0; at < QUERIES; at += 1) {
    // If there are fewer documents than queries, the documents are used in turn. Otherwise the queries use documents at
    // equal distances in the list.
    const sourceId = ids[ids.length < QUERIES ? at % ids.length : Math.floor((at * ids.length) / QUERIES)]!;
    const { total } = await store.range("chunk", { sourceId, limit: 1, offset: 0 });
    const offset = total === 0 ? 0 : (at * 7) % total;
    const { passages } = await store.range("chunk", { sourceId, limit: 1, offset });
    const words = wordsOf(passages[0]?.text ?? "");
    const start = Math.max(0, Math.floor((words.length - WORDS) / 2));
    queries.push(words.slice(start, start + WORDS).join(" "));
  }
  return queries.filter((query) => query !== "");
}
