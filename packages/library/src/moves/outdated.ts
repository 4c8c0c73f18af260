import { setImmediate } from "node:timers/promises";
import { PIPELINE } from "../ingest/ingest.ts";
import type { LibraryStore, StoredDocument } from "../store/store.ts";
import { allDocuments } from "./documents.ts";

/** Number of documents that are examined in one step, so that other work is not blocked. */
const STEP = 50;

/** Returns whether another version of the readers or of the index made the stored passages. */
export function isOutdated({ pipeline }: Pick<StoredDocument, "pipeline">): boolean {
  return pipeline.split(" ")[0] !== String(PIPELINE);
}

/** Returns the number of documents that another version read. Rejects with the signal's reason. */
export async function countOutdated(store: Pick<LibraryStore, "documents">, signal?: AbortSignal): Promise<number> {
  let count = 0;
  for (let offset = 0; ; offset += STEP) {
    signal?.throwIfAborted();
    const { documents, total } = await store.documents({}, { limit: STEP, offset });
    count += documents.filter(isOutdated).length;
    if (offset + STEP >= total) return count;
    await setImmediate();
  }
}

/** Returns the documents that another version read, sorted by author, work and source id. */
export async function outdatedDocuments(store: LibraryStore): Promise<StoredDocument[]> {
  return (await allDocuments(store)).filter(isOutdated);
}
