import type { ModuleHub } from "toolyard";
import type { StoredDocument, StoredPassage } from "../store/store.ts";
import { chunkResult, documentResult, documentRow } from "./results.ts";
import * as schemas from "./schemas.ts";
import { filterOf, type OpenLibrary } from "./search-tools.ts";

interface Page extends schemas.InCollection {
  readonly limit?: number;
  readonly offset?: number;
}

interface GetDocument extends schemas.InCollection {
  readonly source_id: string;
  readonly include_chunks?: boolean;
  readonly chunk_limit?: number;
}

interface FilterByAuthor extends schemas.InCollection {
  readonly author: string;
  readonly include_chunk_counts?: boolean;
}

interface DeleteDocument extends schemas.InCollection {
  readonly source_id: string;
  readonly confirm?: boolean;
}

/** Registers the tools that list, show and remove documents. */
export function registerDocumentTools(hub: ModuleHub, open: OpenLibrary): void {
  registerDocument(hub, open);
  hub.registerTool<schemas.Filters & Page>({
    name: "list_documents",
    description: "Lists the documents of the library, sorted by author and title",
    schema: schemas.input({ ...schemas.FILTERS, limit: schemas.limit(250, 50), offset: schemas.OFFSET }),
    annotations: schemas.READS,
    handler: async ({ limit = 50, offset = 0, collection, ...filters }) => {
      const { documents, total } = await (await open(collection)).documents(filterOf(filters), { limit, offset });
      return { documents: documents.map(documentRow), total_count: total, limit, offset };
    },
  });
  hub.registerTool<{ readonly source_id: string; readonly section_filter?: string } & Page>({
    name: "get_chunks_by_document",
    description: "Returns the chunks of a document in reading order",
    schema: schemas.input(
      {
        source_id: schemas.SOURCE_ID,
        limit: schemas.limit(500, 50),
        offset: schemas.OFFSET,
        section_filter: { type: "string", description: "Only chunks whose `section_path` begins with this text." },
      },
      ["source_id"],
    ),
    annotations: schemas.READS,
    handler: async ({ source_id: sourceId, limit = 50, offset = 0, section_filter: section, collection }) => {
      const library = await open(collection);
      const document = await library.document(sourceId);
      const window = { sourceId, limit, offset, ...(section !== undefined && { section }) };
      const { passages, total } = await library.range("chunk", window);
      const chunks = chunkResults(passages, document);
      return { chunks, total_count: total, document_source_id: sourceId, limit, offset };
    },
  });
  registerAuthors(hub, open);
  registerRemoval(hub, open);
}

function registerDocument(hub: ModuleHub, open: OpenLibrary): void {
  hub.registerTool<GetDocument>({
    name: "get_document",
    description: "Returns the metadata of a document: title, author, pages, outline, and its chunks if requested",
    schema: schemas.input(
      {
        source_id: schemas.SOURCE_ID,
        include_chunks: { type: "boolean", default: false },
        chunk_limit: schemas.limit(500, 50),
      },
      ["source_id"],
    ),
    annotations: schemas.READS,
    handler: async ({
      source_id: sourceId,
      include_chunks: withChunks = false,
      chunk_limit: limit = 50,
      collection,
    }) => {
      const library = await open(collection);
      const document = await library.find(sourceId);
      if (!document)
        return { document: null, chunks: [], chunks_total: 0, found: false, error: `No document ${sourceId}.` };
      const { passages } = withChunks ? await library.range("chunk", { sourceId, limit, offset: 0 }) : { passages: [] };
      const chunks = chunkResults(passages, document);
      return { document: documentResult(document), chunks, chunks_total: document.chunks, found: true };
    },
  });
}

function chunkResults(passages: readonly StoredPassage[], document: StoredDocument): object[] {
  return passages.map((passage) => chunkResult(passage, document));
}

/** Maximum number of documents that are searched for one author. */
const MAX_OF_AUTHOR = 10_000;

function registerAuthors(hub: ModuleHub, open: OpenLibrary): void {
  hub.registerTool<FilterByAuthor>({
    name: "filter_by_author",
    description: "Lists an author's works and their documents",
    schema: schemas.input(
      {
        author: { type: "string", minLength: 1, description: "Author's name, or a part of it: Peirce." },
        include_chunk_counts: {
          type: "boolean",
          default: true,
          description: "If false, chunks are not counted and every count is 0.",
        },
      },
      ["author"],
    ),
    annotations: schemas.READS,
    handler: async ({ author, include_chunk_counts: withCounts = true, collection }) => {
      const window = { limit: MAX_OF_AUTHOR, offset: 0 };
      const { documents } = await (await open(collection)).documents({ author }, window);
      const works = new Map<string, StoredDocument[]>();
      for (const document of documents) works.set(document.work, [...(works.get(document.work) ?? []), document]);
      return {
        author,
        works: Array.from(works.values(), (own) => workResult(own, withCounts)),
        total_works: works.size,
        total_documents: documents.length,
        total_chunks: withCounts ? chunksOf(documents) : 0,
      };
    },
  });
}

function chunksOf(documents: readonly StoredDocument[]): number {
  return documents.reduce((sum, { chunks }) => sum + chunks, 0);
}

function workResult(documents: readonly StoredDocument[], withCounts: boolean): object {
  const [{ work, author = "", year, language = "", genre }] = documents as readonly [StoredDocument];
  return {
    work: {
      title: work,
      author,
      ...(year !== undefined && { year }),
      language,
      ...(genre !== undefined && { genre }),
    },
    documents: documents.map(documentRow),
    total_chunks: withCounts ? chunksOf(documents) : 0,
  };
}

function registerRemoval(hub: ModuleHub, open: OpenLibrary): void {
  hub.registerTool<DeleteDocument>({
    name: "delete_document",
    description: "Removes a document and its chunks from the library; the file itself stays",
    schema: schemas.input(
      {
        source_id: schemas.SOURCE_ID,
        confirm: {
          type: "boolean",
          default: false,
          description: "Must be true to remove the document; otherwise nothing is removed.",
        },
      },
      ["source_id"],
    ),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    handler: async ({ source_id: sourceId, confirm = false, collection }) => {
      const nothing = { success: false, source_id: sourceId, chunks_deleted: 0, summaries_deleted: 0 };
      if (!confirm) return { ...nothing, error: "Confirmation required: set confirm=True to delete the document" };
      const deleted = await (await open(collection)).remove(sourceId);
      if (!deleted) return { ...nothing, error: `No document ${sourceId}.` };
      return {
        success: true,
        source_id: sourceId,
        chunks_deleted: deleted.chunks,
        summaries_deleted: deleted.summaries,
      };
    },
  });
}
