import type { Reader } from "./block.ts";
import { DocumentError } from "./document-error.ts";
import { decodePng } from "./ocr/png.ts";
import { pageReaderOf } from "./ocr/page-reader.ts";
import { ocrAdvice, type PagePicture } from "./ocr/ocr.ts";
import { openPdf, pictureOf } from "./read-pdf.ts";

/** Reads a page image (PNG or JPEG) as one page, with OCR. */
export const readImage: Reader = async (bytes, options) => {
  const reader = pageReaderOf(options);
  if (!reader)
    throw new DocumentError(
      "OCR_UNAVAILABLE",
      `It is an image, and OCR is off. ${ocrAdvice(options.ocr)}.`,
      "needs_ocr",
    );
  const [blocks = []] = await reader.read([1], () => picture(bytes));
  options.onPage?.(1, 1);
  return { blocks, pages: 1, metadata: [], warnings: [], ocrPages: 1 };
};

async function picture(bytes: Uint8Array): Promise<PagePicture | undefined> {
  if (bytes[0] === 0x89) return decodePng(bytes);
  const pdf = await openPdf(pdfAround(bytes));
  try {
    return await pictureOf(pdf, 1);
  } finally {
    await pdf.destroy();
  }
}

/** Wraps a JPEG in a PDF with this single image, because the PDF reader can decode JPEG. */
function pdfAround(jpeg: Uint8Array): Uint8Array {
  const { width, height, parts, isAdobe, turn } = headOf(jpeg);
  const space = parts === 1 ? "DeviceGray" : parts === 4 ? "DeviceCMYK" : "DeviceRGB";
  const paint = `q ${width} 0 0 ${height} 0 0 cm /I Do Q`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${turn} /Contents 4 0 R ` +
      "/Resources << /XObject << /I 5 0 R >> >> >>",
    `<< /Length ${paint.length} >>\nstream\n${paint}\nendstream`,
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
  const head =
    `5 0 obj\n<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /${space} ` +
    // Programs of Adobe, and compatible ones, store CMYK values inverted.
    (parts === 4 && isAdobe ? "/Decode [1 0 1 0 1 0 1 0] " : "") +
    `/BitsPerComponent 8 /Filter /DCTDecode /Length ${jpeg.length} >>\nstream\n`;
  return Buffer.concat([
    Buffer.from(`%PDF-1.7\n${objects.join("")}${head}`, "latin1"),
    jpeg,
    Buffer.from("\nendstream\nendobj\ntrailer << /Size 6 /Root 1 0 R >>\n%%EOF", "latin1"),
  ]);
}

const MAX_PIXELS = 60_000_000;

interface JpegHead {
  readonly width: number;
  readonly height: number;
  /** Number of colour components of a pixel. */
  readonly parts: number;
  readonly isAdobe: boolean;
  /** Clockwise rotation of the image, in degrees. */
  readonly turn: number;
}

/**
 * Reads width, height and orientation. ITU T.81, B.2.2: the frame header has the size; an Exif segment before it has
 * the orientation.
 */
function headOf(jpeg: Uint8Array): JpegHead {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  let [isAdobe, turn] = [false, 0];
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1]!;
    const own = bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2));
    if (marker === 0xee) isAdobe ||= own.toString("latin1", 0, 5) === "Adobe";
    if (marker === 0xe1) turn ||= turnOf(own);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (!isFrame) continue;
    const [height, width, parts] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7), bytes[at + 9]!];
    if (width * height > MAX_PIXELS)
      throw new DocumentError("TOO_LARGE", `The image has more than ${MAX_PIXELS} pixels.`);
    return { width, height, parts, isAdobe, turn };
  }
  throw new DocumentError("VALIDATION_ERROR", "The image is damaged.", "damaged");
}

const TURNS: Readonly<Record<number, number>> = { 3: 180, 6: 90, 8: 270 };
const ORIENTATION = 0x0112;

/** Returns the orientation of an Exif segment. Exif 2.32, 4.6.4. */
function turnOf(exif: Buffer): number {
  if (exif.toString("latin1", 0, 6) !== "Exif\0\0" || exif.length < 16) return 0;
  const tiff = exif.subarray(6);
  const isSmallFirst = tiff.toString("latin1", 0, 2) === "II";
  const short = (at: number): number =>
    at + 2 > tiff.length ? 0 : isSmallFirst ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at);
  const start = isSmallFirst ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  for (let entry = 0; entry < short(start); entry += 1) {
    const at = start + 2 + entry * 12;
    if (short(at) === ORIENTATION) return TURNS[short(at + 8)] ?? 0;
  }
  return 0;
}
