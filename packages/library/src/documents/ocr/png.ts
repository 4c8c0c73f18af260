import { inflateSync } from "node:zlib";
import { DocumentError } from "../document-error.ts";
import { MAX_PIXELS, type PagePicture } from "./ocr.ts";

const SIGNATURE = 8;
/** Number of samples of a pixel, by PNG colour type. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

interface PngHeader {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly kind: number;
}

/** Decodes a PNG into pixels, with transparent parts on white. Throws a `DocumentError`. */
export function decodePng(bytes: Uint8Array): PagePicture {
  try {
    return decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    throw new DocumentError("VALIDATION_ERROR", "The image is damaged.", "damaged");
  }
}

function decode(bytes: Buffer): PagePicture {
  const packed: Buffer[] = [];
  let head: PngHeader | undefined;
  let palette = Buffer.alloc(0);
  let clear = Buffer.alloc(0);
  for (let at = SIGNATURE; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    const content = bytes.subarray(at + 8, at + 8 + length);
    if (name === "IHDR") head = headOf(content);
    else if (name === "PLTE") palette = Buffer.from(content);
    else if (name === "tRNS") clear = Buffer.from(content);
    else if (name === "IDAT") packed.push(content);
    else if (name === "IEND") break;
    at += 12 + length;
  }
  if (!head) throw new RangeError("no head");
  const { width, height, depth, kind } = head;
  const rowBytes = Math.ceil((width * depth * SAMPLES[kind]!) / 8);
  const rows = inflateSync(Buffer.concat(packed), { maxOutputLength: (rowBytes + 1) * height });
  unfilter(rows, rowBytes, Math.max(1, (depth * SAMPLES[kind]!) >> 3));
  return { width, height, data: painted(rows, head, { palette, clear, rowBytes }) };
}

function headOf(content: Buffer): PngHeader {
  const [width, height] = [content.readUInt32BE(0), content.readUInt32BE(4)];
  const [depth, kind, isInterlaced] = [content[8]!, content[9]!, content[12] !== 0];
  if (width * height > MAX_PIXELS)
    throw new DocumentError("TOO_LARGE", `The image has more than ${MAX_PIXELS} pixels.`);
  if (isInterlaced || SAMPLES[kind] === undefined || ![1, 2, 4, 8, 16].includes(depth))
    throw new DocumentError(
      "VALIDATION_ERROR",
      "This kind of PNG, such as an interlaced one, is not supported. Save it without interlacing.",
    );
  return { width, height, depth, kind };
}

/** PNG, section 9: each row names the filter that predicts it from the pixels to the left and above. */
function unfilter(rows: Buffer, rowBytes: number, step: number): void {
  for (let start = 0; start + rowBytes < rows.length; start += rowBytes + 1) {
    const filter = rows[start]!;
    for (let at = start + 1; at <= start + rowBytes; at += 1) {
      const before = at - start > step ? rows[at - step]! : 0;
      const above = start > 0 ? rows[at - rowBytes - 1]! : 0;
      const corner = start > 0 && at - start > step ? rows[at - rowBytes - 1 - step]! : 0;
      const guess = [0, before, above, (before + above) >> 1, paeth(before, above, corner)][filter] ?? 0;
      rows[at] = (rows[at]! + guess) & 0xff;
    }
  }
}

function paeth(before: number, above: number, corner: number): number {
  const guess = before + above - corner;
  const [left, up, both] = [before, above, corner].map((value) => Math.abs(guess - value)) as [number, number, number];
  if (left <= up && left <= both) return before;
  return up <= both ? above : corner;
}

interface PngPalette {
  readonly palette: Buffer;
  /** Opacity of each palette entry. Entries beyond its end are opaque. */
  readonly clear: Buffer;
  readonly rowBytes: number;
}

function painted(rows: Buffer, { width, height, depth, kind }: PngHeader, { palette, clear, rowBytes }: PngPalette) {
  const data = new Uint8ClampedArray(width * height * 4);
  const samples = SAMPLES[kind]!;
  const most = 2 ** Math.min(depth, 8) - 1;
  const sample = (row: number, place: number): number => {
    if (depth >= 8) return rows[row + (place * depth) / 8]!;
    const bit = place * depth;
    return (rows[row + (bit >> 3)]! >> (8 - depth - (bit & 7))) & most;
  };
  const exact = (row: number, place: number): number =>
    depth === 16 ? rows.readUInt16BE(row + place * 2) : sample(row, place);
  // PNG, section 11.3.1.1: one transparent colour in samples of 16 bits, or the opacity of each palette entry.
  const clearColor = clearSamples(clear, kind);
  const opacityOf = (row: number, x: number): number => {
    if (kind === 3) return clear[sample(row, x)] ?? 255;
    const isClear = clearColor.length > 0 && clearColor.every((one, at) => one === exact(row, x * samples + at));
    return isClear ? 0 : 255;
  };
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const row = y * (rowBytes + 1) + 1;
      const first = sample(row, x * samples);
      const gray = (first * 255) / most;
      const color =
        kind === 3
          ? [palette[first * 3] ?? 0, palette[first * 3 + 1] ?? 0, palette[first * 3 + 2] ?? 0]
          : samples >= 3
            ? [first, sample(row, x * samples + 1), sample(row, x * samples + 2)]
            : [gray, gray, gray];
      const hasAlpha = samples === 2 || samples === 4;
      const alpha = (hasAlpha ? sample(row, x * samples + samples - 1) : opacityOf(row, x)) / 255;
      const to = (y * width + x) * 4;
      for (let part = 0; part < 3; part += 1) data[to + part] = color[part]! * alpha + 255 * (1 - alpha);
      data[to + 3] = 255;
    }
  return data;
}

/** Returns the transparent colour of an image without alpha channel and palette; empty if it has none. */
function clearSamples(clear: Buffer, kind: number): readonly number[] {
  const samples = SAMPLES[kind]!;
  if ((kind !== 0 && kind !== 2) || clear.length < samples * 2) return [];
  return Array.from({ length: samples }, (_, at) => clear.readUInt16BE(at * 2));
}
