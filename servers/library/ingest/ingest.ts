import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { pathToFileURL } from "node:url";
import { assemble, pagesOf, type AssembledDocument } from "../documents/assemble.ts";
import type { FoundMetadata } from "../documents/block.ts";
import { chunksOf, type ChunkBounds } from "../documents/chunker.ts";
import { DocumentError } from "../documents/document-error.ts";
import { formatOf } from "../documents/formats.ts";
import { mergeMetadata, type Metadata } from "../documents/metadata.ts";
import { summariesOf } from "../documents/summary.ts";
import type { Embedder } from "../search/embedder.ts";
import { plainWords } from "../search/names.ts";
import type { Terms } from "../search/terms.ts";
import {
  SECTION_SEPARATOR,
  type DocumentFields,
  type LibraryStore,
  type PassageFields,
  type Passages,
  type StoredDocument,
} from "../store/store.ts";

/** Another number where the same bytes would become other passages. */
const PIPELINE = 1;

export interface IngestOptions {
  readonly maxFileBytes: number;
  readonly maxPages: number;
  readonly chunk: ChunkBounds;
}

export interface IngestParts {
  readonly store: LibraryStore;
  readonly terms: Terms;
  readonly embedder: Embedder | undefined;
  readonly options: IngestOptions;
}

export interface IngestRequest {
  /** Real and absolute. */
  readonly path: string;
  /** What the caller knows of it, which goes before what is found in it. */
  readonly metadata?: FoundMetadata;
  readonly signal: AbortSignal;
  readonly onPage?: (done: number, total: number) => void;
}

export interface Ingested {
  readonly status: "added" | "updated" | "unchanged";
  readonly document: StoredDocument;
}

/**
 * Reads a file into the library: as a whole or not at all. The same bytes, read in the same way, are left as they are,
 * also at another path.
 */
export async function ingest(request: IngestRequest, parts: IngestParts): Promise<Ingested> {
  const { path, signal } = request;
  const { store, options } = parts;
  const bytes = await readBytes(path, options.maxFileBytes);
  const file = await fileOf(path, bytes, parts);
  const hasWord = Object.keys(request.metadata ?? {}).length > 0;
  if (file.same?.pipeline === file.pipeline && !hasWord) return { status: "unchanged", document: file.same };
  const format = formatOf(path, bytes);
  const read = await (await format.load())(bytes, { signal, maxPages: options.maxPages, ...pageCount(request) });
  const assembled = assemble(read);
  if (assembled.parts.length === 0) throw new DocumentError("VALIDATION_ERROR", "It holds no text.");
  const found = [...(request.metadata ? [["caller", request.metadata] as const] : []), ...read.metadata];
  const metadata = mergeMetadata(found, { path, text: assembled.text });
  const passages = await passagesOf(assembled, metadata, parts);
  const replaced = file.before ?? file.same;
  const document: DocumentFields = {
    ...fieldsOf(metadata),
    sourceId: replaced?.sourceId ?? (await freeSourceId(path, file.contentHash, store)),
    uri: file.uri,
    contentHash: file.contentHash,
    pipeline: file.pipeline,
    bytes: bytes.length,
    mime: format.mime,
    pages: read.pages,
    pageStarts: assembled.pageStarts,
    toc: assembled.toc,
    warnings: read.warnings,
  };
  signal.throwIfAborted();
  await store.replaceDocument(document, assembled.text, passages);
  const stored = await store.document(document.sourceId);
  return { status: replaced ? "updated" : "added", document: stored! };
}

interface File {
  readonly uri: string;
  readonly contentHash: string;
  /** What would make passages of it now. */
  readonly pipeline: string;
  /** What the library has from this place. */
  readonly before?: StoredDocument;
  /** What it has of the same bytes. */
  readonly same?: StoredDocument;
}

async function fileOf(path: string, bytes: Uint8Array, { store, options, embedder }: IngestParts): Promise<File> {
  const contentHash = createHash("sha256").update(bytes).digest("hex");
  const uri = pathToFileURL(path).href;
  const before = await store.documentByUri(uri);
  const same = before?.contentHash === contentHash ? before : await store.documentByHash(contentHash);
  return {
    uri,
    contentHash,
    pipeline: [PIPELINE, options.chunk.min, options.chunk.max, embedder?.id ?? "words"].join(" "),
    ...(before && { before }),
    ...(same && { same }),
  };
}

function pageCount({ onPage }: IngestRequest): Pick<IngestRequest, "onPage"> {
  return onPage ? { onPage } : {};
}

async function readBytes(path: string, most: number): Promise<Uint8Array> {
  const { size } = await stat(path);
  if (size > most)
    throw new DocumentError(
      "TOO_LARGE",
      `${basename(path)} has ${size} bytes, and at most ${most} are read (\`max_file_bytes\`).`,
    );
  return readFile(path);
}

function fieldsOf({ title, author, year, language, edition, genre, work, origins }: Metadata) {
  return {
    title,
    work: work ?? title,
    origins,
    ...(author !== undefined && { author }),
    ...(year !== undefined && { year }),
    ...(language !== undefined && { language }),
    ...(edition !== undefined && { edition }),
    ...(genre !== undefined && { genre }),
  };
}

/** `how_to_make_our_ideas_clear`, of the file's name; where that is taken, with the beginning of its digest. */
async function freeSourceId(path: string, contentHash: string, store: LibraryStore): Promise<string> {
  const stem =
    plainWords(basename(path, extname(path)))
      .replaceAll(" ", "_")
      .slice(0, 80) || "document";
  return (await store.document(stem)) ? `${stem}_${contentHash.slice(0, 8)}` : stem;
}

async function passagesOf(
  assembled: AssembledDocument,
  metadata: Metadata,
  { terms, embedder, options }: IngestParts,
): Promise<Passages> {
  const { language, title } = metadata;
  if (language !== undefined) await terms.load([language]);
  const { text, pageStarts } = assembled;
  const passage = (
    { section, from, to }: { readonly section: readonly string[]; readonly from: number; readonly to: number },
    ordinal: number,
    own = text.slice(from, to),
  ): PassageFields => {
    // What a passage is about often stands in the titles above it alone.
    const words = terms.of([title, ...section, own].join("\n"), language);
    const pages = pagesOf(pageStarts, from, to);
    return {
      ordinal,
      section,
      from,
      to,
      text: own,
      terms: words.join(" "),
      length: words.length,
      level: 0,
      ...(pages && { pages }),
    };
  };
  const chunks = chunksOf(assembled, options.chunk, language).map((piece, ordinal) => passage(piece, ordinal));
  const summaries = summariesOf(assembled, { terms, language, title }).map((summary, ordinal) => ({
    ...passage(summary, ordinal, summary.text),
    level: summary.level,
    concepts: summary.concepts,
  }));
  if (!embedder || !understands(embedder, language)) return { chunks, summaries };
  return {
    embedder: embedder.id,
    chunks: await embedded(chunks, title, embedder),
    summaries: await embedded(summaries, title, embedder),
  };
}

export function understands({ languages }: Embedder, language: string | undefined): boolean {
  return languages === undefined || (language !== undefined && languages.includes(language));
}

async function embedded(
  passages: readonly PassageFields[],
  title: string,
  embedder: Embedder,
): Promise<readonly PassageFields[]> {
  const vectors = await vectorsOf(passages, title, embedder);
  return passages.map((passage, at) => ({ ...passage, vector: vectors[at]! }));
}

/** Texts that an embedder gets at a time, so that nothing waits for all of a book. */
const MAX_BATCH = 256;

/** What a passage is about often stands in the titles above it alone. */
export async function vectorsOf(
  passages: readonly Pick<PassageFields, "section" | "text">[],
  title: string,
  embedder: Embedder,
): Promise<Float32Array[]> {
  const texts = passages.map(({ section, text }) => [[title, ...section].join(SECTION_SEPARATOR), text].join("\n"));
  const vectors: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += MAX_BATCH)
    vectors.push(...(await embedder.embed(texts.slice(at, at + MAX_BATCH), "passage")));
  return vectors;
}
