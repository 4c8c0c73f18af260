import type { Block, FoundMetadata, Reader, ReaderOptions } from "./block.ts";
import { DocumentError } from "./document-error.ts";
import type { PagePicture } from "./ocr/ocr.ts";
import { pageReaderOf } from "./ocr/page-reader.ts";
import { layOutPages, type PageLines } from "./pdf-layout.ts";

/** A page with fewer signs and a picture is a scan. */
const MIN_SIGNS = 20;

interface PdfPage {
  getTextContent(options?: object): Promise<{ readonly items: readonly object[] }>;
  getViewport(options: { scale: number }): { readonly width: number; readonly height: number };
  getOperatorList(): Promise<{ readonly fnArray: readonly number[] }>;
  cleanup(): void;
}
interface Outline {
  readonly title: string;
  readonly items: readonly Outline[];
}
export interface Pdf {
  readonly numPages: number;
  getPage(number: number): Promise<PdfPage>;
  getPageLabels(): Promise<readonly string[] | null>;
  getMetadata(): Promise<{ readonly info?: Readonly<Record<string, unknown>>; readonly metadata?: Xmp | null }>;
  getOutline(): Promise<readonly Outline[] | null>;
  destroy(): Promise<void>;
}
interface Xmp {
  get(name: string): unknown;
}

/** PDF: its text, and where OCR is wanted what stands on its pictures. */
export const readPdf: Reader = async (bytes, options) => {
  const { signal, maxPages, onPage } = options;
  const pdf = await openPdf(bytes);
  try {
    if (pdf.numPages > maxPages)
      throw new DocumentError(
        "PDF_PROCESSING_ERROR",
        `It has ${pdf.numPages} pages, and at most ${maxPages} are read (\`max_pages\`). Split it, or raise the bound.`,
        "too_many_pages",
      );
    const pages: PageLines[] = [];
    for (let number = 1; number <= pdf.numPages; number += 1) {
      signal.throwIfAborted();
      pages.push(await readPage(await pdf.getPage(number)));
      onPage?.(number, pdf.numPages);
    }
    const scans = pages.flatMap((page, at) => (page.isScan ? [at + 1] : []));
    const seen = await readPictures(pdf, scans, options);
    if (scans.length === pages.length && !seen)
      throw new DocumentError(
        "PDF_PROCESSING_ERROR",
        "Its pages are pictures without text. Set `ocr` to local or mistral, or have them read by a program for OCR.",
        "needs_ocr",
      );
    const outline = titlesOf((await pdf.getOutline().catch(() => null)) ?? []);
    const labels = (await pdf.getPageLabels().catch(() => null)) ?? undefined;
    const blocks = withSeen(layOutPages(pages, outline), seen);
    return {
      blocks,
      pages: pdf.numPages,
      ...(labels && { labels }),
      metadata: [["PDF", await metadataOf(pdf)], titleByHeading(blocks)],
      warnings: [...(seen ? [] : leftOut(scans)), ...badlyRead(blocks, pages.length)],
      ...(seen && { ocrPages: seen.size }),
    };
  } finally {
    await pdf.destroy();
  }
};

/** Blocks of the pages that are read from their pictures; undefined where none is. */
async function readPictures(
  pdf: Pdf,
  scans: readonly number[],
  options: ReaderOptions,
): Promise<ReadonlyMap<number, readonly Block[]> | undefined> {
  const reader = pageReaderOf(options);
  const all = Array.from({ length: pdf.numPages }, (_, at) => at + 1);
  const pages = options.ocr?.when === "force" ? all : scans;
  if (!reader || pages.length === 0) return undefined;
  const blocks = await reader.read(pages, (page) => pictureOf(pdf, page));
  return new Map(pages.map((page, at) => [page, blocks[at] ?? []]));
}

/** In the order of the pages; what was seen takes the place of what was written. */
function withSeen(blocks: readonly Block[], seen: ReadonlyMap<number, readonly Block[]> | undefined): readonly Block[] {
  if (!seen) return blocks;
  const written = blocks.filter(({ page = 0 }) => !seen.has(page));
  return [...written, ...Array.from(seen.values()).flat()].toSorted((one, other) => one.page! - other.page!);
}

/** At most so many pages are named. */
const MAX_NAMED = 20;

function leftOut(scans: readonly number[]): string[] {
  if (scans.length === 0) return [];
  return [`Pages without text, which need OCR, were left out: ${scans.slice(0, MAX_NAMED).join(", ")}.`];
}

function badlyRead(blocks: readonly Block[], pages: number): string[] {
  const garbled = garbledPages(blocks, pages);
  if (garbled.length === 0) return [];
  return [
    `Pages whose text seems to come from a bad OCR: ${garbled.slice(0, MAX_NAMED).join(", ")}. ` +
      "Add the file again with `ocr` force, where pictures of text are read.",
  ];
}

/** Fewer words tell nothing. */
const MIN_WORDS = 20;
const MAX_BROKEN = 0.3;
/** A letter that stands alone, or a sign that has no meaning of its own. */
const BROKEN = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$|[\p{Co}\ufffd]/u;

/** Pages, from 1, in whose text too many words are none. */
function garbledPages(blocks: readonly Block[], pages: number): number[] {
  const texts = Array.from({ length: pages }, (): string[] => []);
  for (const { text, page = 0 } of blocks) texts[page - 1]?.push(...text.split(/\s+/));
  return texts.flatMap((words, at) => {
    const broken = words.filter((word) => BROKEN.test(word)).length;
    return words.length >= MIN_WORDS && broken / words.length > MAX_BROKEN ? [at + 1] : [];
  });
}

/** The largest picture of a page. */
export async function pictureOf(pdf: Pdf, page: number): Promise<PagePicture | undefined> {
  const { extractImages } = await import("unpdf");
  const images = await extractImages(pdf as unknown as Parameters<typeof extractImages>[0], page);
  const [largest] = images.toSorted((one, other) => other.width * other.height - one.width * one.height);
  if (!largest) return undefined;
  const { width, height, channels, data } = largest;
  const points = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let at = 0; at < width * height; at += 1)
    for (let part = 0; part < 3; part += 1)
      points[at * 4 + part] = data[at * channels + (channels === 1 ? 0 : part)] ?? 255;
  return { width, height, data: points };
}

export async function openPdf(bytes: Uint8Array): Promise<Pdf> {
  const { getDocumentProxy } = await import("unpdf");
  try {
    // The reader keeps the bytes for itself.
    return (await getDocumentProxy(new Uint8Array(bytes), {
      isEvalSupported: false,
      verbosity: 0,
    })) as unknown as Pdf;
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "PasswordException")
      throw new DocumentError(
        "PDF_PROCESSING_ERROR",
        "It is locked by a password. Take that off, and add the file again.",
        "password_required",
      );
    throw new DocumentError("PDF_PROCESSING_ERROR", `It is damaged, or no PDF at all: ${message}`, "damaged");
  }
}

async function readPage(page: PdfPage): Promise<PageLines> {
  const [{ items }, { width, height }] = [await page.getTextContent(), page.getViewport({ scale: 1 })];
  const texts = items.flatMap((item) => {
    const {
      str,
      transform,
      width: length,
      hasEOL,
    } = item as {
      readonly str?: string;
      readonly transform?: readonly number[];
      readonly width?: number;
      readonly hasEOL?: boolean;
    };
    if (str === undefined || transform === undefined) return [];
    return [
      {
        text: str,
        x: transform[4]!,
        y: height - transform[5]!,
        size: Math.hypot(transform[2]!, transform[3]!),
        width: length ?? 0,
        endsLine: hasEOL === true,
      },
    ];
  });
  const signs = texts.reduce((sum, { text }) => sum + text.trim().length, 0);
  const isScan = signs < MIN_SIGNS && (await hasPicture(page));
  page.cleanup();
  return { texts, width, height, isScan };
}

/** pdf.js numbers of the operators that paint pictures: of an object, inline, repeated, and masks. */
const PAINTS_PICTURE: ReadonlySet<number> = new Set([83, 84, 85, 86, 87, 88, 89, 90]);

async function hasPicture(page: PdfPage): Promise<boolean> {
  const { fnArray } = await page.getOperatorList();
  return fnArray.some((operator) => PAINTS_PICTURE.has(operator));
}

function titlesOf(items: readonly Outline[], level = 1): Map<string, number> {
  const titles = new Map<string, number>();
  for (const { title, items: below } of items) {
    titles.set(title.replaceAll(/\s+/g, " ").trim().toLowerCase(), level);
    for (const [one, deeper] of titlesOf(below, level + 1)) titles.set(one, deeper);
  }
  return titles;
}

/** Titles that programs write by themselves. */
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

/** The largest heading of the first page is the title. */
function titleByHeading(blocks: readonly Block[]): readonly [string, FoundMetadata] {
  const title = blocks.find(({ kind, level, page }) => kind === "heading" && level === 1 && page === 1)?.text;
  return ["first heading", title === undefined ? {} : { title }];
}
