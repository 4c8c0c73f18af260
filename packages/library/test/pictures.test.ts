import { describe, expect, test } from "vitest";
import { readImage } from "../src/documents/read-image.ts";
import { openPdf, pictureOf } from "../src/documents/pdf-file.ts";
import { readPdf } from "../src/documents/read-pdf.ts";
import type { PagePicture } from "../src/documents/ocr/ocr.ts";
import { JPEGS, pdfOf, type Picture } from "./pictures.ts";

const WHAT = ["#...", "#...", "####"];
const DARK = WHAT.flatMap((row) => Array.from(row, (sign) => sign === "#"));
const bytes = (dark: readonly number[], light: readonly number[], by = DARK): Buffer =>
  Buffer.from(by.flatMap((isDark) => (isDark ? dark : light)));
const GRAY: Picture = { entries: "/ColorSpace /DeviceGray /BitsPerComponent 8", data: bytes([0], [255]) };
const BITS = Buffer.from([0b0111_0000, 0b0111_0000, 0b0000_0000]);
const flipped = Buffer.from(BITS.map((row) => ~row));

async function seen(pdf: Buffer): Promise<string[] | undefined> {
  const opened = await openPdf(pdf);
  try {
    return rowsOf(await pictureOf(opened, 1));
  } finally {
    await opened.destroy();
  }
}

function rowsOf(picture: PagePicture | undefined): string[] | undefined {
  if (!picture) return undefined;
  const { width, height, data } = picture;
  return Array.from({ length: height }, (_row, y) =>
    Array.from({ length: width }, (_sign, x) => (data[(y * width + x) * 4]! < 128 ? "#" : ".")).join(""),
  );
}

describe("C41: decodes the image of a page in its orientation", () => {
  test.each<[string, Picture]>([
    ["in greys", GRAY],
    ["of one bit", { entries: "/ColorSpace /DeviceGray /BitsPerComponent 1", data: BITS }],
    ["of one bit, white by 0", { entries: "/ColorSpace /DeviceGray /BitsPerComponent 1 /Decode [1 0]", data: flipped }],
    [
      "of a palette",
      {
        entries: "/ColorSpace [/Indexed /DeviceRGB 1 <FFFFFF000040>] /BitsPerComponent 8",
        data: bytes([1], [0]),
      },
    ],
    [
      "of four inks",
      { entries: "/ColorSpace /DeviceCMYK /BitsPerComponent 8", data: bytes([0, 0, 0, 255], [0, 0, 0, 0]) },
    ],
    [
      "in colours",
      { entries: "/ColorSpace /DeviceRGB /BitsPerComponent 8", data: bytes([20, 20, 20], [250, 250, 240]) },
    ],
    [
      "black, and clear where nothing is",
      {
        entries: "/ColorSpace /DeviceGray /BitsPerComponent 8 /SMask 6 0 R",
        data: Buffer.alloc(DARK.length),
        more: { entries: "/ColorSpace /DeviceGray /BitsPerComponent 8", data: bytes([255], [0]) },
      },
    ],
    ["a mask that is filled", { entries: "/ImageMask true /BitsPerComponent 1", data: BITS }],
  ])("%s", async (_what, picture) => {
    expect(await seen(pdfOf({ picture }))).toEqual(WHAT);
  });

  test("turns a page that lies on its side", async () => {
    expect(await seen(pdfOf({ picture: GRAY, rotate: 90 }))).toEqual(["###", "#..", "#..", "#.."]);
    expect(await seen(pdfOf({ picture: GRAY, rotate: 180 }))).toEqual(["####", "...#", "...#"]);
  });

  test("joins the strips of a page into one image", async () => {
    const strip = { entries: "/ColorSpace /DeviceGray /BitsPerComponent 8", data: bytes([0], [255], DARK.slice(0, 8)) };
    const last = { entries: "/ColorSpace /DeviceGray /BitsPerComponent 8", data: Buffer.alloc(4) };
    const content = "q 4 0 0 2 0 1 cm /I Do Q q 4 0 0 1 0 0 cm /J Do Q";
    const pdf = pdfOf({ picture: { ...strip, height: 2, more: { ...last, height: 1 } }, content });
    expect(await seen(pdf)).toEqual(WHAT);
  });

  test("decodes an image within the text of a page", async () => {
    const hex = GRAY.data.toString("hex").toUpperCase();
    const content = `q 4 0 0 3 0 0 cm BI /W 4 /H 3 /CS /G /BPC 8 /F /AHx ID ${hex}> EI Q`;
    expect(await seen(pdfOf({ picture: GRAY, content }))).toEqual(WHAT);
  });

  test("ignores an image that cannot be decoded; a document without other content needs OCR", async () => {
    const data = Buffer.from("no picture at all");
    const picture = { entries: "/ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /JPXDecode", data };
    const pdf = pdfOf({ picture });
    expect(await seen(pdf)).toBeUndefined();
    const reader = {
      read: async (pages: readonly number[], of: (page: number) => Promise<unknown>) => {
        for (const page of pages) await of(page);
        return pages.map(() => []);
      },
    };
    const ocr = { by: "local", when: "auto", languages: ["en"] } as const;
    const reading = readPdf(pdf, { signal: AbortSignal.timeout(60_000), maxPages: 5, ocr, pageReader: reader });
    await expect(reading).rejects.toMatchObject({ reason: "needs_ocr", message: expect.stringContaining("mistral") });
  });
});

describe("a JPEG", () => {
  /** 16 by 16 pixels; the left half is black. */
  const HALF = Array.from({ length: 16 }, () => "########........");
  const TURNED = [
    ...Array.from({ length: 8 }, () => "#".repeat(16)),
    ...Array.from({ length: 8 }, () => ".".repeat(16)),
  ];
  const pictureIn = async (jpeg: string): Promise<string[] | undefined> => {
    let found: PagePicture | undefined;
    const pageReader = {
      read: async (_pages: readonly number[], of: (page: number) => Promise<PagePicture | undefined>) => {
        found = await of(1);
        return [[{ kind: "paragraph" as const, text: "seen", page: 1 }]];
      },
    };
    const ocr = { by: "local", when: "auto", languages: ["en"] } as const;
    const options = { signal: AbortSignal.timeout(60_000), maxPages: 1, ocr, pageReader };
    await readImage(Buffer.from(jpeg, "base64"), options);
    return rowsOf(found);
  };

  test.each([
    ["in greys that come bit by bit", JPEGS.gray],
    ["in colours that come bit by bit", JPEGS.colours],
    ["of four inks, upside down as Adobe has them", JPEGS.inks],
  ])("decodes %s", async (_what, jpeg) => {
    expect(await pictureIn(jpeg)).toEqual(HALF);
  });

  test("applies the camera's orientation", async () => {
    expect(await pictureIn(JPEGS.turned)).toEqual(TURNED);
  });
});

describe("OCR of every page", () => {
  const ocr = { by: "local", when: "force", languages: ["en"] } as const;
  const WORDS = "What stands here as text is long enough to be no scan.";
  const write = `BT /F 6 Tf 5 5 Td (${WORDS}) Tj ET`;
  const force = async (content: string) => {
    const asked: number[] = [];
    const pageReader = {
      read: async (pages: readonly number[], of: (page: number) => Promise<PagePicture | undefined>) => {
        const found = await Promise.all(pages.map(of));
        asked.push(...pages.filter((_page, at) => found[at]));
        return pages.map((page, at) => (found[at] ? [{ kind: "paragraph" as const, text: "seen", page }] : []));
      },
    };
    const pdf = pdfOf({ picture: GRAY, content, box: [0, 0, 200, 100] });
    const options = { signal: AbortSignal.timeout(60_000), maxPages: 5, ocr, pageReader };
    return { read: await readPdf(pdf, options), asked };
  };

  test("text recognised in a page's image replaces the text layer of that image", async () => {
    const { read, asked } = await force(`q 200 0 0 100 0 0 cm /I Do Q ${write}`);
    expect([read.blocks.map(({ text }) => text), asked, read.ocrPages]).toEqual([["seen"], [1], 1]);
  });

  test("a page that is not scanned keeps its text, also if it contains a small image", async () => {
    for (const picture of ["", "q 20 0 0 10 0 0 cm /I Do Q"]) {
      const { read, asked } = await force(`${picture} ${write}`);
      expect([read.blocks.map(({ text }) => text), asked, read.ocrPages]).toEqual([[WORDS], [], 0]);
    }
  });
});

describe("text of a page", () => {
  const read = async (options: Parameters<typeof pdfOf>[0]) =>
    (await readPdf(pdfOf(options), { signal: AbortSignal.timeout(60_000), maxPages: 5 })).blocks;
  const lines = ["Nominalism is told here in a para-", "graph of two lines that go on."];
  const whole = "Nominalism is told here in a paragraph of two lines that go on.";

  test("reads a page on its side line by line", async () => {
    const content = lines.map((line, at) => `BT /F 10 Tf 0 1 -1 0 ${100 + at * 12} 10 Tm (${line}) Tj ET`).join(" ");
    const blocks = await read({ picture: GRAY, content, box: [0, 0, 300, 400], rotate: 90 });
    expect(blocks.map(({ text }) => text)).toEqual([whole]);
  });

  test("reads the text of a page with an origin other than 0, including its margins", async () => {
    const content = lines.map((line, at) => `BT /F 10 Tf 1 0 0 1 510 ${700 - at * 12} Tm (${line}) Tj ET`).join(" ");
    const blocks = await read({ picture: GRAY, content, box: [500, 500, 800, 900] });
    expect(blocks.map(({ text }) => text)).toEqual([whole]);
  });
});
