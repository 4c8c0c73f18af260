import { describe, expect, test } from "vitest";
import { formatOf } from "../src/documents/formats.ts";
import type { PagePicture } from "../src/documents/ocr/ocr.ts";
import { openPdf, pictureOf } from "../src/documents/pdf-file.ts";
import { readTiff } from "../src/documents/read-tiff.ts";
import { pagesOfTiff } from "../src/documents/tiff.ts";
import { pdfOfTiff } from "../src/documents/tiff-pdf.ts";
import samples from "./tiff-samples.json" with { type: "json" };

const [WIDTH, HEIGHT] = [24, 16];

interface Entry {
  readonly tag: number;
  readonly values: readonly number[];
}
interface Image {
  readonly entries: readonly Entry[];
  readonly data: readonly Buffer[];
}
interface Order {
  readonly isSmallFirst?: boolean;
  /** Offset of the image that follows the last one. @default 0, the end */
  readonly next?: number;
}

/** Writes a TIFF file of the given entries, all of type LONG; the strips or tiles of an image are its data. */
function tiffOf(images: readonly Image[], { isSmallFirst = true, next = 0 }: Order = {}): Buffer {
  const mark = Buffer.from(isSmallFirst ? "II" : "MM");
  let file = Buffer.concat([mark, numberOf(42, 2, isSmallFirst), numberOf(8, 4, isSmallFirst)]);
  for (const [index, image] of images.entries()) {
    const own = index + 1 < images.length ? undefined : next;
    file = Buffer.concat([file, imageOf(image, { at: file.length, isSmallFirst, next: own })]);
  }
  return file;
}

interface Place {
  readonly at: number;
  readonly isSmallFirst: boolean;
  /** Offset of the next image. Absent: the end of this one. */
  readonly next: number | undefined;
}

function imageOf({ entries, data }: Image, { at, isSmallFirst, next }: Place): Buffer {
  const isTiled = entries.some(({ tag }) => tag === 322);
  const sizes = { tag: isTiled ? 325 : 279, values: data.map(({ length }) => length) };
  const listsAt = at + 2 + (entries.length + 2) * 12 + 4;
  const listBytes = [...entries, sizes, sizes].reduce((sum, { values }) => sum + bytesOf(values), 0);
  let dataAt = listsAt + listBytes;
  const offsets = data.map(({ length }) => (dataAt += length) - length);
  const all = [...entries, { tag: isTiled ? 324 : 273, values: offsets }, sizes];
  const lists: Buffer[] = [];
  const rows = all.flatMap(({ tag, values }) => {
    const list = Buffer.concat(values.map((value) => numberOf(value, 4, isSmallFirst)));
    const place = numberOf(listsAt + Buffer.concat(lists).length, 4, isSmallFirst);
    if (values.length > 1) lists.push(list);
    const head = [tag, 4].map((value) => numberOf(value, 2, isSmallFirst));
    return [...head, numberOf(values.length, 4, isSmallFirst), values.length > 1 ? place : list];
  });
  const end = numberOf(next ?? dataAt, 4, isSmallFirst);
  return Buffer.concat([numberOf(all.length, 2, isSmallFirst), ...rows, end, ...lists, ...data]);
}

/** Returns the number of bytes that a list occupies outside of its entry. */
function bytesOf(values: readonly number[]): number {
  return values.length > 1 ? 4 * values.length : 0;
}

function numberOf(value: number, size: number, isSmallFirst: boolean): Buffer {
  const bytes = Buffer.alloc(size);
  if (isSmallFirst) bytes.writeUIntLE(value, 0, size);
  else bytes.writeUIntBE(value, 0, size);
  return bytes;
}

const entry = (tag: number, ...values: readonly number[]): Entry => ({ tag, values });
/** A grey image of 3 by 2 pixels, of which the first is black. */
const SMALL = [entry(256, 3), entry(257, 2), entry(258, 8), entry(259, 1), entry(262, 1), entry(278, 2)];
const PIXELS = Buffer.from([0, 255, 255, 255, 255, 255]);

async function pictures(file: Buffer): Promise<PagePicture[]> {
  const pages = pagesOfTiff(file, 100);
  const pdf = await openPdf(pdfOfTiff(pages));
  try {
    const found: PagePicture[] = [];
    for (const at of pages.keys()) found.push((await pictureOf(pdf, at + 1))!);
    return found;
  } finally {
    await pdf.destroy();
  }
}

function rowsOf({ width, height, data }: PagePicture): string[] {
  return Array.from({ length: height }, (_row, y) =>
    Array.from({ length: width }, (_sign, x) => (data[(y * width + x) * 4]! < 128 ? "#" : ".")).join(""),
  );
}

describe("reads the images of a TIFF file", () => {
  test.each(Object.entries(samples))("of another program: %s", async (name, data) => {
    const found = await pictures(Buffer.from(data, "base64"));
    expect(found).toHaveLength(name === "two pages" ? 2 : 1);
    for (const picture of found) {
      const pixel = (x: number, y: number): number[] =>
        Array.from(picture.data.subarray((y * WIDTH + x) * 4).slice(0, 3));
      expect([picture.width, picture.height]).toEqual([WIDTH, HEIGHT]);
      expect(Math.min(...pixel(0, 0), ...pixel(12, 8), ...pixel(23, 15))).toBeGreaterThan(240);
      expect(Math.max(...pixel(5, 5))).toBeLessThan(60);
      const [red, green, blue] = pixel(17, 11) as [number, number, number];
      if (/^(?:RGB|CMYK)/.test(name)) expect([red > 180, green < 80, blue < 80]).toEqual([true, true, true]);
      else expect(Math.max(red, green, blue)).toBeLessThan(100);
    }
  });

  test.each<[string, Image, Order]>([
    ["of either byte order", { entries: SMALL, data: [PIXELS] }, { isSmallFirst: false }],
    [
      "in strips",
      {
        entries: SMALL.map((one) => (one.tag === 278 ? entry(278, 1) : one)),
        data: [PIXELS.subarray(0, 3), PIXELS.subarray(3)],
      },
      {},
    ],
    [
      "of which white is zero",
      {
        entries: SMALL.map((one) => (one.tag === 262 ? entry(262, 0) : one)),
        data: [Buffer.from(PIXELS.map((value) => 255 - value))],
      },
      {},
    ],
    [
      "of a palette",
      {
        entries: [
          ...SMALL.filter(({ tag }) => tag !== 262),
          entry(262, 3),
          entry(320, 0, 65_535, 0, 65_535, 0, 65_535),
        ],
        data: [Buffer.from([0, 1, 1, 1, 1, 1])],
      },
      {},
    ],
    [
      "in tiles that exceed the image",
      {
        entries: [...SMALL.filter(({ tag }) => tag !== 278), entry(322, 2), entry(323, 4)],
        data: [Buffer.from([0, 255, 255, 255, 9, 9, 9, 9]), Buffer.from([255, 9, 255, 9, 9, 9, 9, 9])],
      },
      {},
    ],
  ])("%s", async (_, image, order) => {
    const [picture] = await pictures(tiffOf([image], order));
    expect(rowsOf(picture!)).toEqual(["#..", "..."]);
  });

  test("with a damaged list in a tag that decoding does not require", async () => {
    const file = tiffOf([{ entries: [...SMALL, entry(37_500, 1, 2)], data: [PIXELS] }]);
    const entryAt = 8 + 2 + 12 * SMALL.length;
    file.writeUInt32LE(900_000, entryAt + 4);
    const [picture] = await pictures(file);
    expect(rowsOf(picture!)).toEqual(["#..", "..."]);
  });

  test("with reversed bits", async () => {
    const entries = [entry(256, 8), entry(257, 1), entry(258, 1), entry(262, 1), entry(266, 2), entry(278, 1)];
    const [picture] = await pictures(tiffOf([{ entries, data: [Buffer.from([0b1111_1110])] }]));
    expect(rowsOf(picture!)).toEqual(["#......."]);
  });

  test("rotated by the orientation of the file", async () => {
    const [picture] = await pictures(tiffOf([{ entries: [...SMALL, entry(274, 6)], data: [PIXELS] }]));
    expect(rowsOf(picture!)).toEqual([".#", "..", ".."]);
  });

  test("as pages in their order, each recognised by OCR", async () => {
    const second = { entries: SMALL, data: [Buffer.from([255, 255, 0, 255, 255, 255])] };
    const file = tiffOf([{ entries: SMALL, data: [PIXELS] }, second]);
    const seen: string[][] = [];
    const document = await readTiff(file, {
      signal: AbortSignal.timeout(60_000),
      maxPages: 5,
      ocr: { by: "local", when: "auto", languages: ["en"] },
      pageReader: {
        read: async (pages, picture) => {
          for (const page of pages) seen.push(rowsOf((await picture(page))!));
          return pages.map((page) => [{ kind: "paragraph", text: `Text ${page}.`, page }]);
        },
      },
    });
    expect(seen).toEqual([
      ["#..", "..."],
      ["..#", "..."],
    ]);
    expect(document).toMatchObject({ pages: 2, ocrPages: 2, warnings: [] });
    expect(document.blocks.map(({ text, page }) => [text, page])).toEqual([
      ["Text 1.", 1],
      ["Text 2.", 2],
    ]);
  });
});

describe("refuses a TIFF file", () => {
  const file = tiffOf([{ entries: SMALL, data: [PIXELS] }]);
  const without = (...tags: readonly number[]): Entry[] => SMALL.filter(({ tag }) => !tags.includes(tag));
  const of = (...entries: readonly Entry[]): Buffer => tiffOf([{ entries, data: [PIXELS] }]);

  test.each<[string, Buffer, string]>([
    ["that is truncated", file.subarray(0, 40), "truncated"],
    ["whose pixels are truncated", file.subarray(0, -1), "truncated"],
    ["whose list of images is a loop", tiffOf([{ entries: SMALL, data: [PIXELS] }], { next: 8 }), "loop"],
    ["without a size", of(...without(256)), "no size"],
    ["with another version", Buffer.from("II\x2a\x01\0\0\0\0\0\0", "latin1"), "header"],
    ["of the form BigTIFF", Buffer.from("II\x2b\0\0\0\0\0\0\0", "latin1"), "BigTIFF"],
    ["with missing strips", of(...without(278), entry(278, 1)), "missing"],
    ["with an unknown compression", of(...without(259), entry(259, 34_712)), "compression 34712"],
    ["with 16 bits per sample", of(...without(258), entry(258, 16)), "16 bits"],
    ["with transparent pixels", of(...SMALL, entry(338, 1)), "transparent"],
    ["with too many pixels", of(...without(256), entry(256, 100_000_000)), "60000000 pixels"],
  ])("%s", (_, bytes, message) => {
    expect(() => pagesOfTiff(bytes, 10)).toThrow(message);
  });

  test("with more pages than the limit", () => {
    const pages = Array.from({ length: 3 }, () => ({ entries: SMALL, data: [PIXELS] }));
    expect(() => pagesOfTiff(tiffOf(pages), 2)).toThrow("more than 2 pages (`max_pages`)");
    expect(pagesOfTiff(tiffOf(pages), 3)).toHaveLength(3);
  });

  test("without OCR, and explains how to enable it", async () => {
    const options = { signal: AbortSignal.timeout(60_000), maxPages: 5 };
    await expect(readTiff(file, options)).rejects.toMatchObject({
      code: "OCR_UNAVAILABLE",
      reason: "needs_ocr",
      message: expect.stringContaining("Set `ocr` to local or mistral"),
    });
  });

  test("by its first bytes if they are not those of TIFF, in either byte order", () => {
    expect(formatOf("a.tif", file).name).toBe("TIFF");
    expect(formatOf("a.tiff", tiffOf([], { isSmallFirst: false })).name).toBe("TIFF");
    expect(() => formatOf("a.tif", Buffer.from("GIF89a"))).toThrow("not a TIFF file");
  });
});
