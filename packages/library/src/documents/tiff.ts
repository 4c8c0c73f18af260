import { DocumentError } from "./document-error.ts";
import { MAX_PIXELS } from "./ocr/ocr.ts";

/** A part of an image: a strip or a tile, with its place in pixels from the top left. */
export interface TiffPart {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Compressed bytes. */
  readonly data: Buffer;
}

export interface TiffPage {
  readonly width: number;
  readonly height: number;
  readonly parts: readonly TiffPart[];
  readonly compression: number;
  readonly bits: number;
  readonly samples: number;
  /** Meaning of the samples: 0 white is zero, 1 black is zero, 2 RGB, 3 palette, 5 CMYK, 6 YCbCr. */
  readonly photometric: number;
  /** True if each sample is stored as the difference from its left neighbour. */
  readonly isDifference: boolean;
  /** Options of CCITT Group 3: bit 0 two-dimensional, bit 2 lines end at a byte. */
  readonly groupOptions: number;
  /** RGB of each colour of a palette. */
  readonly palette: Buffer | undefined;
  /** Tables of JPEG that all parts share. */
  readonly jpegTables: Buffer | undefined;
  /** Clockwise rotation for display, in degrees. */
  readonly turn: number;
}

/** TIFF 6.0, sections 3 to 15 and 22: the tags that decoding requires. */
const TAG = {
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  stripOffsets: 273,
  orientation: 274,
  samples: 277,
  rowsPerStrip: 278,
  stripSizes: 279,
  planes: 284,
  groupOptions: 292,
  predictor: 317,
  palette: 320,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileSizes: 325,
  extraSamples: 338,
  jpegTables: 347,
} as const;

/** Bytes of a value by its type: byte, text, short, long, and undefined bytes. Other types are not needed. */
const SIZES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 7: 1 };
const COMPRESSIONS: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 7, 8, 32_773, 32_946]);
const TURNS: Readonly<Record<number, number>> = { 3: 180, 6: 90, 8: 270 };
const ENTRY_BYTES = 12;
const MAX_VALUES = 1_000_000;
const BYTE_VALUES = 256;
/** Maximum number of pixels by which a strip or tile may be wider or higher than the image. */
const MAX_TILE = 4_096;

/** Returns the images of a file, in order. Throws a `DocumentError` for a damaged or unsupported file. */
export function pagesOfTiff(bytes: Uint8Array, maxPages: number): TiffPage[] {
  const file = new TiffFile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const pages: TiffPage[] = [];
  const seen = new Set<number>();
  for (let at = file.first(); at !== 0;) {
    if (seen.has(at)) throw damaged("its list of images is a loop");
    seen.add(at);
    if (pages.length === maxPages)
      throw new DocumentError(
        "TOO_LARGE",
        `It has more than ${maxPages} pages (\`max_pages\`). Split it, or raise the limit.`,
        "too_many_pages",
      );
    const { values, next } = file.directory(at);
    pages.push(pageOf(values, file, pages.length + 1));
    at = next;
  }
  return pages;
}

type Values = ReadonlyMap<number, readonly number[]>;

/** Reads numbers of a file in its byte order. */
class TiffFile {
  readonly bytes: Buffer;
  readonly #isSmallFirst: boolean;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#isSmallFirst = bytes.toString("latin1", 0, 2) === "II";
    if (this.#number(2, 2) === 43) throw unsupported("it is a BigTIFF file");
    if (this.#number(2, 2) !== 42) throw damaged("its header is invalid");
  }

  first(): number {
    return this.#number(4, 4);
  }

  directory(at: number): { readonly values: Values; readonly next: number } {
    const count = this.#number(at, 2);
    const entries = Array.from({ length: count }, (_, entry) => at + 2 + entry * ENTRY_BYTES);
    const known = new Map(entries.map((entry) => [this.#number(entry, 2), entry] as const));
    // Other tags are skipped. They may have many values, such as those of a camera.
    const read = Object.values(TAG).filter((tag) => known.has(tag));
    const values = new Map<number, readonly number[]>(read.map((tag) => [tag, this.#valuesAt(known.get(tag)!)]));
    return { values, next: this.#number(at + 2 + count * ENTRY_BYTES, 4) };
  }

  part(offset: number, size: number): Buffer {
    if (offset + size > this.bytes.length) throw damaged("an image is truncated");
    return this.bytes.subarray(offset, offset + size);
  }

  #valuesAt(entry: number): number[] {
    const [size, count] = [SIZES[this.#number(entry + 2, 2)], this.#number(entry + 4, 4)];
    if (size === undefined) return [];
    if (count > MAX_VALUES) throw damaged("a list has too many values");
    const start = size * count <= 4 ? entry + 8 : this.#number(entry + 8, 4);
    return Array.from({ length: count }, (_, at) => this.#number(start + at * size, size));
  }

  #number(at: number, size: number): number {
    if (at + size > this.bytes.length) throw damaged("it is truncated");
    return this.#isSmallFirst ? this.bytes.readUIntLE(at, size) : this.bytes.readUIntBE(at, size);
  }
}

function pageOf(values: Values, file: TiffFile, number: number): TiffPage {
  const first = (tag: number, fallback: number): number => values.get(tag)?.[0] ?? fallback;
  const [width, height] = [first(TAG.width, 0), first(TAG.height, 0)];
  if (width < 1 || height < 1) throw damaged(`page ${number} has no size`);
  if (width * height > MAX_PIXELS)
    throw new DocumentError("TOO_LARGE", `Page ${number} has more than ${MAX_PIXELS} pixels.`);
  const page = {
    width,
    height,
    compression: first(TAG.compression, 1),
    bits: first(TAG.bits, 1),
    samples: first(TAG.samples, 1),
    photometric: first(TAG.photometric, 1),
    isDifference: first(TAG.predictor, 1) === 2,
    groupOptions: first(TAG.groupOptions, 0),
    palette: paletteOf(values.get(TAG.palette)),
    jpegTables: values.has(TAG.jpegTables) ? Buffer.from(values.get(TAG.jpegTables)!) : undefined,
    turn: TURNS[first(TAG.orientation, 1)] ?? 0,
  };
  expectSupported({ ...page, parts: [] }, { values, number });
  const isReversed = first(TAG.fillOrder, 1) === 2;
  const parts = partsOf(values, file, page).map((part) => (isReversed ? { ...part, data: reversed(part.data) } : part));
  return { ...page, parts };
}

function expectSupported(page: TiffPage, { values, number }: { readonly values: Values; readonly number: number }) {
  const { compression, bits, samples } = page;
  const where = `page ${number} has`;
  if (!COMPRESSIONS.has(compression)) throw unsupported(`${where} the compression ${compression}`);
  if (![1, 2, 4, 8].includes(bits)) throw unsupported(`${where} ${bits} bits per sample`);
  if (samples > 1 && values.get(TAG.planes)?.[0] === 2) throw unsupported(`${where} separate colour planes`);
  if (values.has(TAG.extraSamples)) throw unsupported(`${where} transparent pixels`);
  if (![1, 3, 4].includes(samples)) throw unsupported(`${where} ${samples} samples per pixel`);
}

/** Returns the strips or tiles. Tiles at the right and lower edge exceed the image. */
function partsOf(values: Values, file: TiffFile, { width, height }: Pick<TiffPage, "width" | "height">): TiffPart[] {
  const { offsets, sizes, wide, rows, isTiled } = divisionOf(values, { width, height });
  if (wide < 1 || rows < 1 || wide > width + MAX_TILE || (isTiled && rows > height + MAX_TILE))
    throw damaged("its tiles have an invalid size");
  const across = Math.ceil(width / wide);
  const count = across * Math.ceil(height / rows);
  if (offsets.length < count || sizes.length < count) throw damaged("parts of an image are missing");
  return offsets.slice(0, count).map((offset, at) => {
    const [x, y] = [(at % across) * wide, Math.floor(at / across) * rows];
    const own = { x, y, width: wide, height: isTiled ? rows : Math.min(rows, height - y) };
    return { ...own, data: file.part(offset, sizes[at]!) };
  });
}

/** Division of an image into strips or tiles. A strip is as wide as the image. */
interface Division {
  readonly isTiled: boolean;
  readonly offsets: readonly number[];
  readonly sizes: readonly number[];
  readonly wide: number;
  readonly rows: number;
}

function divisionOf(values: Values, { width, height }: Pick<TiffPage, "width" | "height">): Division {
  const isTiled = values.has(TAG.tileOffsets);
  const all = (tag: number): readonly number[] => values.get(tag) ?? [];
  const first = (tag: number, fallback: number): number => values.get(tag)?.[0] ?? fallback;
  return isTiled
    ? {
        isTiled,
        offsets: all(TAG.tileOffsets),
        sizes: all(TAG.tileSizes),
        wide: first(TAG.tileWidth, 0),
        rows: first(TAG.tileHeight, 0),
      }
    : {
        isTiled,
        offsets: all(TAG.stripOffsets),
        sizes: all(TAG.stripSizes),
        wide: width,
        rows: first(TAG.rowsPerStrip, height),
      };
}

/** Returns the colours as bytes of RGB. The file has all red values first, then green and blue, with 16 bits each. */
function paletteOf(values: readonly number[] | undefined): Buffer | undefined {
  if (!values) return undefined;
  const count = Math.floor(values.length / 3);
  const colours = Array.from({ length: count }, (_, at) => [0, 1, 2].map((part) => values[part * count + at]! >> 8));
  return Buffer.from(colours.flat());
}

const REVERSED_BITS = Uint8Array.from({ length: BYTE_VALUES }, (_, value) =>
  [0, 1, 2, 3, 4, 5, 6, 7].reduce((sum, bit) => sum | (((value >> bit) & 1) << (7 - bit)), 0),
);

/** Returns the bytes with the bits of each in reverse order. */
function reversed(data: Buffer): Buffer {
  return Buffer.from(data.map((value) => REVERSED_BITS[value]!));
}

function damaged(why: string): DocumentError {
  return new DocumentError("VALIDATION_ERROR", `The image is damaged: ${why}.`, "damaged");
}

function unsupported(why: string): DocumentError {
  return new DocumentError(
    "VALIDATION_ERROR",
    `The image is in a form of TIFF that is not read: ${why}. Save it as PDF, PNG or JPEG.`,
  );
}
