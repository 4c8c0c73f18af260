import type { PageReader, ReaderOptions } from "../block.ts";
import { DocumentError } from "../document-error.ts";
import { ocrAdvice } from "./ocr.ts";
import { localPageReader } from "./tesseract.ts";

/** Returns the reader of page pictures, or undefined if OCR is off. */
export function pageReaderOf({ ocr, pageReader, language, onPage }: ReaderOptions): PageReader | undefined {
  if (!ocr || ocr.by === "off") return undefined;
  return pageReader ?? localPageReader(ocr, language, (done, total) => onPage?.(done, total));
}

/** Returns the reader of page pictures for a file that is an image. Throws `OCR_UNAVAILABLE` if OCR is off. */
export function imageReaderOf(options: ReaderOptions): PageReader {
  const reader = pageReaderOf(options);
  if (reader) return reader;
  throw new DocumentError("OCR_UNAVAILABLE", `It is an image, and OCR is off. ${ocrAdvice(options.ocr)}.`, "needs_ocr");
}
