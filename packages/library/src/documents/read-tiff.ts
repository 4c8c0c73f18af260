import type { Reader } from "./block.ts";
import { imageReaderOf } from "./ocr/page-reader.ts";
import { readPdf } from "./read-pdf.ts";
import { pagesOfTiff } from "./tiff.ts";
import { pdfOfTiff } from "./tiff-pdf.ts";

/**
 * Reads page images with OCR, one page per image of the file. The images are wrapped in a PDF as they are, because the
 * PDF reader decodes the same compressions.
 */
export const readTiff: Reader = async (bytes, options) => {
  const pageReader = imageReaderOf(options);
  const pages = pagesOfTiff(bytes, options.maxPages);
  return { ...(await readPdf(pdfOfTiff(pages), { ...options, pageReader })), metadata: [] };
};
