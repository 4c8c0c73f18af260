import type { LibraryStore, StoredDocument } from "../store/store.ts";

/** More than any library has. */
const MAX_DOCUMENTS = 1_000_000;

/**
 * Returns all documents by author, work and source id, as of one moment. Reading page by page would miss documents when
 * others are added or removed meanwhile.
 */
export async function allDocuments(store: LibraryStore): Promise<StoredDocument[]> {
  return (await store.documents({}, { limit: MAX_DOCUMENTS, offset: 0 })).documents;
}

export async function sourceIdsOf(store: LibraryStore): Promise<string[]> {
  return (await allDocuments(store)).map(({ sourceId }) => sourceId);
}
