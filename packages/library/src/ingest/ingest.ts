import { stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { FoundMetadata } from "../documents/block.ts";
import type { ChunkBounds } from "../documents/chunker.ts";
import { DocumentError } from "../documents/document-error.ts";
import type { Metadata } from "../documents/metadata.ts";
import { NO_OCR, ocrAdvice, type OcrChoice, type OcrWish } from "../documents/ocr/ocr.ts";
import type { MadeDocument, OcrWanted, ReadRequest } from "../reading/messages.ts";
import type { ReaderProcess } from "../reading/reader-process.ts";
import type { Embedder } from "../search/embedder.ts";
import type { FileDigests } from "./file-digests.ts";
import type { OcrAnswer } from "./mistral-ocr.ts";
import { plainWords } from "../search/names.ts";
import {
  SECTION_SEPARATOR,
  type DocumentFields,
  type LibraryStore,
  type PassageFields,
  type Passages,
  type StoredDocument,
} from "../store/store.ts";
import { firstChars } from "toolyard/text";

/** Version of the processing. Increase it when the same bytes would result in other passages. */
export const PIPELINE = 7;

export interface IngestOptions {
  readonly maxFileBytes: number;
  readonly maxPages: number;
  readonly chunk: ChunkBounds;
  readonly ocr: OcrChoice;
}

export interface IngestParts {
  readonly store: LibraryStore;
  readonly embedder: Embedder | undefined;
  readonly options: IngestOptions;
  readonly reader: ReaderProcess;
  readonly digests: FileDigests;
  /** Reads page pictures with a remote service. */
  readonly onOcr?: (path: string, wanted: OcrWanted, signal: AbortSignal) => Promise<OcrAnswer>;
}

export interface IngestRequest {
  /** Real, absolute path. */
  readonly path: string;
  /** True if access was granted for this real path: a symbolic link at the path is refused. */
  readonly isReal: boolean;
  /** URL of the document, used instead of its path. */
  readonly uri?: string;
  /** MIME type given by the sender. */
  readonly mime?: string;
  /** Metadata given by the caller. It overrides metadata found in the file. */
  readonly metadata?: FoundMetadata;
  /** OCR setting. @default the library's OCR setting */
  readonly ocr?: OcrWish;
  readonly signal: AbortSignal;
  readonly onPage?: (done: number, total: number) => void;
}

export interface IngestResult {
  readonly status: "added" | "updated" | "unchanged";
  readonly document: StoredDocument;
  /** Number of pages that this call read with OCR. */
  readonly ocrPages: number;
  /** Price of the OCR. */
  readonly costOcr: number;
}

/**
 * Reads a file into the library, whole or not at all. If the same bytes were already read with the same settings, the
 * stored document stays, also if the path differs. If its file no longer exists, the document keeps its id and gets the
 * new address.
 */
export async function ingest(given: IngestRequest, parts: IngestParts): Promise<IngestResult> {
  const moved = await movedDocument(given, parts);
  const request = withGivenMetadata(given, moved);
  const { path, signal, isReal } = request;
  const { store, digests } = parts;
  const uri = request.uri ?? pathToFileURL(path).href;
  const digest = await digests.of(path, { most: parts.options.maxFileBytes, isReal });
  const known = await knownAs(uri, digest, parts);
  const hasWord = Object.keys(request.metadata ?? {}).length > 0 || request.ocr === "force";
  if (known.same?.pipeline === known.pipeline && !hasWord && !moved)
    return { status: "unchanged", document: known.same, ocrPages: 0, costOcr: 0 };
  const { made, costOcr } = await readFile(request, parts);
  // The file may have changed since its digest was taken, so the digest of the bytes that were read is looked up.
  const { before, same, pipeline } = await knownAs(uri, made.contentHash, parts);
  const replaced = before ?? same;
  const document: DocumentFields = {
    ...fieldsOf(made),
    sourceId: replaced?.sourceId ?? (await freeSourceId(nameOf(request), made.contentHash, store)),
    uri,
    pipeline,
  };
  const passages = await embeddedPassages(made, parts);
  signal.throwIfAborted();
  await store.replaceDocument(document, made.text, passages);
  const stored = await store.document(document.sourceId);
  return { status: replaced ? "updated" : "added", document: stored!, ocrPages: made.ocrPages, costOcr };
}

/** Reads the file in the reader process, and adds up the price of its OCR. */
async function readFile(
  request: IngestRequest,
  parts: IngestParts,
): Promise<{ readonly made: MadeDocument; readonly costOcr: number }> {
  const { path, signal, onPage } = request;
  const { reader, onOcr } = parts;
  let costOcr = 0;
  const made = await reader.read(readRequest(request, parts), {
    signal,
    onPage,
    ...(onOcr && {
      onOcr: async (wanted: OcrWanted, own: AbortSignal) => {
        const { pages, cost } = await onOcr(path, wanted, own);
        costOcr += cost;
        return pages;
      },
    }),
  });
  return { made, costOcr };
}

/** Returns the stored document with the same bytes, if its file no longer exists and the new path has no document. */
async function movedDocument(
  { path, uri, isReal }: IngestRequest,
  { store, digests, options }: IngestParts,
): Promise<StoredDocument | undefined> {
  if (uri !== undefined) return undefined;
  const digest = await digests.of(path, { most: options.maxFileBytes, isReal });
  const same = await store.documentByHash(digest);
  const isElsewhere = same?.uri.startsWith("file:") === true && same.uri !== pathToFileURL(path).href;
  if (!isElsewhere || (await store.documentByUri(pathToFileURL(path).href))) return undefined;
  return (await isMissing(same.uri)) ? same : undefined;
}

/** Returns false if the file may exist but cannot be examined. */
async function isMissing(uri: string): Promise<boolean> {
  try {
    await stat(fileURLToPath(uri));
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** Adds the metadata that the caller gave when the document was added at its former place. */
function withGivenMetadata(request: IngestRequest, moved: StoredDocument | undefined): IngestRequest {
  return moved ? { ...request, metadata: { ...givenMetadata(moved), ...request.metadata } } : request;
}

/** Returns the metadata of a document that a caller gave, and that its file does not contain. */
export function givenMetadata(document: StoredDocument): FoundMetadata {
  const { title, author, year, language, edition, genre, work, origins } = document;
  const all = Object.entries({ title, author, year, language, edition, genre, work });
  return Object.fromEntries(all.filter(([key, value]) => origins[key] === "caller" && value !== undefined));
}

/** Throws if OCR is requested but not configured. */
function ocrOf(wish: OcrWish | undefined, own: OcrChoice): OcrChoice {
  if (wish === "off") return NO_OCR;
  if (wish !== "force") return own;
  if (own.by !== "off") return { ...own, when: "force" };
  throw new DocumentError(
    "OCR_UNAVAILABLE",
    `OCR is not configured. ${ocrAdvice(own)} in [library], or omit \`ocr\` in this call.`,
  );
}

function readRequest(request: IngestRequest, { options }: IngestParts): ReadRequest {
  const { path, uri, mime, metadata, isReal, ocr: wish } = request;
  const { maxFileBytes, maxPages, chunk } = options;
  const ocr = ocrOf(wish, options.ocr);
  return {
    path,
    isReal,
    maxFileBytes,
    maxPages,
    chunk,
    ocr,
    ...(uri !== undefined && { name: nameOf({ path, uri }) }),
    ...(mime !== undefined && { mime }),
    ...(metadata && { metadata }),
  };
}

/** Returns the last segment of the URL, or the path. */
function nameOf({ path, uri }: { readonly path: string; readonly uri?: string }): string {
  if (uri === undefined) return path;
  const { pathname, hostname } = new URL(uri);
  const last = pathname.split("/").findLast((part) => part !== "") ?? hostname;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

interface KnownDocument {
  /** Version of the code and settings that would process the document now. */
  readonly pipeline: string;
  /** The stored document of this source. */
  readonly before?: StoredDocument;
  /** A stored document with the same bytes. */
  readonly same?: StoredDocument;
}

async function knownAs(
  uri: string,
  contentHash: string,
  { store, options, embedder }: IngestParts,
): Promise<KnownDocument> {
  const before = await store.documentByUri(uri);
  const same = before?.contentHash === contentHash ? before : await store.documentByHash(contentHash);
  return {
    pipeline: [PIPELINE, options.chunk.min, options.chunk.max, embedder?.id ?? "words"].join(" "),
    ...(before && { before }),
    ...(same && { same }),
  };
}

function fieldsOf({ metadata, contentHash, bytes, mime, pages, pageStarts, toc, warnings }: MadeDocument) {
  return { ...namesOf(metadata), contentHash, bytes, mime, pages, pageStarts, toc, warnings };
}

function namesOf({ title, author, year, language, edition, genre, work, origins }: Metadata) {
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

/**
 * Returns an unused source id: the file name, as in `how_to_make_our_ideas_clear`, followed by the start of the digest
 * if the name is in use.
 */
async function freeSourceId(path: string, contentHash: string, store: LibraryStore): Promise<string> {
  const words = plainWords(basename(path, extname(path))).replaceAll(" ", "_");
  const stem = firstChars(words, 80) || "document";
  return (await store.document(stem)) ? `${stem}_${contentHash.slice(0, 8)}` : stem;
}

async function embeddedPassages(
  { chunks, summaries, metadata: { language, title } }: MadeDocument,
  { embedder }: IngestParts,
): Promise<Passages> {
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

/** Maximum number of texts per call of the embedder, so that a long book does not block other work. */
const MAX_BATCH = 256;

/** Returns the vectors of passages. The section titles are embedded too: often only they name the subject. */
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
