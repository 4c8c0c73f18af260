import type { ModuleHub } from "toolyard";
import { outdatedMessage } from "./outdated-message.ts";
import * as schemas from "./schemas.ts";

export interface CollectionNames {
  /** Name of the configured collection, which calls without `collection` use. */
  readonly own: string;
  /** Names of the collections that exist, sorted. Rejects with a `DocumentError`. */
  readonly list: () => Promise<readonly string[]>;
  /** Returns the number of documents of a collection that another version of the library read. */
  readonly outdated: (collection: string) => Promise<number>;
}

/** Maximum number of names in a result; `total_count` counts all. */
const MAX_LISTED = 1_000;
/** Maximum number of collections that are opened to find documents of another version. */
const MAX_EXAMINED = 20;

/** Registers the tool that lists the collections. */
export function registerCollectionTools(hub: ModuleHub, { own, list, outdated }: CollectionNames): void {
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
      const warnings: string[] = [];
      for (const name of names.slice(0, MAX_EXAMINED)) {
        const count = await outdated(name);
        if (count > 0) warnings.push(outdatedMessage(count, name));
      }
      const collections = names.slice(0, MAX_LISTED).map((name) => ({ name, is_default: name === own }));
      return { collections, total_count: names.length, ...(warnings.length > 0 && { warnings }) };
    },
  });
}
