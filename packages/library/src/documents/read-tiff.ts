import type { Reader } from "./block.ts";
import { DocumentError } from "./document-error.ts";
import { ocrAdvice } from "./ocr/ocr.ts";
import { pageReaderOf } from "./ocr/page-reader.ts";
import { readPdf } from "./read-pdf.ts";
import { pagesOfTiff } from "./tiff.ts";
import { pdfOfTiff } from "./tiff-pdf.ts";

/**
 * Reads page images with OCR, one page per image of the file. The images are wrapped in a PDF as they are, because the
 * PDF reader decodes the same compressions.
 */
export const readTiff: Reader = async (bytes, options) => {
  if (!pageReaderOf(options))
    throw new DocumentError(
      "OCR_UNAVAILABLE",
      `It is an image, and OCR is off. ${ocrAdvice(options.ocr)}.`,
      "needs_ocr",
    );
  const pages = pagesOfTiff(bytes, options.maxPages);
  return { ...(await readPdf(pdfOfTiff(pages), options)), metadata: [] };
};
