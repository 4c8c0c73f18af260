// Pages of PDF files with text that is unreliable, and the warnings about them.
import PdfDocument from "pdfkit";
import { describe, expect, test } from "vitest";
import { repairPages } from "../src/documents/pdf-findings.ts";
import type { PageLines, TextRun } from "../src/documents/pdf-lines.ts";
import { readPdf } from "../src/documents/read-pdf.ts";

type Draw = (document: InstanceType<typeof PdfDocument>) => void;

async function warningsOf(draw: Draw): Promise<readonly string[]> {
  const document = new PdfDocument({ size: "A4" });
  const parts: Buffer[] = [];
  document.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((done) => void document.on("end", () => done()));
  draw(document);
  document.end();
  await ended;
  return (await readPdf(Buffer.concat(parts), { signal: new AbortController().signal, maxPages: 10 })).warnings;
}

const ROWS = Array.from({ length: 20 }, (_, at) => at);
const at = (document: InstanceType<typeof PdfDocument>, text: string, x: number, row: number): void =>
  void document.fontSize(10).text(text, x, 60 + row * 14, { lineBreak: false });

describe("warns about a page", () => {
  test("warns about two columns that are drawn row by row", async () => {
    const warnings = await warningsOf((document) => {
      for (const row of ROWS) {
        at(document, `Words of the left column, ${row}`, 60, row);
        at(document, `and of the right column, ${row}`, 320, row);
      }
    });
    expect(warnings).toEqual([expect.stringMatching(/drawn row by row.*: 1\.$/)]);
  });

  test("warns about line numbers in the margin", async () => {
    const warnings = await warningsOf((document) => {
      for (const row of ROWS) {
        if (row % 5 === 4) at(document, String(row + 101), 30, row);
        at(document, `A line of an edition, which goes on and on, ${row}`, 90, row);
      }
      for (const row of ROWS) {
        at(document, String(row + 1), 30, row + 21);
        at(document, `Another line, ${row}`, 90, row + 21);
      }
    });
    expect(warnings).toEqual([expect.stringMatching(/line numbers in the margin.*: 1\.$/)]);
  });

  test("warns about text that is drawn twice", async () => {
    const warnings = await warningsOf((document) => {
      for (const row of ROWS)
        for (const shift of [0, 0.4]) at(document, `Bold by drawing twice, ${row}`, 60 + shift, row);
    });
    expect(warnings).toEqual([expect.stringMatching(/drawn twice.*: 1\.$/)]);
  });
});

test("does not warn of plain pages, columns drawn one after the other, numbered lists and short tables", async () => {
  const warnings = await warningsOf((document) => {
    for (const row of ROWS)
      at(document, `One line of a page in one column, which is long enough to be one, ${row}`, 60, row);
    document.addPage();
    for (const row of ROWS) at(document, `Left, ${row}, with more words`, 60, row);
    for (const row of ROWS) at(document, `Right, ${row}, with more words`, 320, row);
    document.addPage();
    for (const row of ROWS) at(document, `${row + 1}. An entry of a list`, 60, row);
    document.addPage();
    for (const row of ROWS.slice(0, 5)) {
      at(document, `Name ${row}`, 60, row);
      at(document, `Value ${row}`, 320, row);
    }
    for (const row of ROWS)
      at(document, `The text after the table goes on over the width of the page, ${row}`, 60, row + 8);
  });
  expect(warnings).toEqual([]);
});

function page(texts: readonly string[]): PageLines {
  const runs = texts.map((text, row): TextRun => ({ text, x: 60, y: row * 14, size: 10, width: 300, endsLine: true }));
  return { texts: runs, width: 600, height: 800, isScan: false };
}

test.each([
  ["\u{e000}\u{e001}\u{e002}bc\u{e003}\u{e004}", [1]],
  ["\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}", [1]],
  ["\u0001\u0002\u0003\u0004\u0005", [1]],
  ["a \u{e000} b", []],
  ["日本語 Ωμέγα 😀", []],
])("finds characters without a meaning in %j on pages %j", (text, pages) => {
  expect(repairPages([page([text])]).findings.flatMap((finding) => finding.pages)).toEqual(pages);
});
