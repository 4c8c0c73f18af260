import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openLibrary, type Library } from "../src/library.ts";
import type { Embedder } from "../src/search/embedder.ts";
import type { Filter } from "../src/store/store.ts";
import { CLEAR_IDEAS, OEUVRE, writePdf } from "./books.ts";
import { Shelf } from "./shelf.ts";

let shelf: Shelf;
let library: Library;

const path = (name: string): string => shelf.path(name);
const write = (name: string, text: string): string => shelf.write(name, text);
const find = async (query: string, filter: Filter = {}, limit = 5) =>
  (await library.search("chunk", { query, limit, filter, minSimilarity: 0 })).hits;

beforeAll(async () => {
  shelf = await Shelf.open();
  ({ library } = shelf);
});
beforeEach(() => shelf.empty());
afterAll(() => shelf[Symbol.asyncDispose]());

describe("search", () => {
  beforeEach(async () => {
    await library.add({ path: write("clear.md", CLEAR_IDEAS) });
    await library.add({ path: write("oeuvre.md", OEUVRE) });
  });

  test("R25: finds the passage of an author that answers a question, with its section", async () => {
    const [best, ...others] = await find("What is nominalism?", { author: "Charles Sanders Peirce" });
    expect(best!.passage.text).toContain("Nominalism denies");
    expect(best!.passage.section).toEqual(["On Clear Ideas", "Truth"]);
    expect(others.every(({ passage }) => passage.sourceId === "clear")).toBe(true);
  });

  test("R20: returns no results for an unknown author, without an error", async () => {
    expect(await find("What is nominalism?", { author: "Kant" })).toEqual([]);
  });

  test.each<[string, Filter, string[]]>([
    ["the last name alone", { author: "peirce" }, ["clear"]],
    ["a part of a word is no name", { author: "pei" }, []],
    ["the language", { language: "fr" }, ["oeuvre"]],
    ["the work's title, whatever its case", { work: "ON CLEAR IDEAS" }, ["clear"]],
    ["a part of the title", { work: "clear ideas" }, ["clear"]],
    ["a part of a word of a title is no title", { work: "lear" }, []],
    ["the author's initials", { author: "C. S. Peirce" }, ["clear"]],
    ["other initials are another author", { author: "C. B. Peirce" }, []],
  ])("R20: applies filters before ranking: %s", async (_what, filter, sources) => {
    const hits = await find("nominalism nominalisme real réel", filter);
    expect(Array.from(new Set(hits.map(({ passage }) => passage.sourceId)))).toEqual(sources);
  });

  test("finds a French word in another form and without its accents", async () => {
    expect((await find("l'oeuvre du philosophe"))[0]!.passage.sourceId).toBe("oeuvre");
  });

  test("R20: returns results in the same order each time, and at most the limit", async () => {
    const all = (await find("truth real nominalism")).map(({ passage }) => passage.ordinal);
    expect((await find("truth real nominalism")).map(({ passage }) => passage.ordinal)).toEqual(all);
    expect(await find("truth real nominalism", {}, 1)).toHaveLength(1);
  });

  test("returns summaries of the whole document and of its sections", async () => {
    const request = { query: "truth", limit: 10, filter: {}, minSimilarity: 0, levels: [2, 5] as const };
    const { hits } = await library.search("summary", request);
    expect(hits.map(({ passage }) => passage.section.at(-1))).toContain("Truth");
    expect(hits.every(({ passage }) => passage.level >= 2)).toBe(true);
  });

  test("R20: applies the level of a summary before ranking, also among many of other levels", async () => {
    const sections = Array.from(
      { length: 80 },
      (_, at) => `## Section ${at}\n\nTruth is truth and truth, in ${at} words.\n`,
    );
    await library.add({ path: write("long.md", `# Long\n\n${sections.join("\n")}`) });
    const aside = "It rained over the hills and the harbour, and of truth nobody said a word that anybody heard.";
    await library.add({ path: write("aside.txt", aside) });
    const request = { query: "truth", limit: 10, filter: {}, minSimilarity: 0, levels: [1, 1] as const };
    const { hits } = await library.search("summary", request);
    expect(hits.map(({ passage }) => passage.sourceId)).toEqual(expect.arrayContaining(["long", "aside"]));
  });

  test("finds a quotation regardless of its spaces and quotation marks", async () => {
    const { places } = await library.findQuote("nobody   takes ANOTHER for it");
    expect(places).toMatchObject([{ document: { sourceId: "clear" }, text: "nobody takes another for it" }]);
  });

  test("returns the most similar text with the difference for a quotation with changed words", async () => {
    const { places, nearest } = await library.findQuote("Nominalism denies that anything at all is real");
    expect(places).toEqual([]);
    expect(nearest).toMatchObject({
      text: "Nominalism denies that anything general is real",
      similarity: 0.75,
      differences: [{ quote: "at all", document: "general" }],
    });
    expect(nearest?.passage.text).toContain(nearest?.text);
  });
});

describe("adding", () => {
  test("reads the same bytes once, also at another path", async () => {
    expect((await library.add({ path: write("a.md", CLEAR_IDEAS) })).status).toBe("added");
    expect((await library.add({ path: path("a.md") })).status).toBe("unchanged");
    expect((await library.add({ path: write("b.md", CLEAR_IDEAS) })).document.sourceId).toBe("a");
  });

  test("a changed file replaces its earlier document", async () => {
    await library.add({ path: write("a.md", CLEAR_IDEAS) });
    await library.add({ path: write("a.md", CLEAR_IDEAS.replace("Nominalism", "Realism")) });
    expect((await find("nominalism")).length).toBe(0);
    expect((await find("realism")).length).toBe(1);
  });

  test("the caller's metadata overrides the file's metadata, and the origin of each field is recorded", async () => {
    const { document } = await library.add({ path: write("a.md", CLEAR_IDEAS), metadata: { year: 1880 } });
    expect(document).toMatchObject({
      year: 1880,
      title: "On Clear Ideas",
      origins: { year: "caller", title: "front matter" },
    });
  });

  test("takes author and year from the file name if the file has none", async () => {
    const { document } = await library.add({
      path: write("Ada Byron - Notes (1843).txt", "On the engine and its powers."),
    });
    expect(document).toMatchObject({ author: "Ada Byron", title: "Notes", year: 1843 });
  });

  test.each([
    ["nothing in it", "empty.txt", "  \n", "contains no text"],
    ["an ending that is not read", "a.xyz", "text", "are not read"],
    ["bytes that text never contains", "a.txt", "a\0b", "bytes that text never contains"],
    ["a PDF that is none", "a.pdf", "text", "It is not a PDF"],
  ])("refuses a file with the reason: %s", async (_what, name, text, message) => {
    await expect(library.add({ path: write(name, text) })).rejects.toThrow(message);
    expect((await library.documents({}, { limit: 10, offset: 0 })).total).toBe(0);
  });

  test("a removed document is not found; removing it again returns undefined", async () => {
    await library.add({ path: write("a.md", CLEAR_IDEAS) });
    expect(await library.remove("a")).toMatchObject({ chunks: 2 });
    expect(await find("nominalism")).toEqual([]);
    expect(await library.remove("a")).toBeUndefined();
  });

  test("a search finds a document that another process added before the search", async () => {
    await library.add({ path: write("a.md", CLEAR_IDEAS) });
    expect(await find("individus")).toEqual([]);
    await using other = await openLibrary({ file: path("library.db") });
    await other.add({ path: write("b.md", OEUVRE) });
    expect(await find("individus")).toHaveLength(1);
  });
});

describe("PDF", () => {
  const page = (heading: string, text: string) => ({ heading, paragraphs: [text] });

  test("R21: reads pages, headings and metadata of the file, and omits running heads", async () => {
    const pages = [
      page("Of Laws", "A law of nature is general. It holds of what was never seen."),
      page("Of Names", "Whoever takes names for things will be a nominalist, and says so."),
    ];
    await writePdf(path("laws.pdf"), pages, {
      title: "Of Laws and Names",
      author: "A. Writer",
      running: "LAWS AND NAMES",
    });
    const { document } = await library.add({ path: path("laws.pdf") });
    expect(document).toMatchObject({ title: "Of Laws and Names", author: "A. Writer", pages: 2 });
    expect(document.toc).toMatchObject([
      { title: "Of Laws", page: 1 },
      { title: "Of Names", page: 2 },
    ]);
    const [hit] = await find("nominalist");
    expect(hit!.passage).toMatchObject({ section: ["Of Names"], pages: [2, 2] });
    expect(await find("LAWS AND NAMES running")).not.toMatchObject([
      { passage: { text: expect.stringContaining("LAWS AND") } },
    ]);
  });

  test("R21: joins a word that was divided at the end of a line", async () => {
    await writePdf(path("cut.pdf"), [page("Cuts", "The doctrine of nomi-\nnalism was old when it was named.")]);
    await library.add({ path: path("cut.pdf") });
    expect((await find("nominalism"))[0]!.passage.text).toContain("doctrine of nominalism was");
  });

  test("R21: reports the pages with bad OCR text, and no page of ordinary words", async () => {
    const good = "It is a book that I read, and a year later I read it again as I had a day to myself.";
    const bad = "T h e law o f n a t u r e is g e n e r a l and h o l d s o f w h a t was n e v e r s e e n.";
    await writePdf(path("bad.pdf"), [page("Good", good), page("Bad", bad)]);
    const { document } = await library.add({ path: path("bad.pdf") });
    expect(document.warnings).toEqual([expect.stringMatching(/bad OCR: 2\. .*`ocr` force/u)]);
  });

  test("R21: refuses a locked file with reason password_required", async () => {
    await writePdf(path("locked.pdf"), [page("Secret", "Nobody may read that.")], { password: "sesame" });
    await expect(library.add({ path: path("locked.pdf") })).rejects.toMatchObject({ reason: "password_required" });
  });

  test("R21: reports that a file of page images needs OCR", async () => {
    await writePdf(path("scan.pdf"), [{ paragraphs: [] }]);
    await expect(library.add({ path: path("scan.pdf") })).rejects.toMatchObject({ code: expect.any(String) });
  });
});

describe("a library without a file", () => {
  let server: Server;

  beforeEach(async () => {
    const answer = JSON.stringify({ description: "A document library of Toolyard, version 1" });
    server = createServer((_request, response) => response.end(answer)).listen(0, "127.0.0.1");
    await once(server, "listening");
    vi.stubEnv("TMPDIR", path("tmp"));
    vi.stubEnv("TOOLYARD_HOME", path("home"));
    // A file that another user of the machine may have created.
    write("tmp/by-person.jsonl", `${JSON.stringify(pathToFileURL(write("a.txt", "The sea was calm.")).href)}\n`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    server.close();
  });

  test("keeps the list of user-added files in memory, ignoring the file in the shared temporary folder", async () => {
    {
      await using own = await openLibrary({ file: ":memory:" });
      expect(await own.isByPerson({ path: path("a.txt") })).toBe(false);
      await own.add({ path: path("a.txt"), isByPerson: true });
      expect(await own.isByPerson({ path: path("a.txt") })).toBe(true);
    }
    expect(readdirSync(path("tmp"))).toEqual(["by-person.jsonl"]);
  });

  test("on a database server, uses a folder of the current user only", async () => {
    const { port } = server.address() as AddressInfo;
    await using own = await openLibrary({ store: `weaviate+http://127.0.0.1:${port}` });
    expect(await own.isByPerson({ path: path("a.txt") })).toBe(false);
  });
});

describe("vectors", () => {
  /** Embeds texts about animals near to one another, regardless of their words. */
  const ANIMALS = ["cat", "dog", "horse"];
  const embedder: Embedder = {
    id: "animals",
    dimensions: 2,
    calibration: { middle: 0.5, spread: 0.05 },
    embed: async (texts) =>
      texts.map((text) => new Float32Array(ANIMALS.some((word) => text.includes(word)) ? [1, 0] : [0, 1])),
  };

  const open = (id = "animals", languages?: readonly string[]): Promise<Library> =>
    openLibrary({ file: path("vectors.db"), embedder: { ...embedder, id, ...(languages && { languages }) } });
  const near = async (own: Library) =>
    (await own.search("chunk", { query: "dog", limit: 5, filter: {}, minSimilarity: 0.5 })).hits;

  test("C41: finds a passage by its meaning, with a calibrated similarity", async () => {
    await using own = await open();
    await own.add({ path: write("a.txt", "The horse stood still.") });
    await own.add({ path: write("b.txt", "The sea was calm.") });
    expect(await near(own)).toMatchObject([{ similarity: 1, cosine: 1, passage: { sourceId: "a" } }]);
  });

  test("C41: keeps a document without vectors if the embedder does not support its language", async () => {
    await using own = await open("animals", ["en"]);
    await own.add({ path: write("oeuvre.md", OEUVRE.replace("individus", "dog individus")) });
    const [hit] = await near(own);
    expect(hit).toMatchObject({ score: 1, passage: { sourceId: "oeuvre" } });
    expect(hit).not.toHaveProperty("similarity");
    expect(hit).not.toHaveProperty("cosine");
  });

  test("refuses a search over vectors of another embedder, until they are computed again", async () => {
    {
      await using first = await open();
      await first.add({ path: write("a.txt", "The horse stood still.") });
    }
    await using second = await open("other");
    await expect(near(second)).rejects.toMatchObject({ code: "INDEX_MISMATCH" });
    expect(await second.reindex()).toBe(1);
    expect(await near(second)).toHaveLength(1);
  });

  test("refuses a document that is read while another embedder computes all vectors again", async () => {
    await using second = await open("other");
    let made = Promise.resolve(0);
    const slow: Embedder = {
      ...embedder,
      embed: async (texts, what) => {
        await (made = second.reindex());
        return embedder.embed(texts, what);
      },
    };
    await using first = await openLibrary({ file: path("vectors.db"), embedder: slow });
    const reading = first.add({ path: write("a.txt", "The horse stood still.") });
    await expect(reading).rejects.toMatchObject({ code: "INDEX_MISMATCH" });
    expect(await made).toBe(0);
    expect(await second.find("a")).toBeUndefined();
    expect(await second.add({ path: path("a.txt") })).toMatchObject({ status: "added" });
    expect(await near(second)).toHaveLength(1);
  });

  test("C41: the package's own embedder finds an English passage by other words than its own", async () => {
    const { openTableEmbedder } = await import("../src/search/table-embedder.ts");
    await using own = await openLibrary({ file: path("table.db"), embedder: await openTableEmbedder() });
    await own.add({
      path: write("a.txt", "The physician cured the ill child with a new medicine last winter."),
      metadata: { language: "en" },
    });
    await own.add({
      path: write("b.txt", "The ship sailed over the calm sea for eleven days before it met land."),
      metadata: { language: "en" },
    });
    const { hits } = await own.search("chunk", { query: "doctor", limit: 1, filter: {}, minSimilarity: 0 });
    expect(hits[0]!.passage.sourceId).toBe("a");
  });
});
