import type { Reader } from "./block.ts";
import { DocumentError } from "./document-error.ts";
import { pdfOfImages } from "./image-pdf.ts";
import { decodePng } from "./ocr/png.ts";
import { imageReaderOf } from "./ocr/page-reader.ts";
import { MAX_PIXELS, type PagePicture } from "./ocr/ocr.ts";
import { openPdf, pictureOf } from "./pdf-file.ts";

/** Reads a page image (PNG or JPEG) as one page, with OCR. */
export const readImage: Reader = async (bytes, options) => {
  const reader = imageReaderOf(options);
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
  // Programs of Adobe, and compatible ones, store CMYK values inverted.
  const decode = parts === 4 && isAdobe ? "/Decode [1 0 1 0 1 0 1 0] " : "";
  const entries = `/ColorSpace /${space} ${decode}/BitsPerComponent 8 /Filter /DCTDecode`;
  return pdfOfImages([{ width, height, turn, images: [{ x: 0, y: 0, width, height, entries, data: jpeg }] }]);
}

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
