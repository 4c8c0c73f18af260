import type { LibraryStore, StoredDocument } from "../store/store.ts";

const PAGE = 250;

/** All documents, by author, work and source id, some at a time. */
export async function* documentsOf(store: LibraryStore): AsyncGenerator<StoredDocument> {
  for (let offset = 0; ; offset += PAGE) {
    const { documents } = await store.documents({}, { limit: PAGE, offset });
    yield* documents;
    if (documents.length < PAGE) return;
  }
}

export async function sourceIdsOf(store: LibraryStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const { sourceId } of documentsOf(store)) ids.push(sourceId);
  return ids;
}
