import { describe, expect, test } from "vitest";
import { Desk } from "../../../test/cli/harness.ts";
import { CLEAR_IDEAS, OEUVRE } from "./books.ts";

const BOOKS = { "books/clear.md": CLEAR_IDEAS, "books/fr/oeuvre.md": OEUVRE, "books/.hidden.md": CLEAR_IDEAS };

describe("toolyard library", () => {
  test("reads a folder, finds a passage in it and prints the passage's document and page", async () => {
    await using desk = await Desk.create(BOOKS);
    expect(await desk.run(["library", "add", "books"])).toMatchObject({
      code: 0,
      stdout: "added      clear (2 passages)\nadded      oeuvre (1 passage)\n",
    });
    const { code, stdout } = await desk.run(["library", "search", "What", "is", "nominalism?", "--author", "Peirce"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Peirce, Charles Sanders, On Clear Ideas (1878)")]);
    expect(stdout).toContain("Nominalism denies");
    expect(stdout).toContain(`file://${desk.path("books/clear.md")}`);
  });

  test("adds a document to another collection, and prints warnings in the JSON output", async () => {
    await using desk = await Desk.create({ ...BOOKS, "books/front.md": "---\ntitle: [\n---\nA text with words.\n" });
    const options = ["--collection", "scholars", "--ocr", "off", "--json"];
    const { code, stdout } = await desk.run(["library", "add", "books/clear.md", "books/front.md", ...options]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      sources: [{ status: "added", source_id: "clear" }, { warnings: [expect.stringContaining("front matter")] }],
    });
    expect(await desk.run(["library", "list", "--json"])).toMatchObject({ stdout: expect.stringContaining("[]") });
    const env = { LIBRARY_COLLECTION: "scholars" };
    expect((await desk.run(["library", "list"], { env })).stdout).toContain("On Clear Ideas");
  });

  test("adds the files that a pattern matches, and refuses a private address with the reason", async () => {
    await using desk = await Desk.create(BOOKS);
    expect(await desk.run(["library", "add", "books/**/o*.md"])).toMatchObject({
      code: 0,
      stdout: "added      oeuvre (1 passage)\n",
    });
    const { code, stderr } = await desk.run(["library", "add", "https://127.0.0.1/a.md"]);
    expect(code).toBe(1);
    expect(stderr).toContain("https://127.0.0.1/a.md");
  });

  test("C47: prints French in a French locale; JSON output is the same in every locale", async () => {
    await using desk = await Desk.create({ ...BOOKS, "books/broken.pdf": "no PDF" });
    const env = { LC_ALL: "fr_FR.UTF-8" };
    const { stdout, stderr } = await desk.run(["library", "add", "books"], { env });
    expect(stdout).toBe("ajouté     clear (2 passages)\najouté     oeuvre (1 passage)\n");
    expect(stderr).toMatch(/^échec .*broken\.pdf: Le fichier n’est pas un PDF\. \(/u);
    const listed = await desk.run(["library", "add", "books/clear.md", "--json"], { env });
    expect(JSON.parse(listed.stdout)).toMatchObject({ sources: [{ status: "unchanged", source_id: "clear" }] });
  });

  test("prints a message when a search has no result, and exits with 1", async () => {
    await using desk = await Desk.create(BOOKS);
    expect(await desk.run(["library", "search", "anything"])).toMatchObject({ code: 1, stdout: "" });
  });

  test("reports a file that cannot be read, reads the other files, and exits with 1", async () => {
    await using desk = await Desk.create({ ...BOOKS, "books/broken.pdf": "no PDF" });
    const { code, stdout, stderr } = await desk.run(["library", "add", "books"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("added      clear")]);
    expect(stderr).toContain("It is not a PDF");
  });

  test("lists, shows and removes documents; reports an unknown document", async () => {
    await using desk = await Desk.create(BOOKS);
    await desk.run(["library", "add", "books"]);
    const { documents } = JSON.parse((await desk.run(["library", "list", "--json"])).stdout);
    expect(documents.map(({ source_id }: { source_id: string }) => source_id)).toEqual(["clear", "oeuvre"]);
    expect((await desk.run(["library", "show", "clear"])).stdout).toContain("    Truth");
    expect(await desk.run(["library", "remove", "clear"])).toMatchObject({ code: 0 });
    expect(await desk.run(["library", "remove", "clear"])).toMatchObject({ code: 1, stdout: "" });
  });

  test.each([
    [["library", "add", "none.md"], "none.md is not there"],
    [["library", "search", "a", "--limit", "0"], "--limit must be a whole number from 1 to 500"],
    [["library", "add", "books", "--ocr", "always"], "auto"],
    [["library", "add", "books", "--collection", "Bad Name"], "small letters, digits and underscores"],
    [["library", "add", "books", "--year", "long ago"], "--year must be a whole number"],
  ])("refuses %j with the reason", async (words, message) => {
    await using desk = await Desk.create(BOOKS);
    const { code, stderr } = await desk.run(words);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
