import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import PdfDocument from "pdfkit";
import { toPng } from "../../gnn/src/pictures/png.ts";

const LINE = 40;
const WIDTH = 640;

/** A scanned PDF: each page is an image of the given lines. */
export async function scanOf(pages: readonly (readonly string[])[]): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-scan-"));
  try {
    const document = new PdfDocument({ autoFirstPage: false });
    const file = document.pipe(createWriteStream(join(folder, "scan.pdf")));
    for (const lines of pages) {
      const height = LINE * (lines.length + 1);
      const texts = lines.map((line, at) => `<text x="20" y="${LINE * (at + 1)}" font-size="24">${line}</text>`);
      const size = `width="${WIDTH}" height="${height}"`;
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><rect ${size} fill="#fff"/>${texts.join("")}</svg>`;
      document.addPage({ size: [WIDTH, height], margin: 0 });
      document.image(Buffer.from(await toPng(svg)), 0, 0, { width: WIDTH });
    }
    document.end();
    await finished(file);
    return await readFile(join(folder, "scan.pdf"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
