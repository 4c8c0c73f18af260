import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { inPlaceOf } from "toolyard/service/replace-file";
import { DocumentError } from "../documents/document-error.ts";
import type { DocumentFields, LibraryStore, PassageFields, WholeDocument } from "../store/store.ts";
import { sourceIdsOf } from "./documents.ts";

const FORMAT = "toolyard-library";
const VERSION = 1;

export interface ExportResult {
  readonly documents: number;
  readonly chunks: number;
  readonly summaries: number;
}

interface ExportHeader {
  readonly format: string;
  readonly version: number;
  /** Name of the model that made the vectors. */
  readonly embedder?: string;
}

/** The last line. It describes the lines above, so that a truncated file is not read as a complete one. */
interface Manifest extends ExportResult {
  readonly end: true;
  /** SHA-256 of the bytes above, in hexadecimal. */
  readonly sha256: string;
}

type WrittenPassage = Omit<PassageFields, "vector"> & {
  /** Vector of 32-bit floating-point numbers, little-endian, in base64. */
  readonly vector?: string;
};

interface ExportLine {
  readonly document: DocumentFields;
  readonly created?: string;
  readonly text: string;
  readonly chunks: readonly WrittenPassage[];
  readonly summaries: readonly WrittenPassage[];
}

export interface ExportOptions {
  readonly signal?: AbortSignal;
  readonly onDocument?: (done: number, total: number) => void;
}

/** Writes a library to one file of JSON lines. The file appears only when it is complete. */
export async function exportLibrary(
  store: LibraryStore,
  file: string,
  moving: ExportOptions = {},
): Promise<ExportResult> {
  const part = `${file}.part`;
  return inPlaceOf(file, part, async () => {
    const handle = await open(part, "w", 0o600);
    try {
      const counts = await writeLines(store, handle, moving);
      await handle.sync();
      return counts;
    } finally {
      await handle.close();
    }
  }).catch((error: unknown) => {
    throw fileFailure(file, "written", error);
  });
}

/** Converts an error of the file system into a `DocumentError`; returns any other error unchanged. */
function fileFailure(file: string, what: "written" | "read", error: unknown): unknown {
  if (typeof (error as NodeJS.ErrnoException).syscall !== "string") return error;
  const advice =
    what === "read" ? "Name a file that `toolyard library export` wrote." : "Check its folder and the free disk space.";
  const told = new DocumentError(
    "VALIDATION_ERROR",
    `${file} cannot be ${what}: ${(error as Error).message}. ${advice}`,
  );
  told.cause = error;
  return told;
}

async function writeLines(store: LibraryStore, handle: FileHandle, moving: ExportOptions): Promise<ExportResult> {
  const hash = createHash("sha256");
  const write = async (value: object): Promise<void> => {
    const line = `${JSON.stringify(value)}\n`;
    hash.update(line);
    await handle.writeFile(line);
  };
  const embedder = await store.embedder();
  await write({ format: FORMAT, version: VERSION, ...(embedder !== undefined && { embedder }) } satisfies ExportHeader);
  const ids = await sourceIdsOf(store);
  let [chunks, summaries, documents] = [0, 0, 0];
  for (const [at, id] of ids.entries()) {
    moving.signal?.throwIfAborted();
    // A document that was removed meanwhile is not exported.
    const whole = await store.whole(id);
    if (whole) {
      await write(lineOf(whole));
      documents += 1;
      chunks += whole.passages.chunks.length;
      summaries += whole.passages.summaries.length;
    }
    moving.onDocument?.(at + 1, ids.length);
  }
  const counts = { documents, chunks, summaries };
  await write({ end: true, ...counts, sha256: hash.copy().digest("hex") } satisfies Manifest);
  return counts;
}

function lineOf({ document, text, passages: { chunks, summaries, created } }: WholeDocument): ExportLine {
  return {
    document,
    ...(created !== undefined && { created }),
    text,
    chunks: chunks.map(writtenPassage),
    summaries: summaries.map(writtenPassage),
  };
}

function writtenPassage({ vector, ...passage }: PassageFields): WrittenPassage {
  if (!vector) return passage;
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((number, at) => bytes.writeFloatLE(number, at * 4));
  return { ...passage, vector: bytes.toString("base64") };
}

function readPassage({ vector, ...passage }: WrittenPassage): PassageFields {
  if (vector === undefined) return passage;
  const bytes = Buffer.from(vector, "base64");
  return { ...passage, vector: Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4)) };
}

/**
 * Imports a file that `exportLibrary` wrote, each document as a whole. The file is checked first; nothing is imported
 * from an incomplete file. Rejects with `VALIDATION_ERROR`, or with `INDEX_MISMATCH` if the vectors are from another
 * embedder than those of the library.
 */
export async function importLibrary(
  store: LibraryStore,
  file: string,
  moving: ExportOptions = {},
): Promise<ExportResult> {
  const { head, manifest } = await readThrough(file);
  const own = await store.embedder();
  if (head.embedder !== undefined && own !== undefined && head.embedder !== own)
    throw new DocumentError(
      "INDEX_MISMATCH",
      `The vectors in ${file} are from the embedder ${head.embedder}, those of the library from ${own}. ` +
        "Import it into an empty library, or run `toolyard library reindex` there first.",
    );
  let documents = 0;
  for await (const line of linesOf(file)) {
    const value = JSON.parse(line) as ExportLine | ExportHeader | Manifest;
    if (!("document" in value)) continue;
    moving.signal?.throwIfAborted();
    const { document, text, chunks, summaries, created } = value;
    await store.replaceDocument(document, text, {
      chunks: chunks.map(readPassage),
      summaries: summaries.map(readPassage),
      ...(created !== undefined && { created }),
      ...(head.embedder !== undefined && { embedder: head.embedder }),
    });
    documents += 1;
    moving.onDocument?.(documents, manifest.documents);
  }
  return { documents, chunks: manifest.chunks, summaries: manifest.summaries };
}

async function readThrough(file: string): Promise<{ readonly head: ExportHeader; readonly manifest: Manifest }> {
  const hash = createHash("sha256");
  let head: ExportHeader | undefined;
  let manifest: Manifest | undefined;
  for await (const line of linesOf(file)) {
    if (manifest) throw invalid(file, "it continues after its end");
    const value = parsed(file, line);
    if (!head) head = headOf(file, value);
    else if (value["end"] === true) manifest = manifestOf(file, value, hash);
    else if (!isDocument(value)) throw invalid(file, "a line is not a document");
    hash.update(`${line}\n`);
  }
  if (!head || !manifest) throw invalid(file, "it is truncated");
  return { head, manifest };
}

function headOf(file: string, { format, version, embedder }: Readonly<Record<string, unknown>>): ExportHeader {
  if (format !== FORMAT) throw invalid(file, "its first line is not that of an export");
  if (version !== VERSION)
    throw invalid(file, `it has version ${String(version)}, and this program reads version ${VERSION}`);
  return { format: FORMAT, version: VERSION, ...(typeof embedder === "string" && { embedder }) };
}

function manifestOf(file: string, value: Readonly<Record<string, unknown>>, hash: Hash): Manifest {
  if (value["sha256"] === hash.copy().digest("hex")) return value as unknown as Manifest;
  throw invalid(file, "its digest does not match: it was changed");
}

function isDocument({ document, text, chunks, summaries }: Readonly<Record<string, unknown>>): boolean {
  const isObject = typeof document === "object" && document !== null && "sourceId" in document;
  return isObject && typeof text === "string" && Array.isArray(chunks) && Array.isArray(summaries);
}

function parsed(file: string, line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // The error is thrown below.
  }
  throw invalid(file, "a line is not JSON");
}

function invalid(file: string, why: string): DocumentError {
  return new DocumentError(
    "VALIDATION_ERROR",
    `${file} is not a valid export of a library: ${why}. Nothing was imported. Export it again: toolyard ` +
      "library export FILE",
  );
}

async function* piecesOf(file: string): AsyncGenerator<string> {
  try {
    for await (const piece of createReadStream(file, { encoding: "utf8", highWaterMark: 1_048_576 }))
      yield String(piece);
  } catch (error) {
    throw fileFailure(file, "read", error);
  }
}

/** Splits at line feeds only: texts contain other line separators. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest: string[] = [];
  for await (const chunk of piecesOf(file)) {
    const [first = "", ...others] = chunk.split("\n");
    rest.push(first);
    for (const next of others) {
      yield rest.join("");
      rest = [next];
    }
  }
  if (rest.some((part) => part !== "")) yield rest.join("");
}
