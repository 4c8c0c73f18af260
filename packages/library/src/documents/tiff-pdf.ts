import { pdfOfImages, type PdfImage } from "./image-pdf.ts";
import type { TiffPage, TiffPart } from "./tiff.ts";

/** Photometric interpretations of TIFF. */
const WHITE_IS_ZERO = 0;
const PALETTE = 3;
const JPEG = 7;

/** Writes a PDF with one page per image. The compressed parts are copied. */
export function pdfOfTiff(pages: readonly TiffPage[]): Uint8Array {
  return pdfOfImages(
    pages.map((page) => ({
      width: page.width,
      height: page.height,
      turn: page.turn,
      images: page.parts.map((part) => imageOf(page, part)),
    })),
  );
}

function imageOf(page: TiffPage, part: TiffPart): PdfImage {
  const { x, width, height } = part;
  const isInverted = page.photometric === WHITE_IS_ZERO && page.compression !== JPEG && !isFax(page);
  return {
    x,
    // PDF counts from the bottom, TIFF from the top.
    y: page.height - part.y - height,
    width,
    height,
    entries:
      `/BitsPerComponent ${page.bits} /ColorSpace ${colorsOf(page)} ` +
      `${isInverted ? "/Decode [1 0] " : ""}${filterOf(page, part)}`,
    data: page.compression === JPEG ? withTables(part.data, page.jpegTables) : part.data,
  };
}

function colorsOf({ photometric, samples, palette }: TiffPage): string {
  if (photometric === PALETTE && palette)
    return `[/Indexed /DeviceRGB ${palette.length / 3 - 1} <${palette.toString("hex")}>]`;
  return samples === 1 ? "/DeviceGray" : samples === 4 ? "/DeviceCMYK" : "/DeviceRGB";
}

function isFax({ compression }: TiffPage): boolean {
  return compression >= 2 && compression <= 4;
}

/** Returns the filter of a compression. PDF 32000-1, 7.4. */
function filterOf(page: TiffPage, part: TiffPart): string {
  const { compression, isDifference, samples, bits } = page;
  if (isFax(page)) return faxFilterOf(page, part);
  const filter = FILTERS[compression] ?? "";
  const hasPredictor = isDifference && WITH_PREDICTOR.has(filter);
  const parameters = `<< /Predictor 2 /Colors ${samples} /BitsPerComponent ${bits} /Columns ${part.width} >>`;
  return `${filter && `/Filter /${filter} `}${hasPredictor ? `/DecodeParms ${parameters} ` : ""}`;
}

const FILTERS: Readonly<Record<number, string>> = {
  5: "LZWDecode",
  [JPEG]: "DCTDecode",
  8: "FlateDecode",
  32_773: "RunLengthDecode",
  32_946: "FlateDecode",
};
const WITH_PREDICTOR: ReadonlySet<string> = new Set(["LZWDecode", "FlateDecode"]);

function faxFilterOf({ compression, groupOptions, photometric }: TiffPage, { width, height }: TiffPart): string {
  const isMixed = compression === 3 && (groupOptions & 1) === 1;
  const k = compression === 4 ? -1 : Number(isMixed);
  const isAligned = compression === 2 || (compression === 3 && (groupOptions & 4) === 4);
  // A decoded bit of 1 is white, unless `BlackIs1`. In TIFF, 0 is usually white.
  const isBlackOne = photometric !== WHITE_IS_ZERO;
  return (
    `/Filter /CCITTFaxDecode /DecodeParms << /K ${k} /Columns ${width} /Rows ${height} ` +
    `/EncodedByteAlign ${isAligned} /BlackIs1 ${isBlackOne} /EndOfBlock false >> `
  );
}

/** Puts the shared tables, without their end marker, between the start marker and the rest of a JPEG. */
function withTables(data: Buffer, tables: Buffer | undefined): Buffer {
  return tables ? Buffer.concat([tables.subarray(0, -2), data.subarray(2)]) : data;
}
