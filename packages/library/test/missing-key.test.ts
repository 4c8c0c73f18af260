import { writeFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import PdfDocument from "pdfkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toPng } from "../../gnn/src/pictures/png.ts";
import { openService } from "../../toolyard/servers/shared/service.ts";
import { openLibrary } from "../src/library.ts";
import { library } from "../src/service.ts";
import { CLEAR_IDEAS } from "./books.ts";
import { scanOf } from "./scans.ts";
import { Shelf } from "./shelf.ts";

let shelf: Shelf;
let hub: Awaited<ReturnType<typeof openService>>;

const WITHOUT_KEY = { by: "mistral", when: "auto", languages: ["en"] } as const;

beforeAll(async () => {
  shelf = await Shelf.open();
  shelf.write("books/clear.md", CLEAR_IDEAS);
  shelf.write("books/scan.pdf", await scanOf([["Truth is one.", "Opinions are many."]]));
  writeFileSync(shelf.path("books/page.png"), Buffer.from("89504e470d0a1a0a", "hex"));
  hub = await openService(library, {
    environment: {
      LIBRARY_ROOTS: shelf.path("books"),
      LIBRARY_OCR: "mistral",
      MISTRAL_API_KEY: "",
      TOOLYARD_HOME: shelf.folder,
      TOOLYARD_LOGGING_LEVEL: "error",
    },
  });
});
afterAll(async () => {
  await hub.close();
  await shelf[Symbol.asyncDispose]();
});

/** Returns a PDF with a page of text and a page that is an image. */
async function textAndScan(): Promise<Buffer> {
  const size = 'width="600" height="600"';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><rect ${size} fill="#fff"/></svg>`;
  const document = new PdfDocument({ size: [600, 600] });
  document.text("What all who look into a matter would agree upon in the end is the truth.");
  document.addPage().image(Buffer.from(await toPng(svg)), 0, 0, { width: 600 });
  document.end();
  return buffer(document as unknown as NodeJS.ReadableStream);
}

describe("Mistral OCR without a key", () => {
  test.each([
    ["a scan", { paths: ["scan.pdf"] }],
    ["an image", { paths: ["page.png"] }],
    ["any file with ocr force", { paths: ["clear.md"], ocr: "force" }],
  ])("add_documents names the missing variable for %s", async (_case, args) => {
    expect(await hub.call("add_documents", args)).toMatchObject({
      result: {
        structuredContent: {
          sources: [{ status: "failed", error: expect.stringContaining("Set the variable MISTRAL_API_KEY") }],
        },
      },
    });
  });

  test("parse_pdf names the missing variable for a scan", async () => {
    const outcome = await hub.call("parse_pdf", { pdf_path: "scan.pdf" });
    expect(outcome).toMatchObject({ ok: false });
    expect(JSON.stringify(outcome)).toContain("Set the variable MISTRAL_API_KEY");
  });

  test("add_documents adds a file with text", async () => {
    expect(await hub.call("add_documents", { paths: ["clear.md"] })).toMatchObject({
      result: { structuredContent: { sources: [{ status: "added" }] } },
    });
  });

  test("add_documents adds the text of a file with scans, with a warning that names the missing variable", async () => {
    shelf.write("books/mixed.pdf", await textAndScan());
    expect(await hub.call("add_documents", { paths: ["mixed.pdf"] })).toMatchObject({
      result: {
        structuredContent: {
          sources: [
            {
              status: "added",
              warnings: [
                "Pages without text, which need OCR, were left out: 2.",
                "Mistral OCR has no key. Set the variable MISTRAL_API_KEY, or `ocr` to local.",
              ],
            },
          ],
        },
      },
    });
  });

  test("a program's library names the missing variable", async () => {
    await using own = await openLibrary({ file: shelf.path("own.db"), ocr: WITHOUT_KEY });
    await expect(own.add({ path: shelf.path("books/scan.pdf") })).rejects.toMatchObject({
      reason: "needs_ocr",
      message: expect.stringContaining("Set the variable MISTRAL_API_KEY"),
    });
    expect(await own.find("scan")).toBeUndefined();
  });

  test("a library without an OCR provider names the possible providers and no variable", async () => {
    await expect(shelf.library.add({ path: shelf.path("books/scan.pdf") })).rejects.toMatchObject({
      message: expect.stringMatching(/Set `ocr` to local or mistral(?!.*MISTRAL_API_KEY)/),
    });
  });
});
