import type { ModuleHub } from "toolyard";
import { documentResult } from "./results.ts";
import type { OpenLibrary } from "./search-tools.ts";

/** Maximum number of suggested ids. */
const MAX_SUGGESTED = 100;

/** Registers documents and their pages as resources that a client may attach. */
export function registerResources(hub: ModuleHub, open: OpenLibrary, names: () => readonly string[]): void {
  const ids = async (typed: string): Promise<string[]> => {
    const { documents } = await (await open()).documents({}, { limit: 10_000, offset: 0 });
    return documents
      .map(({ sourceId }) => sourceId)
      .filter((id) => id.startsWith(typed))
      .slice(0, MAX_SUGGESTED);
  };
  const collections = (typed: string): string[] => names().filter((name) => name.startsWith(typed));
  const complete = { collection: collections, source_id: ids };
  hub.registerResource(
    "library://{collection}/document/{source_id}",
    async (_uri, { collection, source_id: sourceId = "" }) => {
      const document = await (await open(collection)).find(sourceId);
      return document && documentResult(document);
    },
    "Metadata of a document in the library, with its outline",
    { name: "library_document", complete },
  );
  hub.registerResource(
    "library://{collection}/document/{source_id}/page/{page}",
    async (_uri, { collection, source_id: sourceId = "", page = "" }) => {
      return (await open(collection)).pageText(sourceId, Number(page));
    },
    "The text of one page of a document; pages are numbered from 1",
    { name: "library_page", mimeType: "text/plain", complete },
  );
}
