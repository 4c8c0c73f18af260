import type { ModuleHub } from "toolyard";
import * as schemas from "./schemas.ts";

export interface CollectionNames {
  /** Name of the configured collection, which calls without `collection` use. */
  readonly own: string;
  /** Names of the collections that exist, sorted. Rejects with a `DocumentError`. */
  readonly list: () => Promise<readonly string[]>;
}

/** Maximum number of names in a result; `total_count` counts all. */
const MAX_LISTED = 1_000;

/** Registers the tool that lists the collections. */
export function registerCollectionTools(hub: ModuleHub, { own, list }: CollectionNames): void {
  hub.registerTool({
    name: "list_collections",
    description:
      "Lists the collections of documents in the store. The `collection` parameter of the other tools accepts " +
      "these names",
    schema: { type: "object", properties: {}, additionalProperties: false },
    keywords: ["library", "collections"],
    annotations: schemas.READS,
    handler: async () => {
      // The configured collection is listed even before its first use creates it.
      const names = Array.from(new Set([...(await list()), own])).toSorted();
      const collections = names.slice(0, MAX_LISTED).map((name) => ({ name, is_default: name === own }));
      return { collections, total_count: names.length };
    },
  });
}
