import { readFile } from "node:fs/promises";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import type { Listing, ToolRecord } from "../../core/sources/records.ts";
import { VERSION } from "../../core/version.ts";
import { parseRemembered, type ListingStore } from "../../upstream/listing/listing-cache.ts";

/**
 * File with the lists of the services, written by the build. The lists always match this version, so no listing must be
 * stored in the data folder.
 */
const LISTS = new URL("../../servers/lists.json", import.meta.url);

/** Listing store with the list that came with the package. */
export class ShippedListing implements ListingStore {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  async load(): ReturnType<ListingStore["load"]> {
    try {
      const lists: unknown = JSON.parse(await readFile(LISTS, "utf8"));
      if (!isJsonObject(lists) || lists["version"] !== VERSION) return undefined;
      return parseRemembered({ ...objectMember(lists, this.#name), savedAt: Date.now() });
    } catch {
      return undefined;
    }
  }

  save(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Member of `_meta` in which `servers/hosted.ts` sends data for which MCP has no member. */
const TOLD = "toolyard/registered";

/** Restores the aliases, keywords and visibility of a service's tools from `_meta`. */
export function asRegistered(listing: Listing): Listing {
  return Object.freeze({ ...listing, tools: listing.tools.map(toRegistered) });
}

function toRegistered(tool: ToolRecord): ToolRecord {
  const { _meta: meta, ...definition } = tool.definition;
  const told = isJsonObject(meta) ? objectMember(meta, TOLD) : undefined;
  if (!told || !isJsonObject(meta)) return tool;
  const { [TOLD]: _told, ...rest } = meta;
  const aliases = textsOf(told["aliases"]);
  return {
    ...tool,
    ...(aliases.length > 0 ? { hiddenNames: aliases } : {}),
    ...(tool.name.includes(".") ? { qualified: true } : {}),
    keywords: textsOf(told["keywords"]),
    visibility: told["visibility"] === "ondemand" ? "ondemand" : "native",
    definition: { ...definition, ...(Object.keys(rest).length > 0 ? { _meta: rest } : {}) } satisfies JsonObject,
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
