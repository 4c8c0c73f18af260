// Text of a PDF that a reader of the page cannot see: it is not quoted, and a warning names its page.
import PdfDocument from "pdfkit";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../test/support/random.ts";
import { toPng } from "../../gnn/src/pictures/png.ts";
import { readPdf } from "../src/documents/read-pdf.ts";

type Draw = (document: InstanceType<typeof PdfDocument>) => void;

interface ReadResult {
  readonly text: string;
  readonly warnings: readonly string[];
}

async function readBytes(bytes: Buffer): Promise<ReadResult> {
  const { blocks, warnings } = await readPdf(bytes, { signal: AbortSignal.timeout(60_000), maxPages: 50 });
  return { text: blocks.map(({ text }) => text).join("\n"), warnings };
}

async function read(draw: Draw, options: object = {}): Promise<ReadResult> {
  const document = new PdfDocument({ size: [400, 600], margin: 0, ...options });
  const parts: Buffer[] = [];
  document.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((done) => void document.on("end", () => done()));
  document.fontSize(12);
  draw(document);
  document.end();
  await ended;
  return readBytes(Buffer.concat(parts));
}

interface RawPage {
  readonly content: string;
  /** Entries of the page's dictionary. */
  readonly page?: string;
  readonly resources?: string;
  /** Fonts beside F1. */
  readonly fonts?: string;
  /** Further objects, from number 6. */
  readonly objects?: readonly string[];
  /** Entries of the catalog. */
  readonly catalog?: string;
}

/** Writes a PDF of one page, 400 x 600 points, from the operators of its content. */
function rawPdf({ content, page = "", resources = "", fonts = "", objects = [], catalog = "" }: RawPage): Buffer {
  const all = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Contents 4 0 R " +
      `${page} /Resources << /Font << /F1 5 0 R ${fonts} >> ${resources} >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ...objects,
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
  return Buffer.from(`%PDF-1.5\n${all.join("")}trailer << /Size ${all.length + 1} /Root 1 0 R >>\n%%EOF`, "latin1");
}

const WARNING = /^Pages with text that cannot be seen .* which was left out: 1\.$/;
const SEEN = "Printed words of the page.";
const SECRET = "Ignore this advice.";
const BOTH = `${SEEN} ${SECRET}`;
const formText = `1 g BT /F1 12 Tf 1 0 0 1 40 300 Tm (${SECRET}) Tj ET`;
const visible = (document: InstanceType<typeof PdfDocument>): void =>
  void document.fillColor("black").fontSize(12).text(SEEN, 40, 40, { lineBreak: false });
const secret = (document: InstanceType<typeof PdfDocument>): void =>
  void document.text(SECRET, 40, 200, { lineBreak: false });
const picture = async (color: string): Promise<Buffer> =>
  Buffer.from(
    await toPng(
      `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="60"><rect width="40" height="60" fill="${color}"/></svg>`,
    ),
  );

describe("omits text that cannot be seen, and warns", () => {
  test.each<[string, Draw]>([
    ["white text on the page", (pdf) => secret(pdf.fillColor("white"))],
    ["nearly white text", (pdf) => secret(pdf.fillColor("#fefdfc"))],
    ["text in the colour of a box", (pdf) => secret(pdf.rect(30, 190, 300, 40).fill("#203040").fillColor("#203040"))],
    [
      "white text on a white box in a dark one",
      (pdf) => {
        pdf.rect(0, 150, 400, 200).fill("#102030").rect(30, 190, 300, 40).fill("white");
        secret(pdf.fillColor("white"));
      },
    ],
    ["transparent text", (pdf) => secret(pdf.fillOpacity(0).strokeOpacity(0).fillColor("black"))],
    ["text of half a point", (pdf) => secret(pdf.fontSize(0.5).fillColor("black"))],
    [
      "text below a box",
      (pdf) => {
        secret(pdf.fillColor("black"));
        pdf.rect(30, 190, 300, 40).fill("black");
      },
    ],
    [
      "text outside of the clipped area",
      (pdf) => {
        pdf.save().rect(0, 0, 30, 30).clip();
        secret(pdf.fillColor("black"));
        pdf.restore();
      },
    ],
    ["text beyond the right edge", (pdf) => void pdf.fillColor("black").text(SECRET, 500, 200, { lineBreak: false })],
    ["text above the page", (pdf) => void pdf.fillColor("black").text(SECRET, 40, -80, { lineBreak: false })],
    [
      "white outlined text",
      (pdf) => {
        pdf
          .strokeColor("white")
          .fillColor("black")
          .text(SECRET, 40, 200, { lineBreak: false, stroke: true, fill: false });
      },
    ],
  ])("%s", async (_case, draw) => {
    const { text, warnings } = await read((pdf) => {
      visible(pdf);
      draw(pdf);
    });
    expect([text, warnings]).toEqual([SEEN, [expect.stringMatching(WARNING)]]);
  });

  test.each<[string, RawPage]>([
    ["text of mode 3 without a picture", { content: `BT /F1 12 Tf 3 Tr 40 300 Td (${SECRET}) Tj ET` }],
    ["text of mode 7", { content: `q BT /F1 12 Tf 7 Tr 40 300 Td (${SECRET}) Tj ET Q` }],
    ["white text of mode 2", { content: `1 g 1 G BT /F1 12 Tf 2 Tr 40 300 Td (${SECRET}) Tj ET` }],
    ["white text in CMYK", { content: `0 0 0 0 k BT /F1 12 Tf 40 300 Td (${SECRET}) Tj ET` }],
    [
      "text outside of the crop box",
      {
        page: "/CropBox [0 400 400 600]",
        content: `BT /F1 12 Tf 40 300 Td (${SECRET}) Tj ET`,
      },
    ],
    ["white text on a rotated page", { page: "/Rotate 90", content: `1 g BT /F1 12 Tf 40 300 Td (${SECRET}) Tj ET` }],
    [
      "a layer that is switched off",
      {
        content: `/OC /L BDC BT /F1 12 Tf 40 300 Td (${SECRET}) Tj ET EMC`,
        resources: "/Properties << /L 6 0 R >>",
        objects: ["<< /Type /OCG /Name (Layer) >>"],
        catalog: "/OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] /ON [] >> >>",
      },
    ],
    [
      "white text in a form",
      {
        content: "/X Do",
        resources: "/XObject << /X 6 0 R >>",
        objects: [
          "<< /Type /XObject /Subtype /Form /BBox [0 0 400 600] /Resources << /Font << /F1 5 0 R >> >> " +
            `/Length ${formText.length} >>\nstream\n${formText}\nendstream`,
        ],
      },
    ],
    [
      "white text, spaced and moved by text operators",
      {
        content: `1 g BT /F1 12 Tf 14 TL 2 Tc 3 Tw 40 340 TD 0 -20 Td T* 90 Tz [(Ignore this ) -300 (advice.)] TJ ET`,
      },
    ],
  ])("%s", async (_case, { content, ...raw }) => {
    const page = `BT /F1 12 Tf 40 550 Td (${SEEN}) Tj ET\n${content}`;
    const { text, warnings } = await readBytes(rawPdf({ content: page, ...raw }));
    expect([text, warnings]).toEqual([SEEN, [expect.stringMatching(WARNING)]]);
  });

  test("the hidden part of a line", async () => {
    const { text, warnings } = await readBytes(
      rawPdf({
        content: "BT /F1 12 Tf 40 300 Td (The result is good) Tj 1 g ( for nobody) Tj 0 g (, we think.) Tj ET",
      }),
    );
    expect([text, warnings]).toEqual(["The result is good , we think.", [expect.stringMatching(WARNING)]]);
  });

  test("a whole hidden page, which is then a page without text", async () => {
    const { text, warnings } = await read((pdf) => {
      visible(pdf);
      pdf.addPage();
      secret(pdf.fillColor("white"));
    });
    expect([text, warnings]).toEqual([SEEN, [expect.stringMatching(/which was left out: 2\.$/)]]);
  });
});

describe("keeps text that can be seen, without a warning", () => {
  test.each<[string, Draw]>([
    ["white text on a dark box", (pdf) => secret(pdf.rect(30, 190, 300, 40).fill("#203040").fillColor("white"))],
    ["white text on a dark page", (pdf) => secret(pdf.rect(0, 100, 400, 500).fill("black").fillColor("white"))],
    [
      "white text on a rounded button",
      (pdf) => secret(pdf.roundedRect(30, 190, 300, 40, 9).fill("navy").fillColor("white")),
    ],
    [
      "white text on a thick line",
      (pdf) => {
        pdf.moveTo(20, 205).lineTo(380, 205).lineWidth(40).strokeColor("navy").stroke();
        secret(pdf.fillColor("white"));
      },
    ],
    [
      "white text on a gradient",
      (pdf) => {
        const gradient = pdf.linearGradient(0, 180, 400, 180);
        gradient.stop(0, "navy").stop(1, "red");
        secret(
          pdf
            .rect(0, 180, 400, 60)
            .fill(gradient as never)
            .fillColor("white"),
        );
      },
    ],
    ["yellow text", (pdf) => secret(pdf.fillColor("#ffff00"))],
    ["pale grey text", (pdf) => secret(pdf.fillColor("#e8e8e8"))],
    [
      "text below a translucent mark",
      (pdf) => {
        secret(pdf.fillColor("black"));
        pdf.fillOpacity(0.4).rect(30, 190, 300, 40).fill("yellow");
      },
    ],
    [
      "text on boxes of a table",
      (pdf) => {
        for (let row = 0; row < 20; row += 1)
          pdf.rect(0, 100 + row * 20, 400, 20).fill(row % 2 === 0 ? "#eee" : "white");
        secret(pdf.fillColor("black"));
      },
    ],
    [
      "text inside the clipped area",
      (pdf) => {
        pdf.save().rect(20, 180, 350, 60).clip();
        secret(pdf.fillColor("black"));
        pdf.restore();
      },
    ],
    [
      "white text with a dark outline",
      (pdf) => {
        pdf
          .strokeColor("black")
          .fillColor("white")
          .text(SECRET, 40, 200, { lineBreak: false, stroke: true, fill: true });
      },
    ],
  ])("%s", async (_case, draw) => {
    const { text, warnings } = await read((pdf) => {
      visible(pdf);
      draw(pdf);
    });
    expect([text.replaceAll("\n", " "), warnings]).toEqual([`${SEEN} ${SECRET}`, []]);
  });

  test.each([
    ["dark", "navy"],
    ["white", "white"],
  ])("white text on a %s picture, which is not examined", async (_case, color) => {
    const image = await picture(color);
    const { text, warnings } = await read((pdf) => {
      visible(pdf);
      pdf.image(image, 0, 100, { width: 400 });
      secret(pdf.fillColor("white"));
    });
    expect([text.replaceAll("\n", " "), warnings]).toEqual([`${SEEN} ${SECRET}`, []]);
  });

  test("text that is filled by an area after it", async () => {
    const content = `q BT /F1 30 Tf 7 Tr 40 300 Td (${SEEN}) Tj ET 0 0 1 rg 0 280 400 60 re f Q`;
    expect(await readBytes(rawPdf({ content }))).toEqual({ text: SEEN, warnings: [] });
  });

  test("transparent text whose letters are the mask of a gradient", async () => {
    const words = `BT /F1 30 Tf 40 300 Td (${SEEN}) Tj ET`;
    const form = (text: string, more = ""): string =>
      `<< /Type /XObject /Subtype /Form /BBox [0 0 400 600] /Resources << /Font << /F1 5 0 R >> >> ${more} ` +
      `/Group << /S /Transparency /CS /DeviceRGB >> /Length ${text.length} >>\nstream\n${text}\nendstream`;
    const content = `q /M gs 0 0 1 rg 0 280 400 60 re f Q q /T gs ${words} Q`;
    const resources = "/ExtGState << /M << /SMask << /S /Alpha /G 6 0 R >> >> /T << /ca 0 /SMask /None >> >>";
    const result = await readBytes(rawPdf({ content, resources, objects: [form(words)] }));
    expect(result).toEqual({ text: SEEN, warnings: [] });
  });

  test("white text as the shadow of the same words", async () => {
    const { text, warnings } = await read((pdf) => {
      pdf.fillColor("white").text(SEEN, 40.6, 40.6, { lineBreak: false });
      visible(pdf);
    });
    expect([text.trim(), warnings]).toEqual([SEEN, []]);
  });

  test("Arabic text beside hidden text keeps its letters", async () => {
    const { text, warnings } = await readBytes(
      rawPdf({
        content: `BT /F2 12 Tf 40 300 Td <0627064406390644> Tj ET 1 g BT /F1 12 Tf 40 200 Td (${SECRET}) Tj ET`,
        fonts: "/F2 6 0 R",
        objects: [
          "<< /Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H /DescendantFonts [7 0 R] " +
            "/ToUnicode 8 0 R >>",
          "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Own /DW 600 /FontDescriptor 9 0 R " +
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
          "<< /Length 157 >>\nstream\n/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange " +
            "<0000> <FFFF> endcodespacerange 1 beginbfrange <0600> <06FF> <0600> endbfrange endcmap end\nendstream",
          "<< /Type /FontDescriptor /FontName /Own /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 " +
            "/Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
        ],
      }),
    );
    expect(text).not.toContain(SECRET);
    expect(text).toMatch(/^\p{Script=Arabic}{4}$/u);
    expect(warnings).toEqual([expect.stringMatching(WARNING)]);
  });
});

describe("a page with many painted areas", () => {
  const boxes = (count: number): string => Array.from({ length: count }, () => "0 0 3 3 re f").join("\n");
  const seen = `0 g BT /F1 12 Tf 1 0 0 1 40 500 Tm (${SEEN}) Tj ET`;
  const covered = `0 g BT /F1 12 Tf 1 0 0 1 40 300 Tm (${SECRET}) Tj ET 1 0 0 rg 30 290 300 40 re f`;
  const UNCHECKED = /^Pages with too many painted areas to find text .* which was read: 1\.$/;

  test.each([
    ["5,000 areas hides white text", `${boxes(5_000)} ${seen} ${formText}`, SEEN, WARNING],
    ["5,001 areas reads white text, with a warning", `${boxes(5_001)} ${seen} ${formText}`, BOTH, UNCHECKED],
    ["5,001 areas reads covered text, with a warning", `${boxes(5_001)} ${seen} ${covered}`, BOTH, UNCHECKED],
    ["5,001 areas after white text warns too", `${seen} ${formText} ${boxes(5_001)}`, BOTH, UNCHECKED],
    ["5,001 areas and black text warns too", `${boxes(5_001)} ${seen}`, SEEN, UNCHECKED],
  ])("with %s", async (_case, content, expected, warning) => {
    const { text, warnings } = await readBytes(rawPdf({ content }));
    expect([text.replaceAll("\n", " "), warnings]).toEqual([expected, [expect.stringMatching(warning)]]);
  });

  test("whose areas are too thin to count, or not drawn, is examined without a warning", async () => {
    const thin = boxes(5_001).replaceAll("3 3 re", "3 2 re");
    const hidden = `q 0 0 1 1 re W n ${boxes(5_001)} Q`;
    for (const content of [`${thin} ${seen}`, `${hidden} ${seen}`])
      expect(await readBytes(rawPdf({ content }))).toEqual({ text: SEEN, warnings: [] });
  });
});

describe("the text layer of a scan", () => {
  const layer = (texts: readonly string[]): string =>
    texts.map((text, at) => `BT /F1 12 Tf 3 Tr 40 ${500 - at * 14} Td (${text}) Tj ET`).join("\n");
  const image =
    "<< /Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 1 /Length 8 >>\n" +
    "stream\n\xaa\x55\xaa\x55\xaa\x55\xaa\x55\nendstream";
  const scan = { resources: "/XObject << /X 6 0 R >>", objects: [image] };
  const lines = ["The first line of a scanned page", "and the second line of it."];

  test.each([
    ["behind its picture", `${layer(lines)}\nq 400 0 0 600 0 0 cm /X Do Q`],
    ["over its picture", `q 400 0 0 600 0 0 cm /X Do Q\n${layer(lines)}`],
    ["with a printed stamp", `q 400 0 0 600 0 0 cm /X Do Q\n${layer(lines)} BT /F1 9 Tf 0 Tr 40 60 Td (A stamp) Tj ET`],
  ])("is read %s", async (_case, content) => {
    const { text, warnings } = await readBytes(rawPdf({ content, ...scan }));
    expect(text).toContain("The first line of a scanned page and the second line of it.");
    expect(warnings).toEqual([]);
  });

  test("is not read beside a small picture", async () => {
    const content = `q 40 0 0 40 300 20 cm /X Do Q\nBT /F1 12 Tf 40 550 Td (${SEEN}) Tj ET ${layer(lines)}`;
    const { text, warnings } = await readBytes(rawPdf({ content, ...scan }));
    expect([text, warnings]).toEqual([SEEN, [expect.stringMatching(WARNING)]]);
  });
});

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  "keeps exactly the visible words of a page with boxes and colours (seed %i)",
  async (seed) => {
    const random = createRandom(seed);
    const [shown, hidden]: [string[], string[]] = [[], []];
    const { text, warnings } = await read((pdf) => {
      for (let row = 0; row < 25; row += 1) {
        const [y, word] = [30 + row * 22, `word${row}x`];
        const box = random.pick(["none", "dark", "light"]);
        const ink = random.pick(["black", "white", "#0a0a0a"]);
        if (box !== "none") pdf.rect(20, y - 4, 200, 20).fill(box === "dark" ? "#040404" : "#fafafa");
        const isOver = random.below(6) === 0;
        pdf.fillColor(ink).text(word, 40, y, { lineBreak: false });
        if (isOver) pdf.rect(30, y - 4, 150, 20).fill("#777777");
        const isSeen = !isOver && (ink === "white") === (box === "dark");
        (isSeen ? shown : hidden).push(word);
      }
    });
    expect(text.split(/\s+/)).toEqual(shown);
    expect(warnings).toHaveLength(hidden.length > 0 ? 1 : 0);
  },
);
