// Creates two PDFs of the texts: a book with text, and a book with a scanned page.
import { createWriteStream } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import PdfDocument from "pdfkit";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** Size of an A5 page and its margin, in points. */
const [WIDTH, HEIGHT, RIM] = [420, 595, 50] as const;

interface Text {
  readonly title: string;
  readonly author: string;
  readonly year: string;
  readonly blocks: readonly string[];
}

/** Reads a text with its front matter; headings begin with `#`. */
export async function readText(name: string): Promise<Text> {
  const [, head = "", body = ""] = (await readFile(here(`texts/${name}.md`), "utf8")).split(/^---$/m);
  const field = (key: string): string => new RegExp(`^${key}: (.*)$`, "m").exec(head)?.[1] ?? "";
  const blocks = body
    .split(/\n\n+/)
    .map((block) => block.replaceAll(/\s+/g, " ").replaceAll("_", "").trim())
    .filter((block) => block !== "");
  return { title: field("title"), author: field("author"), year: field("year"), blocks };
}

/** Writes the books into a folder; returns the text of the scanned page. */
export async function makeBooks(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeBook(join(folder, "the-law-of-mind.pdf"), await readText("the-law-of-mind"));
  await writeBook(join(folder, "dictionnaire.pdf"), await readText("dictionnaire-de-la-langue-francaise"));
  const scanned = await readText("how-to-make-our-ideas-clear");
  await writeScan(join(folder, "Charles Sanders Peirce - How to Make Our Ideas Clear (1878).pdf"), scanned);
  return scanned.blocks.join("\n\n");
}

async function writeBook(path: string, { title, author, blocks }: Text): Promise<void> {
  const document = new PdfDocument({ size: [WIDTH, HEIGHT], margin: RIM, info: { Title: title, Author: author } });
  const file = document.pipe(createWriteStream(path));
  for (const block of blocks) {
    const [, signs, heading] = /^(#+) (.*)$/.exec(block) ?? [];
    if (heading === undefined) document.fontSize(10).text(block).moveDown();
    else
      document
        .fontSize(signs === "#" ? 20 : 14)
        .text(heading)
        .moveDown();
  }
  document.end();
  await finished(file);
}

const LINE_LENGTH = 52;
const LINE_HEIGHT = 26;

async function writeScan(path: string, { blocks }: Text): Promise<void> {
  const lines = blocks.flatMap((block) => block.match(new RegExp(`.{1,${LINE_LENGTH}}(?: |$)`, "g")) ?? []);
  const height = LINE_HEIGHT * (lines.length + 2);
  const texts = lines.map((line, at) => `<text x="20" y="${LINE_HEIGHT * (at + 2)}" font-size="18">${line}</text>`);
  const size = `width="600" height="${height}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><rect ${size} fill="#fff"/>${texts.join("")}</svg>`;
  await initWasm(await readFile(fileURLToPath(import.meta.resolve("@resvg/resvg-wasm/index_bg.wasm"))));
  const font = await readFile(here("../../packages/gnn/src/pictures/font/dejavu-sans.ttf"));
  const picture = new Resvg(svg, {
    fitTo: { mode: "zoom", value: 2 },
    font: { fontBuffers: [font], defaultFontFamily: "DejaVu Sans" },
  });
  const document = new PdfDocument({ size: [600, height], margin: 0 });
  const file = document.pipe(createWriteStream(path));
  document.image(Buffer.from(picture.render().asPng()), 0, 0, { width: 600 });
  document.end();
  await finished(file);
}
