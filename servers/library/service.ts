import { isAbsolute, join } from "node:path";
import { dataFolder, OptionError, type ModuleHub } from "toolyard";
import type { Environment } from "../shared/environment.ts";
import { rootsOf } from "../shared/roots.ts";
import type { Service } from "../shared/service.ts";
import { openFolders } from "./documents/open-folders.ts";
import type { Library } from "./library.ts";
import { registerDocumentTools } from "./service/document-tools.ts";
import { registerIngestTools } from "./service/ingest-tools.ts";
import { registerSearchTools } from "./service/search-tools.ts";

/** Reads documents, finds passages by words and meaning, and tells the page of each. Needs no network. */
export const library: Service = { name: "library", tool: "search_chunks", port: 50_057, register };

function register(hub: ModuleHub, environment: Environment): void {
  const file = libraryFile(environment);
  let opened: Promise<Library> | undefined;
  const open = (): Promise<Library> => {
    opened ??= openHere(file);
    // One that could not be opened is tried again by the next call.
    opened.catch(() => (opened = undefined));
    return opened;
  };
  // A method of the protocol has that name, so it is understood and not listed.
  hub.registerTool("library.ping", () => "pong", {}, "Tells that the library is there", {
    aliases: ["ping"],
    annotations: { readOnlyHint: true, openWorldHint: false },
  });
  registerSearchTools(hub, open);
  registerDocumentTools(hub, open);
  registerIngestTools(hub, open, openFolders(rootsOf(environment, "LIBRARY_ROOTS", "/home/me/books")));
}

/** The library in a file, with the embedder of the package. Rejects with kind `unavailable`. */
export async function openHere(file: string): Promise<Library> {
  const [{ openLibrary }, { openTableEmbedder }] = await Promise.all([
    import("./library.ts"),
    import("./search/table-embedder.ts"),
  ]);
  return openLibrary({ file, embedder: await openTableEmbedder() });
}

/** `LIBRARY_FILE`, else a file in the data folder. Throws an `OptionError` for a path that is not absolute. */
export function libraryFile(environment: Environment): string {
  const file = environment["LIBRARY_FILE"] || join(dataFolder(environment), "library", "library.db");
  if (isAbsolute(file)) return file;
  throw new OptionError(
    `LIBRARY_FILE must be an absolute path, such as /home/me/library.db, got ${JSON.stringify(file)}.`,
  );
}
