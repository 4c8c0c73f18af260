import type { LibraryStore, StoredDocument } from "../store/store.ts";

/** More than any library has. */
const MAX_DOCUMENTS = 1_000_000;

/**
 * All documents, by author, work and source id, as of one moment: page by page, one that comes or goes meanwhile would
 * push another one out of its page, and nobody would see it.
 */
export async function allDocuments(store: LibraryStore): Promise<StoredDocument[]> {
  return (await store.documents({}, { limit: MAX_DOCUMENTS, offset: 0 })).documents;
}

export async function sourceIdsOf(store: LibraryStore): Promise<string[]> {
  return (await allDocuments(store)).map(({ sourceId }) => sourceId);
}
