import { fileURLToPath } from "node:url";
import { givenMetadata } from "../ingest/ingest.ts";
import type { Source } from "../ingest/sources.ts";
import { outdatedDocuments } from "../moves/outdated.ts";
import { libraryStore } from "../settings.ts";
import { collectionOf, collectionsIn, inCollection, isStoreThere, openStore, parseStore } from "../store/open-store.ts";
import type { StoredDocument } from "../store/store.ts";
import { AddProgress } from "./add-progress.ts";
import { EXIT, type CommandIo } from "./command-io.ts";
import { addOne, open, sizeOf, type SourceResult } from "./library-commands.ts";
import { spoken, type CommandOutput } from "./words.ts";

export interface RenewOptions {
  readonly json?: boolean;
  readonly collection?: string;
  readonly dryRun?: boolean;
}

/** Reads the files of documents again that another version of the library read. Returns 1 if one cannot be read. */
export async function renew(options: RenewOptions, io: CommandIo): Promise<number> {
  return renewAll("", options, io);
}

const renewAll = spoken(async (_none: string, options: RenewOptions, output) => {
  const { io, words } = output;
  const rows: object[] = [];
  let [found, failures] = [0, 0];
  for (const collection of await namesOf(options, io)) {
    io.signal.throwIfAborted();
    const documents = await outdatedIn(collection, io);
    if (documents.length === 0) continue;
    found += documents.length;
    if (!options.json) await io.print(words.moves.ofCollection(collection, words.documents(documents.length)));
    const results = options.dryRun
      ? documents.map(listedResult)
      : await renewCollection(documents, { collection, options }, output);
    if (options.dryRun && !options.json) for (const { line } of results) await io.print(line);
    failures += results.filter(({ isFailure }) => isFailure).length;
    rows.push({ collection, documents: results.map(({ row }) => row) });
  }
  if (options.json) await io.print(JSON.stringify({ collections: rows, outdated: found }));
  else if (found === 0) await io.print(words.moves.current);
  return failures > 0 ? EXIT.failed : EXIT.ok;
});

/** Returns the names of the collections to examine: the given one, or all of the store. */
async function namesOf({ collection }: RenewOptions, { env }: CommandIo): Promise<readonly string[]> {
  if (collection !== undefined) return [collection];
  const store = libraryStore(env);
  return Array.from(new Set([...(await collectionsIn(store)), collectionOf(store)])).toSorted();
}

async function outdatedIn(collection: string, { env }: CommandIo): Promise<StoredDocument[]> {
  const address = parseStore(inCollection(libraryStore(env), collection));
  if (!(await isStoreThere(address))) return [];
  await using store = await openStore(address);
  return outdatedDocuments(store);
}

function listedResult({ sourceId, uri, pipeline }: StoredDocument): SourceResult {
  const row = { source_id: sourceId, uri, version: pipeline.split(" ")[0] ?? "" };
  return { row, line: `${sourceId}  ${uri}`, isFailure: false };
}

interface RenewContext {
  readonly collection: string;
  readonly options: RenewOptions;
}

async function renewCollection(
  documents: readonly StoredDocument[],
  { collection, options }: RenewContext,
  { io, words }: CommandOutput,
): Promise<SourceResult[]> {
  const progress = new AddProgress(await Promise.all(documents.map((one) => sizeOf(sourceOf(one)))), words);
  await using library = await open(io, collection);
  const live = io.live(() => progress.lines(), options);
  const results: SourceResult[] = [];
  try {
    for (const document of documents) {
      io.signal.throwIfAborted();
      progress.begin(document.sourceId);
      const context = { library, progress, words, signal: io.signal, ocr: undefined, isByPerson: false };
      const result = await addOne(sourceOf(document), { ...context, metadata: givenMetadata(document) });
      results.push(result);
      if (!options.json) await (result.isFailure ? io.say(result.line) : io.print(result.line));
    }
  } finally {
    live.end();
  }
  return results;
}

function sourceOf({ uri }: StoredDocument): Source {
  return uri.startsWith("file:") ? { path: fileURLToPath(uri) } : { url: uri };
}
