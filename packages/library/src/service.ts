import { join } from "node:path";
import type { ModuleHub } from "toolyard";
import type { Environment } from "toolyard/service/environment";
import type { Service } from "toolyard/service/service";
import { openFolders } from "./documents/open-folders.ts";
import type { Library } from "./library.ts";
import { registerCollectionTools } from "./service/collection-tools.ts";
import { registerDocumentTools } from "./service/document-tools.ts";
import { registerIngestTools } from "./service/ingest-tools.ts";
import { registerPrompts } from "./service/prompts.ts";
import { registerResources } from "./service/resources.ts";
import { Collections } from "./service/collections.ts";
import { registerSearchTools, type OpenLibrary } from "./service/search-tools.ts";
import type { Embedder } from "./search/embedder.ts";
import { settingsOf, type LibrarySettings } from "./settings.ts";
import { outdatedMessage } from "./service/outdated-message.ts";
import { collectionOf, collectionsIn, inCollection, isStoreThere, openStore, parseStore } from "./store/open-store.ts";

/**
 * The library service: reads documents, finds passages by words and meaning, and reports the page of each. Requires no
 * network.
 */
export const library: Service = { name: "library", tool: "search_chunks", port: 50_057, register };

function register(hub: ModuleHub, environment: Environment): void {
  const settings = settingsOf(environment);
  const collections = new Collections({
    own: collectionOf(settings.store),
    open: async (collection, mayMake) => {
      const own = collection === undefined ? settings : settingsIn(settings, collection);
      if (collection !== undefined && !mayMake && !(await isStoreThere(parseStore(own.store)))) return undefined;
      return openAtWork(own, hub);
    },
  });
  const open: OpenLibrary = (collection, mayMake) => collections.open(collection, mayMake);
  hub.onClose(() => collections[Symbol.asyncDispose]());
  // The protocol has a method `ping`, so the alias is accepted but not listed.
  hub.registerTool("library.ping", () => "pong", {}, "Confirms that the library is running", {
    aliases: ["ping"],
    annotations: { readOnlyHint: true, openWorldHint: false },
  });
  registerSearchTools(hub, open);
  registerDocumentTools(hub, open);
  registerIngestTools(hub, open, {
    files: openFolders(settings.roots),
    allowUrls: settings.allowUrls,
    isByPerson: async (source) => (await open()).isByPerson(source),
  });
  registerCollectionTools(hub, {
    own: collectionOf(settings.store),
    list: () => collectionsIn(settings.store),
    outdated: (collection) => outdatedIn(inCollection(settings.store, collection)),
  });
  registerResources(hub, open, () => collections.names);
  registerPrompts(hub, open);
  // Only a service that watches folders has work before its first call.
  if (settings.watches)
    open().catch((error: unknown) => hub.logger.error(`The library could not be opened: ${String(error)}`));
}

/** Returns the number of documents in a store that another version of the library read; 0 if there is no store. */
async function outdatedIn(store: string): Promise<number> {
  const address = parseStore(store);
  if (!(await isStoreThere(address))) return 0;
  await using opened = await openStore(address);
  const { countOutdated } = await import("./moves/outdated.ts");
  return countOutdated(opened);
}

/**
 * Returns the settings of another collection. Its jobs have a separate folder. Only the configured collection watches
 * folders.
 */
function settingsIn(settings: LibrarySettings, collection: string): LibrarySettings {
  const folder = join(settings.folder, "collections", collection);
  return { ...settings, store: inCollection(settings.store, collection), folder, watches: false };
}

/**
 * Opens a library, resumes the jobs that other processes left unfinished, and starts watching its folders if
 * configured.
 */
async function openAtWork(settings: LibrarySettings, hub: ModuleHub): Promise<Library> {
  const library = await openHere(settings);
  const begun = settings.watches ? library.watch(settings.roots) : Promise.resolve();
  Promise.all([library.jobs.resume(), begun]).catch((error: unknown) =>
    hub.logger.error(`The library does not watch its folders: ${String(error)}`),
  );
  void reportOutdated(library, collectionOf(settings.store), hub);
  return library;
}

/** Logs a warning if another version read some documents of a collection. No call waits for it. */
async function reportOutdated(library: Library, collection: string, hub: ModuleHub): Promise<void> {
  // Closing the library ends the count, and the message is for users only.
  const count = await library.outdated().catch(() => 0);
  if (count > 0) hub.logger.warning(outdatedMessage(count, collection));
}

/**
 * Opens the library of these settings, with the bundled embedder or that of a server. Rejects with kind `unavailable`.
 */
export async function openHere({ store, folder, ocr, mistral, embedder }: LibrarySettings): Promise<Library> {
  const { openLibrary } = await import("./library.ts");
  const reader = mistral && new (await import("./ingest/mistral-ocr.ts")).MistralOcr(mistral);
  const options = { store, folder, ocr, ...(reader && { mistral: reader }) };
  return openLibrary({ ...options, embedder: await embedderFor(embedder) });
}

async function embedderFor(server: LibrarySettings["embedder"]): Promise<Embedder> {
  if (server) return (await import("./search/http-embedder.ts")).openHttpEmbedder(server);
  return (await import("./search/table-embedder.ts")).openTableEmbedder();
}
