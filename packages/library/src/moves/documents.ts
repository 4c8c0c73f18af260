import type { LibraryStore, StoredDocument } from "../store/store.ts";

/** Maximum number of documents. No library reaches it. */
const MAX_DOCUMENTS = 1_000_000;

/**
 * Returns a snapshot of all documents, sorted by author, work and source id. Reading page by page would miss documents
 * that are added or removed meanwhile.
 */
export async function allDocuments(store: LibraryStore): Promise<StoredDocument[]> {
  return (await store.documents({}, { limit: MAX_DOCUMENTS, offset: 0 })).documents;
}

export async function sourceIdsOf(store: LibraryStore): Promise<string[]> {
  return (await allDocuments(store)).map(({ sourceId }) => sourceId);
}
