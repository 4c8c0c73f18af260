import { describe, expect, test } from "vitest";
import { readPdf } from "../src/documents/read-pdf.ts";

interface Font {
  /** Predefined CMap of the font. */
  readonly encoding: string;
  /** Character collection. */
  readonly ordering: "GB1" | "CNS1" | "Japan1" | "Korea1";
  readonly name: string;
}

/** Writes a PDF of one page with a text in a font that is not embedded, as programs in East Asia write them. */
function pdfOf({ encoding, ordering, name }: Font, text: Buffer): Buffer {
  const content = `BT /F1 20 Tf 40 100 Td <${text.toString("hex")}> Tj ET`;
  const system = `<< /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >>`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Type /Font /Subtype /Type0 /BaseFont /${name}-${encoding} /Encoding /${encoding} /DescendantFonts [6 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /${name} /CIDSystemInfo ${system} ` +
      "/FontDescriptor 7 0 R /DW 1000 >>",
    `<< /Type /FontDescriptor /FontName /${name} /Flags 6 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 880 ` +
      "/Descent -120 /CapHeight 880 /StemV 93 >>",
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
  return Buffer.from(`%PDF-1.4\n${objects.join("")}trailer << /Size 8 /Root 1 0 R >>\n%%EOF`, "latin1");
}

function utf16(text: string): Buffer {
  return Buffer.from(text, "utf16le").swap16();
}

async function textOf(pdf: Buffer): Promise<readonly [text: string, warnings: readonly string[]]> {
  const { blocks, warnings } = await readPdf(pdf, { signal: AbortSignal.timeout(60_000), maxPages: 5 });
  return [blocks.map(({ text }) => text).join("\n"), warnings];
}

describe("text of a PDF in a font with a predefined CMap", () => {
  test.each<[string, Font, Buffer]>([
    [
      "符号的意义在于它的效果",
      { encoding: "UniGB-UCS2-H", ordering: "GB1", name: "STSong-Light" },
      utf16("符号的意义在于它的效果"),
    ],
    ["符号学", { encoding: "GBK-EUC-H", ordering: "GB1", name: "SimSun" }, Buffer.from("b7fbbac5d1a7", "hex")],
    ["符號學", { encoding: "UniCNS-UTF16-H", ordering: "CNS1", name: "MSung-Light" }, utf16("符號學")],
    ["符號", { encoding: "ETen-B5-H", ordering: "CNS1", name: "MingLiU" }, Buffer.from("b2c5b8b9", "hex")],
    ["記号の意味", { encoding: "UniJIS-UCS2-H", ordering: "Japan1", name: "HeiseiMin-W3" }, utf16("記号の意味")],
    ["日本語", { encoding: "90ms-RKSJ-H", ordering: "Japan1", name: "MS-Mincho" }, Buffer.from("93fa967b8cea", "hex")],
    ["기호의 의미", { encoding: "UniKS-UCS2-H", ordering: "Korea1", name: "HYSMyeongJo-Medium" }, utf16("기호의 의미")],
    ["한국", { encoding: "KSCms-UHC-H", ordering: "Korea1", name: "Batang" }, Buffer.from("c7d1b1b9", "hex")],
  ])("%s", async (expected, font, text) => {
    expect(await textOf(pdfOf(font, text))).toEqual([expected, []]);
  });

  test.each(["Unknown-H", "../../package.json", "constructor"])("is reported if the CMap is %s", async (encoding) => {
    const font = { encoding, ordering: "GB1", name: "SimSun" } as const;
    expect(await textOf(pdfOf(font, Buffer.from("b7fbbac5", "hex")))).toEqual([
      "",
      ["Pages with text in a font whose encoding is unknown, which was left out: 1."],
    ]);
  });
});
