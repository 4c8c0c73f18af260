import { createHash } from "node:crypto";
import { assemble, pagesOf, type AssembledDocument } from "../documents/assemble.ts";
import type { PageReader, Reader } from "../documents/block.ts";
import { chunksOf } from "../documents/chunker.ts";
import { DocumentError } from "../documents/document-error.ts";
import { formatOf } from "../documents/formats.ts";
import { readWhole } from "../documents/open-file.ts";
import { mergeMetadata, type Metadata } from "../documents/metadata.ts";
import { visibleLine } from "../documents/visible-text.ts";
import { summariesOf } from "../documents/summary.ts";
import { passageTerms } from "../search/passage-terms.ts";
import { Terms } from "../search/terms.ts";
import type { PassageFields } from "../store/store.ts";
import type { MadeDocument, ReadRequest } from "./messages.ts";

export interface MakingHooks {
  readonly signal: AbortSignal;
  /** Reports progress: number of pages done and total number; 0 of 0 when another step begins. */
  onStep(done: number, total: number): void;
  /** Returns the OCR reader, if there is one. */
  pageReader(file: { readonly mime: string; readonly contentHash: string }): PageReader | undefined;
}

/** Maximum length of a warning, in characters: enough for the names of twenty missing chapters. */
const MAX_WARNING = 2_000;
const terms = new Terms();

/** Processes a file: extracts its text, metadata, passages and summaries. Rejects with a `DocumentError`. */
export async function makeDocument(request: ReadRequest, hooks: MakingHooks): Promise<MadeDocument> {
  const { path, name = path, maxPages, maxFileBytes: most, isReal } = request;
  const bytes = await readWhole(path, { most, isReal });
  const contentHash = createHash("sha256").update(bytes).digest("hex");
  const format = formatOf(name, bytes, request.mime);
  const reader: Reader = await format.load();
  const ocr = hooks.pageReader({ mime: format.mime, contentHash });
  const read = await reader(bytes, {
    signal: hooks.signal,
    maxPages,
    onPage: (done, total) => hooks.onStep(done, total),
    ocr: request.ocr,
    ...(request.metadata?.language !== undefined && { language: request.metadata.language }),
    ...(ocr && { pageReader: ocr }),
  });
  hooks.onStep(0, 0);
  const assembled = assemble(read);
  if (assembled.parts.length === 0) throw new DocumentError("VALIDATION_ERROR", "It contains no text.", "no_text");
  const found = [...(request.metadata ? [["caller", request.metadata] as const] : []), ...read.metadata];
  const metadata = mergeMetadata(found, { path: name, text: assembled.text });
  const { text, pageStarts, toc } = assembled;
  return {
    contentHash,
    bytes: bytes.length,
    mime: format.mime,
    metadata,
    pages: read.pages,
    pageStarts,
    toc,
    warnings: read.warnings.map((warning) => visibleLine(warning, MAX_WARNING)),
    text,
    ...(await passagesOf(assembled, metadata, { request, onStep: () => hooks.onStep(0, 0) })),
    ocrPages: read.ocrPages ?? 0,
  };
}

interface SectionRange {
  readonly section: readonly string[];
  readonly from: number;
  readonly to: number;
}

async function passagesOf(
  assembled: AssembledDocument,
  { language, title, author }: Metadata,
  { request, onStep }: { readonly request: ReadRequest; readonly onStep: () => void },
): Promise<Pick<MadeDocument, "chunks" | "summaries">> {
  if (language !== undefined) await terms.load([language]);
  const { text, pageStarts } = assembled;
  const passage = ({ section, from, to }: SectionRange, ordinal: number, own = text.slice(from, to)): PassageFields => {
    const indexed = passageTerms({ author, title, section, text: own }, { terms, language });
    const pages = pagesOf(pageStarts, from, to);
    const place = { ordinal, section, from, to, ...(pages && { pages }) };
    return { ...place, text: own, ...indexed, level: 0 };
  };
  const chunks = chunksOf(assembled, request.chunk, language).map((piece, ordinal) => passage(piece, ordinal));
  onStep();
  const summaries = summariesOf(assembled, { terms, language, title }).map((summary, ordinal) => ({
    ...passage(summary, ordinal, summary.text),
    level: summary.level,
    concepts: summary.concepts,
  }));
  return { chunks, summaries };
}
