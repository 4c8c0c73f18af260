import type { ModuleHub } from "toolyard";
import { DocumentError } from "../documents/document-error.ts";
import { languageCode } from "../search/language-codes.ts";
import type { Hit } from "../search/search.ts";
import type { Filter, StoredDocument } from "../store/store.ts";
import type { Library } from "../library.ts";
import {
  chunkResult,
  nearestResult,
  nearMissResult,
  placeResult,
  readChunkId,
  searchAnswer,
  summaryResult,
  type FoundPassage,
} from "./results.ts";
import * as schemas from "./schemas.ts";

/** Opens a collection. If `mayMake` is true, a missing collection is created. */
export type OpenLibrary = (collection?: string, mayMake?: boolean) => Promise<Library>;

interface SearchChunks extends schemas.Filters, schemas.InCollection {
  readonly query: string;
  readonly limit?: number;
  readonly min_similarity?: number;
}

interface SearchSummaries extends schemas.InCollection {
  readonly query: string;
  readonly limit?: number;
  readonly min_level?: number;
  readonly max_level?: number;
}

interface FindText extends schemas.InCollection {
  readonly quote: string;
  readonly source_id?: string;
}

interface GetPassage extends schemas.InCollection {
  readonly chunk_id: string;
  readonly before?: number;
  readonly after?: number;
}

/** Registers the tools that find passages. */
export function registerSearchTools(hub: ModuleHub, open: OpenLibrary): void {
  hub.registerTool<SearchChunks>({
    name: "search_chunks",
    description: "Search for text chunks using semantic similarity",
    schema: schemas.input(
      {
        query: schemas.QUERY,
        limit: schemas.limit(500, 10),
        min_similarity: { type: "number", minimum: 0, maximum: 1, default: 0 },
        ...schemas.FILTERS,
      },
      ["query"],
    ),
    keywords: ["library", "passages", "quotations", "books", "documents"],
    annotations: schemas.READS,
    handler: async ({ query, limit = 10, min_similarity: minSimilarity = 0, collection, ...filters }) => {
      const library = await open(collection);
      const filter = filterOf(filters);
      const { hits, matches, nearMisses, note } = await library.search("chunk", {
        query,
        limit,
        minSimilarity,
        filter,
      });
      const found = await withDocuments(library, hits);
      const noted = note === undefined ? {} : { note };
      const missed = await nearMissesIn(library, nearMisses);
      return searchAnswer(found, { total_count: hits.length, query, matches, ...noted, ...missed });
    },
  });
  hub.registerTool<SearchSummaries>({
    name: "search_summaries",
    description: "Search for summaries of documents and of their sections",
    schema: schemas.input({ query: schemas.QUERY, limit: schemas.limit(100, 10), min_level: LEVEL, max_level: LEVEL }, [
      "query",
    ]),
    keywords: ["library", "overview", "abstract"],
    annotations: schemas.READS,
    handler: async ({ query, limit = 10, min_level: least = 1, max_level: most = 5, collection }) => {
      const library = await open(collection);
      const isAll = least <= 1 && most >= 5;
      const request = { query, limit, minSimilarity: 0, filter: {}, ...(!isAll && { levels: [least, most] as const }) };
      const { hits, nearMisses, note } = await library.search("summary", request);
      const results = (await withDocuments(library, hits)).map(({ hit, document }) => summaryResult(hit, document));
      const noted = note === undefined ? {} : { note };
      return { results, total_count: results.length, query, ...noted, ...(await nearMissesIn(library, nearMisses)) };
    },
  });
  registerQuotations(hub, open);
}

const LEVEL = {
  type: "integer",
  minimum: 1,
  maximum: 5,
  description: "Level of the summaries. 1: whole documents; 5: the deepest sections.",
};

function registerQuotations(hub: ModuleHub, open: OpenLibrary): void {
  hub.registerTool<FindText>({
    name: "find_text",
    description: "Finds the exact places of a quotation, or else the most similar text with its differences",
    schema: schemas.input(
      {
        quote: {
          type: "string",
          minLength: 1,
          maxLength: 10_000,
          description: "Text of the quotation, without quotation marks.",
        },
        source_id: schemas.SOURCE_ID,
      },
      ["quote"],
    ),
    keywords: ["library", "check a quotation", "is this quote real"],
    annotations: schemas.READS,
    handler: async ({ quote, source_id: sourceId, collection }, { signal }) => {
      const library = await open(collection);
      const { places, nearest } = await library.findQuote(quote, sourceId, signal);
      return {
        found: places.length > 0,
        places: places.map(placeResult),
        ...(nearest && { nearest: nearestResult(nearest) }),
      };
    },
  });
  hub.registerTool<GetPassage>({
    name: "get_passage",
    description: "Returns a passage with the passages before and after it",
    schema: schemas.input(
      {
        chunk_id: { type: "string", minLength: 1, description: "Id of the passage, from a search." },
        before: { type: "integer", minimum: 0, maximum: 20, default: 1 },
        after: { type: "integer", minimum: 0, maximum: 20, default: 1 },
      },
      ["chunk_id"],
    ),
    keywords: ["library", "context"],
    annotations: schemas.READS,
    handler: async ({ chunk_id: id, before = 1, after = 1, collection }) => {
      const library = await open(collection);
      const place = readChunkId(id);
      if (!place)
        throw new DocumentError(
          "VALIDATION_ERROR",
          `${JSON.stringify(id)} is not the id of a chunk, such as poetics#3.`,
        );
      const { sourceId, ordinal } = place;
      const offset = Math.max(0, ordinal - before);
      const { passages } = await library.range("chunk", { sourceId, offset, limit: ordinal - offset + 1 + after });
      const own = passages.find((passage) => passage.ordinal === ordinal);
      if (!own) throw new DocumentError("DOCUMENT_NOT_FOUND", `${sourceId} has no chunk ${ordinal}.`);
      const document = await library.document(sourceId);
      return { passage: chunkResult(own, document), passages: passages.map((one) => chunkResult(one, document)) };
    },
  });
}

/** Adds the documents to the hits. Each document is loaded once. */
async function withDocuments(library: Library, hits: readonly Hit[]): Promise<FoundPassage[]> {
  const documents = new Map<string, StoredDocument>();
  const found: FoundPassage[] = [];
  for (const hit of hits) {
    const { sourceId } = hit.passage;
    const document = documents.get(sourceId) ?? (await library.document(sourceId));
    documents.set(sourceId, document);
    found.push({ hit, document });
  }
  return found;
}

/** Returns the best passages of a search that found nothing relevant, without their text. */
async function nearMissesIn(library: Library, nearMisses: readonly Hit[]): Promise<object> {
  if (nearMisses.length === 0) return {};
  return { near_misses: (await withDocuments(library, nearMisses)).map(nearMissResult) };
}

/** Converts the parameters into a filter. Throws a `DocumentError` if the language is invalid. */
export function filterOf({ author_filter: author, work_filter: work, language_filter: tag }: schemas.Filters): Filter {
  const language = isGiven(tag) ? languageCode(tag) : undefined;
  if (isGiven(tag) && language === undefined)
    throw new DocumentError(
      "VALIDATION_ERROR",
      `language_filter must be the code of a language, such as fr, got ${JSON.stringify(tag)}.`,
    );
  return {
    ...(isGiven(author) && { author }),
    ...(isGiven(work) && { work }),
    ...(language !== undefined && { language }),
  };
}

function isGiven(filter: string | null | undefined): filter is string {
  return typeof filter === "string" && filter.trim() !== "";
}
