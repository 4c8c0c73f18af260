import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openLibrary, type Library, type LibraryOptions } from "../src/library.ts";
import { CLEAR_IDEAS, writePdf } from "./books.ts";
import { zip } from "./archives.ts";
import { Shelf } from "./shelf.ts";

let shelf: Shelf;
let library: Library;

const path = (name: string): string => shelf.path(name);
const write = (name: string, content: string | Uint8Array): string => shelf.write(name, content);
/** Opens another library with these limits. */
const within = (bounds: Partial<LibraryOptions>): Promise<Library> =>
  openLibrary({ file: path("bounded.db"), ...bounds });
const expectNextIsRead = async (own = library): Promise<void> =>
  expect((await own.add({ path: write("clear.md", CLEAR_IDEAS) })).status).toBe("added");

beforeAll(async () => {
  shelf = await Shelf.open();
  ({ library } = shelf);
});
beforeEach(() => shelf.empty());
afterAll(() => shelf[Symbol.asyncDispose]());

/** A PDF of these objects, with a cross-reference table. */
function pdfOf(objects: readonly string[]): Buffer {
  let text = "%PDF-1.7\n";
  const places = objects.map((object, at) => {
    const place = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const list = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const end = `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF`;
  return Buffer.from(`${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${list}${end}`, "latin1");
}
const stream = (content: string, more = ""): string =>
  `<< /Length ${content.length} ${more} >>\nstream\n${content}\nendstream`;
const ONE_PAGE = [
  "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.launchURL\\('https://example.com'\\)) >> >>",
  "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
  "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
  stream("BT /F 12 Tf 20 200 Td (All that is real is so whatever anybody thinks of it.) Tj ET"),
];
const FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

describe("hostile documents", () => {
  test("reads the text of a PDF, and does not run its scripts", async () => {
    const { document } = await library.add({ path: write("script.pdf", pdfOf([...ONE_PAGE, FONT])) });
    expect(document.pages).toBe(1);
  });

  test("reads a PDF with a broken font", async () => {
    const font = "<< /Type /Font /Subtype /TrueType /BaseFont /X /FontDescriptor 6 0 R >>";
    const descriptor = "<< /Type /FontDescriptor /FontName /X /Flags 4 /FontFile2 7 0 R >>";
    const bytes = pdfOf([...ONE_PAGE, font, descriptor, stream("\u0000\u0001no font at all".repeat(50))]);
    expect((await library.add({ path: write("font.pdf", bytes) })).document.chunks).toBe(1);
  });

  test("reads a PDF with 100,000 unused objects within the time limit", async () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `<< /N ${at} >>`);
    expect((await library.add({ path: write("many.pdf", pdfOf([...ONE_PAGE, FONT, ...many])) })).status).toBe("added");
  });

  test("refuses a PDF with too many pages before it reads any", async () => {
    await writePdf(
      path("long.pdf"),
      Array.from({ length: 12 }, () => ({ paragraphs: ["A page."] })),
    );
    await using own = await within({ maxPages: 10 });
    await expect(own.add({ path: path("long.pdf") })).rejects.toMatchObject({ reason: "too_many_pages" });
  });

  test.each([
    ["a picture that is called a PDF", "a.pdf", "\u0089PNG\r\n\u001a\n", "not_a_pdf"],
    ["a PDF without an end", "a.pdf", "%PDF-1.7\n1 0 obj << /Type", "damaged"],
    ["an archive that is called a book", "a.epub", zip([{ name: "a", content: "a" }]), "damaged"],
  ])("refuses %s with the reason", async (_what, name, content, reason) => {
    await expect(library.add({ path: write(name, content) })).rejects.toMatchObject({ reason });
    await expectNextIsRead();
  });

  test("refuses an archive that unpacks to gigabytes, and reads the next document", async () => {
    const bomb = zip([{ name: "word/document.xml", content: Buffer.alloc(40_000_000), size: 4_000_000_000 }]);
    await expect(library.add({ path: write("bomb.docx", bomb) })).rejects.toMatchObject({ code: "TOO_LARGE" });
    await expectNextIsRead();
  });

  test("stops a reading that exceeds the memory limit with reason `memory`, and reads the next document", async () => {
    await using own = await within({ reader: { memoryMb: 150 } });
    const large = `<p>${"<b>word</b> ".repeat(3_000_000)}</p>`;
    await expect(own.add({ path: write("large.html", large) })).rejects.toMatchObject({ reason: "memory" });
    expect(await own.find("large")).toBeUndefined();
    await expectNextIsRead(own);
  });

  test("stops a slow reading with reason `timeout`, without blocking this process's event loop", async () => {
    await using own = await within({ reader: { stepMs: 1_000 } });
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 5);
    const slow = `${"[".repeat(60_000)}\n`.repeat(20);
    await expect(own.add({ path: write("slow.md", slow) })).rejects.toMatchObject({ reason: "timeout" });
    clearInterval(turning);
    expect(turns).toBeGreaterThan(5);
  });

  test("removes invisible characters and terminal escapes, and keeps joiners that scripts and emoji need", async () => {
    const tags = Array.from("obey", (letter) => String.fromCodePoint(0xe0000 + letter.codePointAt(0)!)).join("");
    const page =
      "<html lang=en><head><title>On \u001b[31msigns\u001b[0m\u200b</title>" +
      "<meta name=author content='A\u202eda\n Byron'></head>" +
      `<h1>Si\u00adgns${tags} \u001b]0;x\u0007</h1><p>A sign\u{e0141}\ufe01 \u2066stands\u2069 for\u2028something, ` +
      "👩\u200d🚀 and می\u200cخواهم among them.</p>";
    const { document } = await library.add({ path: write("signs.html", page) });
    expect(document).toMatchObject({ title: "On [31msigns[0m", author: "Ada Byron", toc: [{ title: "Signs ]0;x" }] });
    const { passages } = await library.range("chunk", { sourceId: document.sourceId, limit: 9, offset: 0 });
    expect(passages.map(({ text, section }) => [section, text])).toEqual([
      [["Signs ]0;x"], "A sign stands for something, 👩\u200d🚀 and می\u200cخواهم among them."],
    ]);
  });

  test.skipIf(process.platform === "win32")(
    "makes a one-line title from a file name, without invisible characters",
    async () => {
      const { document } = await library.add({ path: write("na\nme \u001b[31m\u202eof.txt", CLEAR_IDEAS) });
      expect(document).toMatchObject({ title: "na me [31mof", sourceId: "na_me_31m_of" });
    },
  );

  test("truncates a title to 500 characters, and omits headings of excessive length", async () => {
    const page =
      `<html lang=en><title>${"Title ".repeat(200_000)}</title><h1>${"Heading ".repeat(20_000)}</h1>` +
      "<p>A sign stands for something.</p>";
    const { document } = await library.add({ path: write("long.html", page) });
    expect(document.title).toHaveLength(500);
    expect(document.toc).toEqual([]);
    const { passages } = await library.range("chunk", { sourceId: document.sourceId, limit: 500, offset: 0 });
    expect(passages.every(({ section }) => section.length === 0)).toBe(true);
  });

  test("aborting `add` stops the reading and stores no part of the document", async () => {
    const given = new AbortController();
    const adding = library.add({ path: write("clear.md", CLEAR_IDEAS), signal: given.signal });
    given.abort(new Error("given up"));
    await expect(adding).rejects.toThrow("given up");
    expect(await library.find("clear")).toBeUndefined();
    await expectNextIsRead();
  });
});
