export { DocumentError, type DocumentErrorCode } from "./documents/document-error.ts";
export type { FoundMetadata } from "./documents/block.ts";
export type { IngestResult } from "./ingest/ingest.ts";
export { openLibrary, type AddRequest, type Library, type LibraryOptions } from "./library.ts";
export { citationOf, linkTo } from "./search/cite.ts";
export type { Embedder } from "./search/embedder.ts";
export type { FoundQuote, QuotePlace } from "./search/find-quote.ts";
export type { PassageHits, Hit, SearchRequest } from "./search/search.ts";
export type {
  DeleteResult,
  Filter,
  Heading,
  PageStart,
  PassageKind,
  PassageRange,
  StoredDocument,
  StoredPassage,
  Window,
} from "./store/store.ts";
