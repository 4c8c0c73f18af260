import type { PageReader, ReaderOptions } from "../block.ts";
import { localPageReader } from "./tesseract.ts";

/** Returns the reader of page pictures, or undefined if OCR is off. */
export function pageReaderOf({ ocr, pageReader, language, onPage }: ReaderOptions): PageReader | undefined {
  if (!ocr || ocr.by === "off") return undefined;
  return pageReader ?? localPageReader(ocr, language, (done, total) => onPage?.(done, total));
}
