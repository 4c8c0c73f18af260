// The page on which each sentence of a PDF is printed, and the reading order of a page.
import PdfDocument from "pdfkit";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../test/support/random.ts";
import { assemble, pagesOf, type AssembledDocument } from "../src/documents/assemble.ts";
import { readPdf } from "../src/documents/read-pdf.ts";
import { plainText } from "../src/search/plain-text.ts";
import { placesIn } from "../src/search/text-places.ts";

type Pdf = InstanceType<typeof PdfDocument>;

async function bytesOf(draw: (document: Pdf) => void): Promise<Buffer> {
  const document = new PdfDocument({ size: "A5", margins: { top: 60, bottom: 90, left: 50, right: 50 } });
  const parts: Buffer[] = [];
  document.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((done) => void document.on("end", () => done()));
  draw(document);
  document.end();
  await ended;
  return Buffer.concat(parts);
}

async function read(draw: (document: Pdf) => void): Promise<AssembledDocument> {
  return assemble(await readPdf(await bytesOf(draw), { signal: new AbortController().signal, maxPages: 50 }));
}

function pagesOfText({ text, pageStarts }: AssembledDocument, quote: string): readonly [number, number] | undefined {
  const [place] = placesIn(text, { plain: plainText(quote).text.trim(), most: 1 });
  return place && pagesOf(pageStarts, ...place);
}

/** Sentences of numbered words, so that each group of nine words is unique. */
function sentences(seed: number, count: number): string[] {
  const random = createRandom(seed);
  let word = 0;
  return Array.from({ length: count }, () => {
    const own = Array.from({ length: 6 + random.below(12) }, () => `w${(word += 1)}${random.pick(["", "long", "er"])}`);
    return `S${own.join(" ")}.`;
  });
}

describe("each sentence has the page on which it is printed", () => {
  test.each(Array.from({ length: 8 }, (_, seed) => seed))(
    "finds the page of every nine-word quotation in paragraphs over several pages (seed %i)",
    async (seed) => {
      const printed = new Map<string, number>();
      const document = await read((pdf) => {
        let page = 1;
        pdf.on("pageAdded", () => (page += 1));
        pdf.fontSize(10);
        for (let paragraph = 0; paragraph < 3; paragraph += 1) {
          const text = sentences(seed * 10 + paragraph, 60)
            .join(" ")
            .replaceAll("w", `p${paragraph}w`);
          // Draws each word as a separate fragment, so that the page of each word is known.
          for (const word of text.split(" ")) {
            pdf.text(`${word} `, { continued: true });
            printed.set(word, page);
          }
          pdf.text("", { continued: false }).moveDown();
        }
      });
      const words = Array.from(printed.keys());
      let checked = 0;
      for (let at = 0; at + 9 <= words.length; at += 7) {
        const nine = words.slice(at, at + 9);
        if (nine[0]!.slice(0, 3) !== nine[8]!.slice(0, 3)) continue;
        const found = pagesOfText(document, nine.join(" "));
        expect(found, nine.join(" ")).toEqual([printed.get(nine[0]!), printed.get(nine[8]!)]);
        checked += 1;
      }
      expect(checked).toBeGreaterThan(100);
    },
  );

  const lines = (pdf: Pdf, texts: readonly string[], from = 60): void => {
    for (const [at, text] of texts.entries()) pdf.fontSize(10).text(text, 50, from + at * 13, { lineBreak: false });
  };

  test.each<[string, readonly (readonly string[])[], string, readonly [number, number]]>([
    [
      "the beginning of a torn sentence",
      [["It begins on one page and"], ["ends on the other."]],
      "It begins on",
      [1, 1],
    ],
    [
      "the end of a torn sentence",
      [["It begins on one page and"], ["ends on the other."]],
      "ends on the other",
      [2, 2],
    ],
    ["a torn sentence", [["It begins on one page and"], ["ends on the other."]], "page and ends", [1, 2]],
    ["a word that is cut at the end of a page", [["What nomi-"], ["nalism denies."]], "nominalism denies", [1, 2]],
    ["the word after a word that is cut", [["What nomi-"], ["nalism denies."]], "denies", [2, 2]],
    ["a sentence over three pages", [["One and"], ["two and"], ["three."]], "one and two and three", [1, 3]],
    ["the middle of a sentence over three pages", [["One and"], ["two and"], ["three."]], "two and", [2, 2]],
    ["a sentence behind an empty page", [["One."], [], ["Three."]], "three", [3, 3]],
    ["a sentence torn by an empty page", [["One and"], [], ["three."]], "three", [3, 3]],
  ])("%s", async (_case, pages, quote, expected) => {
    const document = await read((pdf) => {
      for (const [at, page] of pages.entries()) {
        if (at > 0) pdf.addPage();
        lines(pdf, page);
      }
    });
    expect(pagesOfText(document, quote)).toEqual(expected);
  });

  test("footnotes do not split a sentence, and keep their page", async () => {
    const document = await read((pdf) => {
      lines(pdf, ["The first sentence of the page ends. The second one", "goes on over"]);
      pdf.fontSize(7).text("1 A note on the first page, whose sentence ends here.", 50, 400, { lineBreak: false });
      pdf.addPage();
      lines(pdf, ["the foot of the page. Another one follows."]);
      pdf.fontSize(7).text("2 A note on the second page.", 50, 400, { lineBreak: false });
    });
    expect(pagesOfText(document, "The second one goes on over the foot of the page.")).toEqual([1, 2]);
    expect(pagesOfText(document, "1 A note on the first page")).toEqual([1, 1]);
    expect(pagesOfText(document, "2 A note on the second page")).toEqual([2, 2]);
    expect(pagesOfText(document, "Another one follows")).toEqual([2, 2]);
  });

  test("a footnote that continues at the foot of the next page is not part of that page's text", async () => {
    const document = await read((pdf) => {
      lines(pdf, ["A sentence that is long and", "goes on"]);
      pdf.fontSize(7).text("* A note that goes", 50, 400, { lineBreak: false });
      pdf.addPage();
      lines(pdf, ["to its end. And one"]);
      pdf.fontSize(7).text("on here.", 50, 400, { lineBreak: false });
      pdf.addPage();
      lines(pdf, ["that ends."]);
    });
    expect(pagesOfText(document, "that is long and goes on to its end.")).toEqual([1, 2]);
    expect(pagesOfText(document, "And one that ends.")).toEqual([2, 3]);
  });
});

describe("reading order of a page", () => {
  const place = (pdf: Pdf, text: string, x: number, y: number): void =>
    void pdf.fontSize(9).text(text, x, y, { lineBreak: false });
  const rows = Array.from({ length: 12 }, (_, at) => at);
  const textOf = async (draw: (document: Pdf) => void): Promise<string> => (await read(draw)).text;

  test("reads columns one after the other, below their common heading, even if they are drawn row by row", async () => {
    const text = await textOf((pdf) => {
      place(pdf, "A line over the whole width of the page, and over both of its columns, in full.", 50, 40);
      for (const row of rows) {
        place(pdf, `left words of line ${row} and`, 50, 60 + row * 13);
        place(pdf, `right words of line ${row} and`, 220, 60 + row * 13);
      }
    });
    expect(text).toContain("left words of line 3 and left words of line 4 and");
    expect(text).toContain("left words of line 11 and right words of line 0 and");
  });

  test("keeps the rows of a table", async () => {
    const text = await textOf((pdf) => {
      for (const row of rows) {
        place(pdf, `name ${row}`, 50, 60 + row * 13);
        place(pdf, `value ${row}`, 220, 60 + row * 13);
      }
    });
    expect(text).toContain("name 3 value 3");
  });

  test("omits line numbers in the margin, and keeps numbers in the text", async () => {
    const text = await textOf((pdf) => {
      for (const row of rows) {
        place(pdf, String(row + 101), 20, 60 + row * 13);
        place(pdf, `line ${row} of the text in 1878,`, 60, 60 + row * 13);
      }
    });
    expect(text).toContain("line 3 of the text in 1878, line 4 of the text");
    expect(text).not.toContain("104");
  });

  test("reads text once that is drawn twice", async () => {
    const text = await textOf((pdf) => {
      for (const row of rows) for (const shift of [0, 0.4]) place(pdf, `bold line ${row},`, 60 + shift, 60 + row * 13);
    });
    expect(text).toContain("bold line 3, bold line 4,");
  });

  test.each([
    ["The", "T", "he truth of the matter", "The truth of the matter"],
    ["a word of one letter", "A", "truth of the matter", "A truth of the matter"],
    ["a word that the text has elsewhere", "A", "nother truth of the matter", "Another truth of the matter"],
    ["an accent", "É", "tat de la question", "État de la question"],
    ["a quotation mark", "“W", "e are the matter", "“We are the matter"],
  ])("joins an initial to its word: %s", async (_case, initial, line, expected) => {
    const text = await textOf((pdf) => {
      pdf.fontSize(30).text(initial, 50, 60, { lineBreak: false });
      place(pdf, line, 85, 62);
      place(pdf, "which is beside the initial too, and the truth", 85, 75);
      place(pdf, "of another matter begins below it.", 50, 90);
    });
    expect(text).toContain(`${expected} which is beside the initial too, and the truth of another matter`);
  });
});
