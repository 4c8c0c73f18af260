import { stat } from "node:fs/promises";
import { OptionError } from "toolyard";
import { DocumentError } from "../documents/document-error.ts";
import { anyFile } from "../documents/open-folders.ts";
import type { FoundMetadata } from "../documents/block.ts";
import { nameOfSource, sourcesOf, type Source } from "../ingest/sources.ts";
import type { Library } from "../library.ts";
import { citationOf, linkTo } from "../search/cite.ts";
import { folded, wordsOf } from "../search/terms.ts";
import { openHere } from "../service.ts";
import { settingsOf } from "../settings.ts";
import { chunkResult, documentResult, documentRow } from "../service/results.ts";
import { filterOf } from "../service/search-tools.ts";
import type { OcrWish } from "../documents/ocr/ocr.ts";
import type { StoredDocument, StoredPassage } from "../store/store.ts";
import { AddProgress } from "./add-progress.ts";
import { EXIT, type CommandIo } from "./command-io.ts";
import { line, spoken, wordsFor, type CommandOutput, type Status, type Words } from "./words.ts";

interface LibraryCommandOptions {
  readonly json?: boolean;
}

export interface AddOptions extends LibraryCommandOptions {
  readonly title?: string;
  readonly author?: string;
  readonly year?: string;
  readonly language?: string;
  readonly ocr?: OcrWish;
  readonly collection?: string;
}

export interface FindOptions extends LibraryCommandOptions {
  readonly limit: string;
  readonly author?: string;
  readonly work?: string;
  readonly language?: string;
}

/** Adds files, folders, glob patterns and URLs. Returns 1 if one of them cannot be read. */
export const add = spoken(async (paths: readonly string[], options: AddOptions, { io, words }) => {
  const metadata = metadataOf(options);
  const sources = await sourcesOf(paths, { files: anyFile(io.cwd), allowUrls: true });
  const progress = new AddProgress(await Promise.all(sources.map(sizeOf)), words);
  await using library = await open(io, options.collection);
  const live = io.live(() => progress.lines(), options);
  const told: SourceResult[] = [];
  try {
    for (const source of sources) {
      io.signal.throwIfAborted();
      progress.begin(nameOfSource(source));
      told.push(await addOne(source, { library, metadata, progress, words, ocr: options.ocr, signal: io.signal }));
      const { line: last, isFailure } = told.at(-1)!;
      if (!options.json) await (isFailure ? io.say(last) : io.print(last));
    }
  } finally {
    live.end();
  }
  if (options.json) await io.print(JSON.stringify({ sources: told.map(({ row }) => row) }));
  else if (told.length === 0) await io.say(words.noFile);
  return told.length === 0 || told.some(({ isFailure }) => isFailure) ? EXIT.failed : EXIT.ok;
});

export interface AddContext {
  readonly library: Library;
  readonly metadata: FoundMetadata;
  readonly progress: AddProgress;
  readonly words: Words;
  readonly ocr: OcrWish | undefined;
  readonly signal: AbortSignal;
  /** True if a user selected the source. @default true */
  readonly isByPerson?: boolean;
}

/** Result of one source: as JSON and as text. */
export interface SourceResult {
  readonly row: object;
  readonly line: string;
  readonly isFailure: boolean;
}

export async function addOne(
  source: Source,
  { library, metadata, progress, words, ocr, signal, isByPerson = true }: AddContext,
): Promise<SourceResult> {
  const path = nameOfSource(source);
  const onPage = (done: number, total: number): void => progress.page(done, total);
  try {
    const { status, document } = await library.add({
      ...source,
      metadata,
      signal,
      onPage,
      isByPerson,
      ...(ocr && { ocr }),
    });
    const { sourceId, chunks, warnings } = document;
    const row = { path, status, source_id: sourceId, chunks_count: chunks, ...(warnings.length > 0 && { warnings }) };
    return { row, line: addedLine(status, document, words), isFailure: false };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const told = line(words, "failed", `${path}: ${words.failure(error)}`);
    return { row: { path, status: "failed", error: error.message, code: error.code }, line: told, isFailure: true };
  }
}

/** Returns the size in bytes; 0 if the file does not exist or the source is a URL. */
export async function sizeOf(source: Source): Promise<number> {
  if (!("path" in source)) return 0;
  return stat(source.path).then(
    ({ size }) => size,
    () => 0,
  );
}

function addedLine(status: Status, { sourceId, pages, chunks, warnings }: StoredDocument, words: Words): string {
  const size = [...(pages > 0 ? [words.pages(pages)] : []), words.passages(chunks)].join(", ");
  const told = warnings.map((warning) => `           ${words.warning(warning)}`);
  return [line(words, status, `${sourceId} (${size})`), ...told].join("\n");
}

function metadataOf({ title, author, year, language }: AddOptions): FoundMetadata {
  if (year !== undefined && !/^-?\d{1,4}$/.test(year))
    throw new OptionError(`--year must be a whole number such as 1878, got ${JSON.stringify(year)}.`);
  return {
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(year !== undefined && { year: Number(year) }),
    ...(language !== undefined && { language }),
  };
}

/** Prints the passages that answer a question. Returns 1 if there are none. */
export const search = spoken(async (asked: readonly string[], options: FindOptions, { io, words }) => {
  const query = asked.join(" ");
  const limit = countOf(options.limit);
  await using library = await open(io);
  const request = { query, limit, filter: filterIn(options), minSimilarity: 0 };
  const { hits, matches, note } = await library.search("chunk", request);
  const shown = await Promise.all(
    hits.map(async (hit) => ({ hit, document: await library.document(hit.passage.sourceId) })),
  );
  if (options.json) {
    const results = shown.map(({ hit, document }) => chunkResult(hit.passage, document, hit));
    await io.print(JSON.stringify({ results, total_count: results.length, query, matches, note }));
  } else if (note !== undefined) await io.say(words.warning(note));
  if (options.json) return shown.length === 0 ? EXIT.failed : EXIT.ok;
  if (shown.length === 0) await io.say(words.noAnswer(query));
  else {
    const wanted = new Set(wordsOf(query).filter(isTelling).map(stemLike));
    const blocks = shown.map(({ hit, document }) => passageBlock(hit.passage, document, { wanted, io }));
    await io.paint(blocks.join("\n\n"));
  }
  await sayOutdated(library, { io, words });
  return shown.length === 0 ? EXIT.failed : EXIT.ok;
});

interface MarkContext {
  readonly wanted: ReadonlySet<string>;
  readonly io: CommandIo;
}

function passageBlock(passage: StoredPassage, document: StoredDocument, { wanted, io }: MarkContext): string {
  const text = io
    .safe(passage.text)
    .replaceAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu, (word) =>
      wanted.has(stemLike(word.toLowerCase())) ? io.mark(word) : word,
    );
  return [io.safe(citationOf(document, passage.pages)), text, io.safe(linkTo(document, passage.pages))].join("\n");
}

/** Returns whether a word is long enough to be highlighted. Shorter words occur in every text. */
function isTelling(word: string): boolean {
  return word.length > 3;
}

/** Returns a rough stem, to highlight "clearness" for the query "clear". Search itself uses real stems. */
function stemLike(word: string): string {
  const plain = folded(word);
  return plain.length > 5 ? plain.slice(0, 5) : plain;
}

/** Lists the documents, sorted by author and title. */
export async function list(options: FindOptions, io: CommandIo): Promise<number> {
  return listed("", options, io);
}

const listed = spoken(async (_none: string, options: FindOptions, { io, words }) => {
  await using library = await open(io);
  const window = { limit: countOf(options.limit), offset: 0 };
  const { documents, total } = await library.documents(filterIn(options), window);
  if (options.json) await io.print(JSON.stringify({ documents: documents.map(documentRow), total_count: total }));
  else {
    for (const document of documents) await io.print(`${document.sourceId}  ${citationOf(document)}`);
    if (total > documents.length) await io.say(words.more(total - documents.length));
    if (total === 0) await io.say(words.empty);
    await sayOutdated(library, { io, words });
  }
  return EXIT.ok;
});

/** Reports the number of documents that another version of the library read, if there are any. */
async function sayOutdated(library: Library, { io, words }: CommandOutput): Promise<void> {
  const count = await library.outdated(io.signal);
  if (count > 0) await io.say(words.moves.outdated(words.documents(count)));
}

/** Prints the metadata and the outline of a document. */
export const show = spoken(async (sourceId: string, options: LibraryCommandOptions, { io, words }) => {
  await using library = await open(io);
  const document = await library.document(sourceId);
  if (options.json) await io.print(JSON.stringify(documentResult(document)));
  else await io.print([citationOf(document), ...factsOf(document, words), ...outlineOf(document)].join("\n"));
  return EXIT.ok;
});

function factsOf({ pages, chunks, language, uri, warnings }: StoredDocument, words: Words): string[] {
  const facts = [pages > 0 ? words.pages(pages) : undefined, words.passages(chunks), language];
  return [facts.filter((fact) => fact !== undefined).join(", "), uri, ...warnings.map(words.warning)];
}

function outlineOf({ toc }: StoredDocument): string[] {
  return toc.map(({ level, title, page }) => `${"  ".repeat(level)}${title}${page === undefined ? "" : `  ${page}`}`);
}

/** Removes documents from the library; their files stay. Returns 1 if one of the documents does not exist. */
export const remove = spoken(async (ids: readonly string[], options: LibraryCommandOptions, { io, words }) => {
  await using library = await open(io);
  const rows: { source_id: string; success: boolean; chunks_deleted: number }[] = [];
  for (const id of ids) {
    const deleted = await library.remove(id);
    rows.push({ source_id: id, success: deleted !== undefined, chunks_deleted: deleted?.chunks ?? 0 });
    const told = deleted && line(words, "removed", `${id} (${words.passages(deleted.chunks)})`);
    if (!options.json && told !== undefined) await io.print(told);
    if (!options.json && told === undefined) await io.say(words.noDocument(id));
  }
  if (options.json) await io.print(JSON.stringify({ documents: rows }));
  return rows.every(({ success }) => success) ? EXIT.ok : EXIT.failed;
});

/** Creates all vectors again. This is necessary after an update of Toolyard that contains another embedding table. */
export async function reindex(options: LibraryCommandOptions, io: CommandIo): Promise<number> {
  await using library = await open(io);
  const count = await library.reindex({ signal: io.signal });
  const words = wordsFor(io.env);
  const told = line(words, "reindexed", words.documents(count));
  await io.print(options.json ? JSON.stringify({ documents: count }) : told);
  return EXIT.ok;
}

export function open(io: CommandIo, collection?: string): Promise<Library> {
  return openHere(settingsOf(collection === undefined ? io.env : { ...io.env, LIBRARY_COLLECTION: collection }));
}

function filterIn({ author, work, language }: FindOptions) {
  return filterOf({
    ...(author !== undefined && { author_filter: author }),
    ...(work !== undefined && { work_filter: work }),
    ...(language !== undefined && { language_filter: language }),
  });
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 500) return count;
  throw new OptionError(`--limit must be a whole number from 1 to 500, got ${JSON.stringify(text)}.`);
}
