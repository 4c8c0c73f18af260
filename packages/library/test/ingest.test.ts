import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { anyFile, openFolders } from "../src/documents/open-folders.ts";
import { DocumentError } from "../src/documents/document-error.ts";
import { Jobs, type SourceSearch } from "../src/ingest/jobs.ts";
import { Lease } from "../src/ingest/lease.ts";
import { MistralOcr } from "../src/ingest/mistral-ocr.ts";
import { sourcesOf } from "../src/ingest/sources.ts";
import { openLibrary, type Library, type LibraryOptions } from "../src/library.ts";
import { CLEAR_IDEAS, OEUVRE } from "./books.ts";
import { scanOf } from "./scans.ts";
import { Shelf } from "./shelf.ts";

let shelf: Shelf;
let library: Library;

const path = (name: string): string => shelf.path(name);
const write = (name: string, content: string | Uint8Array): string => shelf.write(name, content);
/** Opens another library with these options. */
const open = (options: Partial<LibraryOptions>): Promise<Library> =>
  openLibrary({ file: path("other.db"), folder: path("other"), ...options });

beforeAll(async () => {
  shelf = await Shelf.open();
  ({ library } = shelf);
});
beforeEach(async () => {
  await shelf.empty();
  mkdirSync(path("books/deep"), { recursive: true });
});
afterAll(() => shelf[Symbol.asyncDispose]());

describe("sources", () => {
  const policy = () => ({ files: openFolders([path("books")]), allowUrls: false });

  test("a pattern matches files of the open folders, recursively or in one folder", async () => {
    for (const name of ["books/a.md", "books/deep/b.md", "books/deep/c.txt"]) write(name, CLEAR_IDEAS);
    const found = async (pattern: string) =>
      (await sourcesOf([pattern], policy())).map(
        (source) => "path" in source && source.path.slice(path("books/").length),
      );
    expect(await found("**/*.md")).toEqual(["a.md", "deep/b.md"]);
    expect(await found("*.md")).toEqual(["a.md"]);
    expect(await found("deep/?.{md,txt}")).toEqual(["deep/b.md", "deep/c.txt"]);
  });

  test("explains relative paths if a path repeats the open folder's name; `.` reads the whole folder", async () => {
    write("books/a.md", CLEAR_IDEAS);
    expect(await sourcesOf(["."], policy())).toEqual([expect.objectContaining({ path: path("books/a.md") })]);
    await expect(sourcesOf(["books"], policy())).rejects.toMatchObject({
      code: "DOCUMENT_NOT_FOUND",
      message: expect.stringMatching(/^books is not there: .* start from the first open folder, books\. .*"\."/),
    });
  });

  test.each([
    ["a pattern that leads out", "../*", "ACCESS_DENIED"],
    ["a pattern of another folder", "/etc/*", "ACCESS_DENIED"],
    ["a pattern of a hundred stars", "*a".repeat(100), "VALIDATION_ERROR"],
    ["an address where none is asked", "https://example.com/a.pdf", "ACCESS_DENIED"],
    ["an address of a file", "file:///etc/passwd", "VALIDATION_ERROR"],
    ["an address without encryption", "http://example.com/a.pdf", "VALIDATION_ERROR"],
    ["an address with a user", "https://me:secret@example.com/", "VALIDATION_ERROR"],
    ["data that calls itself an address", "data:text/html,a", "VALIDATION_ERROR"],
  ])("refuses %s", async (_what, given, code) => {
    await expect(sourcesOf([given], policy())).rejects.toMatchObject({ code });
  });

  test("a pattern does not follow a link that leaves the open folders", async () => {
    write("secret.md", CLEAR_IDEAS);
    symlinkSync(path("secret.md"), path("books/link.md"));
    expect(await sourcesOf(["*.md"], policy())).toEqual([]);
  });

  test("the user of the command line can add any file and any address", async () => {
    write("books/a.md", CLEAR_IDEAS);
    const person = { files: anyFile(shelf.folder), allowUrls: true };
    expect(await sourcesOf(["books", "https://example.com/a.pdf#page=2"], person)).toEqual([
      { path: path("books/a.md") },
      { url: "https://example.com/a.pdf" },
    ]);
  });
});

describe("addresses", () => {
  const download: LibraryOptions["download"] = async (url) => ({
    url,
    mime: "text/markdown",
    body: Buffer.from(OEUVRE),
  });

  test("reads the document at a URL by its content type, and cites the URL", async () => {
    await using own = await open({ download });
    const { document, status } = await own.add({ url: "https://example.com/texts/real" });
    expect([status, document.uri, document.sourceId]).toEqual(["added", "https://example.com/texts/real", "real"]);
    expect((await own.add({ url: "https://example.com/texts/real" })).status).toBe("unchanged");
  });

  test.each(["https://127.0.0.1/a.md", "https://localhost/a.md", "https://169.254.169.254/latest", "https://[::1]/a"])(
    "S10: refuses %s, which is not a public address, without a request",
    async (url) => {
      await expect(library.add({ url })).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    },
  );
});

describe("jobs", () => {
  test("reports each source, and reads the others if one fails", async () => {
    const sources = [{ path: write("a.md", CLEAR_IDEAS) }, { path: path("none.md") }, { path: write("b.md", OEUVRE) }];
    const { job_id: id } = await library.jobs.begin({ sources });
    expect(await library.jobs.ended(id)).toMatchObject({
      state: "done",
      done: 3,
      sources: [{ status: "added" }, { status: "failed", code: "DOCUMENT_NOT_FOUND" }, { status: "added" }],
    });
    expect(await library.jobs.report(id)).toMatchObject({ state: "done" });
  });

  test("resumes the job of a process that exited, without reading its finished files again", async () => {
    const sources = [{ path: write("a.md", CLEAR_IDEAS) }, { path: write("b.md", OEUVRE) }];
    mkdirSync(path("jobs"), { recursive: true });
    const kept = {
      id: "left",
      created: "2026-01-01T00:00:00.000Z",
      // No process has this id.
      owner: { pid: 2 ** 30, host: hostname() },
      sources,
      reports: [{ source: path("a.md"), status: "added" }],
      state: "running",
    };
    write("jobs/left.json", JSON.stringify(kept));
    expect(await library.jobs.resume()).toBe(1);
    expect(await library.jobs.ended("left")).toMatchObject({ state: "done", done: 2 });
    expect([await library.find("a"), (await library.find("b"))?.sourceId]).toEqual([undefined, "b"]);
  });

  test("does not resume a job of a running process", async () => {
    const jobs = new Jobs(path("others"), () => Promise.reject(new Error("not asked")));
    mkdirSync(path("others"));
    const owner = { pid: process.ppid, host: hostname() };
    const kept = { id: "theirs", created: "", owner, sources: [], reports: [], state: "running" };
    write("others/theirs.json", JSON.stringify(kept));
    expect(await jobs.resume()).toBe(0);
    await jobs[Symbol.asyncDispose]();
  });

  describe("jobs that begin with a search for files", () => {
    const search = (found: Promise<readonly { path: string }[]>, cancelled: unknown[] = []): SourceSearch => {
      found.catch(() => {});
      return { name: "looking for files", found, cancel: (reason) => void cancelled.push(reason) };
    };

    test("return an id immediately, and read the files that the search finds", async () => {
      let find!: (found: readonly { path: string }[]) => void;
      const sources = search(new Promise((found) => (find = found)));
      const begun = await library.jobs.begin({ sources });
      expect(begun).toMatchObject({ job_id: expect.any(String) as string, done: 0, total: 0 });
      await expect
        .poll(async () => library.jobs.report(begun.job_id))
        .toMatchObject({ state: "running", at: { source: "looking for files" } });
      find([{ path: write("a.md", CLEAR_IDEAS) }]);
      expect(await library.jobs.ended(begun.job_id)).toMatchObject({ state: "done", done: 1, total: 1 });
    });

    test("report why the search finds no file", async () => {
      const sources = search(Promise.reject(new DocumentError("TOO_LARGE", "Too many files.")));
      const { job_id: id } = await library.jobs.begin({ sources });
      expect(await library.jobs.ended(id)).toMatchObject({
        state: "done",
        sources: [{ source: "looking for files", status: "failed", code: "TOO_LARGE", error: "Too many files." }],
      });
    });

    test("stop their search when they are cancelled", async () => {
      const cancelled: unknown[] = [];
      let end!: (reason: unknown) => void;
      const found = new Promise<never>((_, failed) => (end = failed));
      const sources = { ...search(found), cancel: (reason: unknown) => (cancelled.push(reason), end(reason)) };
      const { job_id: id } = await library.jobs.begin({ sources });
      library.jobs.cancel(id);
      expect(await library.jobs.ended(id)).toMatchObject({ state: "cancelled", total: 0 });
      expect(cancelled).toHaveLength(1);
    });

    test("are cancelled, not resumed, if their process exited during the search for files", async () => {
      mkdirSync(path("jobs"), { recursive: true });
      const owner = { pid: 2 ** 30, host: hostname() };
      const kept = { id: "lost", created: "", owner, sources: [], isSearching: true, reports: [], state: "running" };
      write("jobs/lost.json", JSON.stringify(kept));
      expect(await library.jobs.resume()).toBe(0);
      expect(await library.jobs.report("lost")).toMatchObject({ state: "cancelled" });
    });
  });

  test("a cancelled job stops reading", async () => {
    const { job_id: id } = await library.jobs.begin({ sources: [{ path: write("a.md", CLEAR_IDEAS) }] });
    library.jobs.cancel(id);
    expect(await library.jobs.ended(id)).toMatchObject({ state: "cancelled" });
    expect(await library.find("a")).toBeUndefined();
  });
});

describe("watching", () => {
  test("reads a new file in the folder, and does not add a removed document again", async () => {
    write("books/a.md", CLEAR_IDEAS);
    await using own = await open({});
    await own.watch([path("books")]);
    await expect.poll(() => own.find("a")).toBeDefined();
    await own.remove("a");
    write("books/b.md", OEUVRE);
    write("books/a.md", CLEAR_IDEAS.replace("Nominalism", "Realism"));
    await expect.poll(() => own.find("b")).toBeDefined();
    await expect.poll(async () => (await own.jobs.reports()).every(({ state }) => state === "done")).toBe(true);
    expect(await own.find("a")).toBeUndefined();
    expect((await own.add({ path: path("books/a.md") })).status).toBe("added");
  });

  test("does not follow a link in a watched folder", async () => {
    write("secret.md", OEUVRE);
    write("books/a.md", CLEAR_IDEAS);
    await using own = await open({});
    await own.watch([path("books")]);
    symlinkSync(path("secret.md"), path("books/link.md"));
    write("books/b.md", CLEAR_IDEAS.replace("Nominalism", "Realism"));
    await expect.poll(() => own.find("b")).toBeDefined();
    await expect.poll(async () => (await own.jobs.reports()).every(({ state }) => state === "done")).toBe(true);
    const sources = (await own.jobs.reports()).flatMap((report) => report.sources);
    expect(sources.map(({ source }) => source)).not.toContainEqual(expect.stringMatching(/link|secret/));
  });

  test("refuses a file that became a link after it was queued", async () => {
    write("secret.md", OEUVRE);
    const source = { path: write("books/a.md", CLEAR_IDEAS) };
    await using own = await open({});
    rmSync(source.path);
    symlinkSync(path("secret.md"), source.path);
    const { job_id: id } = await own.jobs.begin({ sources: [source] });
    expect(await own.jobs.ended(id)).toMatchObject({ sources: [{ status: "failed", code: "ACCESS_DENIED" }] });
  });

  test("one process at a time holds the lease; the lease of an exited process can be taken", async () => {
    const [one, other] = [new Lease(path("lease")), new Lease(path("lease"))];
    expect([await one.take(), await other.take()]).toEqual([true, false]);
    await one.release();
    write("lease", JSON.stringify({ pid: 2 ** 30, host: hostname() }));
    expect(await other.take()).toBe(true);
    await other.release();
  });
});

describe("pictures of text", () => {
  const LINES = ["What anything really is, is what it may", "finally come to be known to be."];
  let server: Server;
  let scan: Buffer;
  let asked: { readonly pages: number[]; readonly key: string | undefined }[];
  /** Number of requests that the service answers with 429 before it accepts one. */
  let refusals = 0;

  beforeAll(async () => {
    scan = await scanOf([LINES]);
  });
  beforeEach(async () => {
    asked = [];
    server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const { pages, model } = JSON.parse(Buffer.concat(pieces).toString()) as { pages: number[]; model: string };
      asked.push({ pages, key: request.headers.authorization });
      if (refusals > 0) {
        refusals -= 1;
        response.writeHead(429, { "retry-after": "0" }).end();
        return;
      }
      const answer = pages.map((index) => ({
        index,
        markdown: `Seen on page ${index}: a truth that agrees with all.`,
      }));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ pages: answer, model, usage_info: { pages_processed: pages.length } }));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  });
  afterEach(() => void server.close());

  const byMistral = () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const mistral = new MistralOcr({ url, key: "secret", price: 0.002, cache: path("ocr") });
    return open({ mistral, ocr: { by: "mistral", when: "auto", languages: ["en"] } });
  };

  test("refuses a scan without OCR, and names the setting to change", async () => {
    await expect(library.add({ path: write("scan.pdf", scan) })).rejects.toMatchObject({ reason: "needs_ocr" });
  });

  test("C41: Mistral reads the pages that need OCR, the cost is reported, and each page is paid for once", async () => {
    await using own = await byMistral();
    const two = write("scan.pdf", await scanOf([LINES, LINES]));
    expect(await own.add({ path: two })).toMatchObject({ status: "added", costOcr: 0.004, ocrPages: 2 });
    expect(asked).toEqual([{ pages: [0, 1], key: "Bearer secret" }]);
    await own.remove("scan");
    expect(await own.add({ path: two })).toMatchObject({ status: "added", costOcr: 0 });
    expect(asked).toHaveLength(1);
    expect(readdirSync(path("ocr"))).toHaveLength(1);
  });

  test("C41: repeats a request after a pause if Mistral refuses it for its rate limit", async () => {
    refusals = 1;
    await using own = await byMistral();
    expect(await own.add({ path: write("scan.pdf", scan) })).toMatchObject({ status: "added", ocrPages: 1 });
    expect(asked).toHaveLength(2);
  });

  test("does not send a scan that was replaced since it was read", async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using mistral = new MistralOcr({ url, key: "secret", cache: path("ocr") });
    const wanted = { mime: "application/pdf", contentHash: "0".repeat(64), pages: [1] };
    const reading = mistral.read(write("scan.pdf", scan), wanted, new AbortController().signal);
    await expect(reading).rejects.toMatchObject({ code: "OCR_UNAVAILABLE" });
    expect(asked).toEqual([]);
  });

  test("rejects with OCR_UNAVAILABLE if the OCR service is unreachable, and stores no document", async () => {
    await using own = await byMistral();
    server.close();
    server.closeAllConnections();
    await expect(own.add({ path: write("scan.pdf", scan) })).rejects.toMatchObject({ code: "OCR_UNAVAILABLE" });
    expect(await own.find("scan")).toBeUndefined();
  });

  test("C41: reads a scan with local OCR, letter by letter, with its page", async () => {
    await using own = await open({ ocr: { by: "local", when: "auto", languages: ["en"] } });
    const { document, ocrPages } = await own.add({ path: write("scan.pdf", scan) });
    expect([document.pages, ocrPages]).toEqual([1, 1]);
    expect((await own.findQuote(LINES.join(" "))).places).toMatchObject([{ pages: [1, 1] }]);
    // The same page as a JPEG.
    const photo = fileURLToPath(new URL("../../../test/fixtures/library/page.jpg", import.meta.url));
    expect(await own.add({ path: photo })).toMatchObject({ document: { sourceId: "page", pages: 1 }, ocrPages: 1 });
    const found = (await own.findQuote(LINES.join(" "))).places.map(({ document }) => document.sourceId);
    expect(found.toSorted()).toEqual(["page", "scan"]);
  });

  test("an error for missing OCR language data names the file to copy into `ocr_data`", async () => {
    await using own = await open({ ocr: { by: "local", when: "auto", languages: ["fi"] } });
    await expect(own.add({ path: write("scan.pdf", scan) })).rejects.toThrow(
      "Set `ocr_data` to a folder with fin.traineddata",
    );
  });
});
