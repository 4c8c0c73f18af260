import type { SqliteWrites } from "./sqlite-writes.ts";
import type { TextPlace, TextPlacesRequest } from "../../search/text-places.ts";
import type { LibraryStore } from "../store.ts";

/** Write operations on a file, run in this thread or in another one. */
export interface SqliteWriter extends Pick<
  LibraryStore,
  "replaceDocument" | "deleteDocument" | "clearVectors" | "setVectors" | "check" | "repair" | typeof Symbol.asyncDispose
> {
  backup(file: string): Promise<void>;
  textPlaces(request: TextPlacesRequest): Promise<TextPlace[]>;
}

/** Returns a writer in the caller's thread: for a library in memory, which no other thread can open. */
export function writerHere(writes: SqliteWrites): SqliteWriter {
  return {
    replaceDocument: async (...given) => writes.replaceDocument(...given),
    deleteDocument: async (sourceId) => writes.deleteDocument(sourceId),
    clearVectors: async (embedder) => writes.clearVectors(embedder),
    setVectors: async (...given) => writes.setVectors(...given),
    check: async () => writes.check(),
    repair: async () => writes.repair(),
    backup: (file) => writes.backup(file),
    textPlaces: async (request) => writes.textPlaces(request),
    [Symbol.asyncDispose]: async () => {},
  };
}
