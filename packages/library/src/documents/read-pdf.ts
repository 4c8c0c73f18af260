import type { Block, FoundMetadata, Reader, ReaderOptions } from "./block.ts";
import { ocrAdvice, type OcrChoice } from "./ocr/ocr.ts";
import { DocumentError } from "./document-error.ts";
import { pageReaderOf } from "./ocr/page-reader.ts";
import { PdfFile, pictureOf, type Outline, type Pdf } from "./pdf-file.ts";
import { repairPages } from "./pdf-findings.ts";
import { layOutPages } from "./pdf-layout.ts";
import { readTexts } from "./pdf-texts.ts";

/** Reads a PDF: its text, and with OCR the text of its images. */
export const readPdf: Reader = async (bytes, options) => {
  const { signal, maxPages, onPage } = options;
  const file = await PdfFile.open(bytes);
  const pdf = file.texts;
  try {
    if (pdf.numPages > maxPages)
      throw new DocumentError(
        "PDF_PROCESSING_ERROR",
        `It has ${pdf.numPages} pages, and at most ${maxPages} are read (\`max_pages\`). Split it, or raise the limit.`,
        "too_many_pages",
      );
    const pages = await readTexts(file, { signal, onPage });
    const scans = pages.flatMap((page, at) => (page.isScan ? [at + 1] : []));
    const seen = await readPictures(file, scans, options);
    expectText(scans, pages.length, { seen, ocr: options.ocr });
    const outline = titlesOf((await pdf.getOutline().catch(() => null)) ?? []);
    const labels = (await pdf.getPageLabels().catch(() => null)) ?? undefined;
    const repaired = repairPages(pages);
    const written = repaired.pages.map((page, at) => (seen?.blocks.has(at + 1) ? { ...page, texts: [] } : page));
    const blocks = withSeen(layOutPages(written, outline), seen?.blocks);
    return {
      blocks,
      pages: pdf.numPages,
      ...(labels && { labels }),
      metadata: [["PDF", await metadataOf(pdf)], titleByHeading(blocks)],
      warnings: [
        ...(seen ? packed(seen.unread) : leftOut(scans, options.ocr)),
        ...badlyRead(blocks, pages.length),
        ...repaired.findings.map(({ message, pages: found }) => `${message}: ${found.slice(0, MAX_NAMED).join(", ")}.`),
      ],
      ...(seen && { ocrPages: seen.count }),
    };
  } finally {
    await file.close();
  }
};

interface ReadPages {
  /** Blocks of the pages on which OCR found text, and of all scans. */
  readonly blocks: ReadonlyMap<number, readonly Block[]>;
  /** Page numbers of scans with an image that cannot be decoded. */
  readonly unread: readonly number[];
  /** Number of pages that were read. */
  readonly count: number;
}

/** Minimum share of a page that a scan covers. Smaller images are illustrations. */
const MIN_SHARE = 0.5;

/** Reads page images with OCR. Returns undefined if OCR is off. */
async function readPictures(
  file: PdfFile,
  scans: readonly number[],
  options: ReaderOptions,
): Promise<ReadPages | undefined> {
  const reader = pageReaderOf(options);
  const all = Array.from({ length: file.texts.numPages }, (_, at) => at + 1);
  const pages = options.ocr?.when === "force" ? all : scans;
  if (!reader || pages.length === 0) return undefined;
  const pdf = await file.pictures();
  const isScan = new Set(scans);
  const without = new Set<number>();
  const found = await reader.read(pages, async (page) => {
    const picture = await pictureOf(pdf, page);
    if (picture && (isScan.has(page) || picture.share >= MIN_SHARE)) return picture;
    without.add(page);
    return undefined;
  });
  const own = pages.map((page, at) => [page, found[at] ?? []] as const);
  return {
    // A page keeps its own text if OCR found none in its image.
    blocks: new Map(own.filter(([page, blocks]) => isScan.has(page) || blocks.length > 0)),
    unread: scans.filter((page) => without.has(page)),
    count: pages.length - without.size,
  };
}

/** Merges text read by OCR with the text of the other pages, in page order. */
function withSeen(blocks: readonly Block[], seen: ReadPages["blocks"] | undefined): readonly Block[] {
  if (!seen) return blocks;
  return [...blocks, ...Array.from(seen.values()).flat()].toSorted((one, other) => one.page! - other.page!);
}

/** Maximum number of pages that a message lists. */
const MAX_NAMED = 20;

interface OcrAttempt {
  readonly seen: ReadPages | undefined;
  readonly ocr: OcrChoice | undefined;
}

/** Throws if every page is an image and OCR read no page. */
function expectText(scans: readonly number[], pages: number, { seen, ocr }: OcrAttempt): void {
  if (scans.length < pages || (seen && seen.unread.length < pages)) return;
  const message = seen
    ? "Its pages are images in a format that local OCR does not support, such as JBIG2 or JPEG 2000. Set `ocr` " +
      "to mistral, or " +
      "add a text layer with an OCR program."
    : `Its pages are images without text. ${ocrAdvice(ocr)}, or add a text layer with an OCR program.`;
  throw new DocumentError("PDF_PROCESSING_ERROR", message, "needs_ocr");
}

function packed(unread: readonly number[]): string[] {
  if (unread.length === 0) return [];
  const named = unread.slice(0, MAX_NAMED).join(", ");
  return [
    `Pages with images in a format that local OCR does not support, such as JBIG2 or JPEG 2000, were left out: ` +
      `${named}.`,
  ];
}

function leftOut(scans: readonly number[], ocr: OcrChoice | undefined): string[] {
  if (scans.length === 0) return [];
  return [
    `Pages without text, which need OCR, were left out: ${scans.slice(0, MAX_NAMED).join(", ")}.`,
    ...(ocr?.lacksKey ? [`${ocrAdvice(ocr)}.`] : []),
  ];
}

function badlyRead(blocks: readonly Block[], pages: number): string[] {
  const garbled = garbledPages(blocks, pages);
  if (garbled.length === 0) return [];
  return [
    `Pages with text that seems to come from a bad OCR: ${garbled.slice(0, MAX_NAMED).join(", ")}. ` +
      "Add the file again with `ocr` force, if OCR is configured.",
  ];
}

/** Minimum number of words for a judgement about a page's text. */
const MIN_WORDS = 20;
const MAX_BROKEN = 0.3;
/** A word that indicates bad OCR: a single letter, or a character without a meaning. */
const BROKEN = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$|[\p{Co}\ufffd]/u;

/** Returns the pages, from 1, on which too many words are broken. */
function garbledPages(blocks: readonly Block[], pages: number): number[] {
  const counts = Array.from({ length: pages }, () => ({ words: 0, broken: 0 }));
  for (const { text, page = 0 } of blocks) {
    const words = text.split(/\s+/);
    const own = counts[page - 1];
    if (!own) continue;
    own.words += words.length;
    own.broken += words.filter((word) => BROKEN.test(word)).length;
  }
  return counts.flatMap(({ words, broken }, at) => (words >= MIN_WORDS && broken / words > MAX_BROKEN ? [at + 1] : []));
}

function titlesOf(items: readonly Outline[], level = 1): Map<string, number> {
  const titles = new Map<string, number>();
  for (const { title, items: below } of items) {
    titles.set(title.replaceAll(/\s+/g, " ").trim().toLowerCase(), level);
    for (const [one, deeper] of titlesOf(below, level + 1)) titles.set(one, deeper);
  }
  return titles;
}

/** Titles that programs insert by default. */
const JUNK_TITLE = /^(microsoft (word|powerpoint)|untitled|document\d*$|.*\.(docx?|pdf|tex|indd|rtf|odt)$)/i;

async function metadataOf(pdf: Pdf): Promise<FoundMetadata> {
  const { info = {}, metadata } = await pdf.getMetadata().catch(() => ({ info: {}, metadata: null }));
  const text = (value: unknown): string | undefined =>
    typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  const title = text(metadata?.get("dc:title")) ?? text(info["Title"]);
  const author = text(metadata?.get("dc:creator")) ?? text(info["Author"]);
  const language = text(metadata?.get("dc:language")) ?? text(info["Language"]);
  return {
    ...(title !== undefined && !JUNK_TITLE.test(title) && { title }),
    ...(author !== undefined && { author }),
    ...(language !== undefined && { language }),
  };
}

/** Returns the title: the largest heading of the first page. */
function titleByHeading(blocks: readonly Block[]): readonly [string, FoundMetadata] {
  const title = blocks.find(({ kind, level, page }) => kind === "heading" && level === 1 && page === 1)?.text;
  return ["first heading", title === undefined ? {} : { title }];
}
