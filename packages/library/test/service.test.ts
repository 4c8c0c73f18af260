import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openLibrary } from "../src/library.ts";
import { library } from "../src/service.ts";
import { Collections } from "../src/service/collections.ts";
import { settingsOf } from "../src/settings.ts";
import { openService, startService } from "../../toolyard/servers/shared/service.ts";
import { CLEAR_IDEAS } from "./books.ts";

let yard: string;
let hub: Awaited<ReturnType<typeof openService>>;

const environment = (): Record<string, string> => ({
  LIBRARY_ROOTS: join(yard, "books"),
  TOOLYARD_HOME: yard,
  TOOLYARD_LOGGING_LEVEL: "error",
});

beforeAll(async () => {
  yard = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-library-")));
  mkdirSync(join(yard, "books"));
  vi.stubEnv("TOOLYARD_HOME", yard);
  writeFileSync(join(yard, "books", "clear.md"), CLEAR_IDEAS);
  writeFileSync(join(yard, "secret.md"), CLEAR_IDEAS);
  hub = await openService(library, { environment: environment() });
});
beforeEach(async () => {
  const { documents } = (await call("list_documents")) as { documents: { source_id: string }[] };
  for (const { source_id } of documents) await call("delete_document", { source_id, confirm: true });
});
afterAll(async () => {
  await hub.close();
  vi.unstubAllEnvs();
  rmSync(yard, { recursive: true, force: true });
});

/** Returns the structured content of a successful call. */
async function call(tool: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const outcome = await hub.call(tool, args);
  expect(outcome).toMatchObject({ ok: true });
  return (outcome as unknown as { result: { structuredContent: Record<string, unknown> } }).result.structuredContent;
}

const add = () => call("add_documents", { paths: ["clear.md"], metadata: { edition: "first" } });

describe("the nine tools", () => {
  test("R25: the tool call in the requirements returns at most five passages by that author", async () => {
    await add();
    const args = { query: "What is nominalism?", limit: 5, author_filter: "Charles Sanders Peirce" };
    const { results, total_count, query } = (await call("search_chunks", args)) as { results: object[] } & Record<
      string,
      unknown
    >;
    expect([total_count, query]).toEqual([results.length, "What is nominalism?"]);
    expect(results[0]).toMatchObject({
      text: expect.stringContaining("Nominalism denies"),
      similarity: expect.any(Number),
      source_id: "clear",
      section_path: "On Clear Ideas › Truth",
      work_title: "On Clear Ideas",
      work_author: "Peirce, Charles Sanders",
      order_index: 1,
      canonical_reference: "Peirce, Charles Sanders, On Clear Ideas (1878)",
    });
  });

  test.each([
    ["an empty question", { query: "" }],
    ["a question of more than 1,000 characters", { query: "a".repeat(1_001) }],
    ["a limit beyond 500", { query: "a", limit: 501 }],
    ["a language that is none", { query: "a", language_filter: "klingon!" }],
  ])("R20: refuses %s as invalid parameters", async (_what, args) => {
    expect(await hub.call("search_chunks", args)).toMatchObject({ ok: false, kind: "invalid_params" });
  });

  test.each<[string, Record<string, unknown>]>([
    ["an empty author", { author_filter: "" }],
    ["an author of spaces", { author_filter: "  " }],
    ["null for every filter", { author_filter: null, work_filter: null, language_filter: null }],
    ["a limit as text", { limit: "5" }],
    ["initials of the author", { author_filter: "C. S. Peirce" }],
    ["a part of the title", { work_filter: "clear ideas" }],
  ])("R20: search_chunks accepts %s", async (_case, args) => {
    await add();
    const { results } = await call("search_chunks", { query: "What is nominalism?", ...args });
    expect((results as object[])[0]).toMatchObject({ chunk_id: "clear#1" });
  });

  test("R20: search_chunks returns no results and lists near misses for a question without an answer", async () => {
    await add();
    const answer = await call("search_chunks", { query: "chocolate cake recipes of law firms in Paris" });
    expect(answer).toMatchObject({
      results: [],
      total_count: 0,
      near_misses: expect.arrayContaining([
        {
          chunk_id: "clear#1",
          canonical_reference: "Peirce, Charles Sanders, On Clear Ideas (1878)",
          section_path: "On Clear Ideas › Truth",
          score: expect.any(Number),
        },
      ]),
    });
  });

  test("R20: the text of an answer names each document once and omits repeated fields", async () => {
    await add();
    const outcome = await hub.call("search_chunks", { query: "What is nominalism?" });
    const { content } = (outcome as unknown as { result: { content: { text: string }[] } }).result;
    const answer = JSON.parse(content[0]!.text);
    expect(answer).toEqual({
      results: [
        {
          text: expect.stringContaining("Nominalism denies"),
          similarity: expect.any(Number),
          score: expect.any(Number),
          chunk_id: "clear#1",
          work_author: "Peirce, Charles Sanders",
          work_title: "On Clear Ideas",
          section_path: "Truth",
        },
      ],
      total_count: 1,
      query: "What is nominalism?",
      matches: expect.any(Number),
      documents: {
        clear: { reference: "Peirce, Charles Sanders, On Clear Ideas (1878)", link: expect.stringMatching(/^file:/) },
      },
    });
  });

  test("add_documents reports the warnings of each document", async () => {
    writeFileSync(
      join(yard, "books", "latin.txt"),
      Buffer.from("Un texte qui a été écrit il y a longtemps.", "latin1"),
    );
    const { sources } = await call("add_documents", { paths: ["clear.md", "latin.txt"] });
    expect(sources).toEqual([
      expect.not.objectContaining({ warnings: expect.anything() }),
      expect.objectContaining({ warnings: [expect.stringContaining("Windows-1252")] }),
    ]);
    rmSync(join(yard, "books", "latin.txt"));
  });

  test("R21: parse_pdf reads a file and returns the document's metadata and counts", async () => {
    expect(await call("parse_pdf", { pdf_path: "clear.md" })).toMatchObject({
      success: true,
      document_name: "On Clear Ideas",
      source_id: "clear",
      pages: 0,
      chunks_count: 2,
      cost_ocr: 0,
      cost_total: 0,
      metadata: { title: "On Clear Ideas", author: "Peirce, Charles Sanders", language: "en", year: 1878 },
    });
  });

  test("R21: parse_pdf of an unreadable file fails with the reason", async () => {
    writeFileSync(join(yard, "books", "broken.pdf"), "%PDF-1.7 and no more");
    const outcome = await hub.call("parse_pdf", { pdf_path: "broken.pdf" });
    expect(outcome).toMatchObject({ ok: false, kind: "tool_error" });
    expect(JSON.stringify(outcome)).toContain("PDF_PROCESSING_ERROR");
  });

  test("R22: lists documents, shows them with their chunks, and finds them by author", async () => {
    await add();
    expect(await call("list_documents")).toMatchObject({
      documents: [{ source_id: "clear", chunks_count: 2 }],
      total_count: 1,
    });
    expect(await call("get_document", { source_id: "clear", include_chunks: true, chunk_limit: 1 })).toMatchObject({
      document: { source_id: "clear", edition: "first", year: 1878 },
      chunks: [{ similarity: 1, order_index: 0 }],
      chunks_total: 2,
      found: true,
    });
    expect(
      await call("get_chunks_by_document", { source_id: "clear", section_filter: "On Clear Ideas › Tr" }),
    ).toMatchObject({
      chunks: [{ order_index: 1 }],
      total_count: 1,
      document_source_id: "clear",
    });
    expect(await call("filter_by_author", { author: "peirce" })).toMatchObject({
      works: [{ work: { title: "On Clear Ideas" }, total_chunks: 2 }],
      total_works: 1,
      total_documents: 1,
      total_chunks: 2,
    });
    expect(await call("search_summaries", { query: "truth", min_level: 1, max_level: 1 })).toMatchObject({
      results: [{ level: 1, document_source_id: "clear", title: "On Clear Ideas" }],
    });
  });

  test("R22: get_document returns found: false for an unknown document; get_chunks_by_document fails", async () => {
    expect(await call("get_document", { source_id: "none" })).toMatchObject({ document: null, found: false });
    expect(await hub.call("get_chunks_by_document", { source_id: "none" })).toMatchObject({ ok: false });
  });

  test("R22: deletes nothing without a confirmation, and the whole document with one", async () => {
    await add();
    expect(await call("delete_document", { source_id: "clear" })).toEqual({
      success: false,
      source_id: "clear",
      chunks_deleted: 0,
      summaries_deleted: 0,
      error: "Confirmation required: set confirm=True to delete the document",
    });
    expect(await call("delete_document", { source_id: "clear", confirm: true })).toMatchObject({
      success: true,
      chunks_deleted: 2,
    });
    expect(await call("list_documents")).toMatchObject({ total_count: 0 });
  });

  test("R22: ping answers, also under its full name", async () => {
    expect(await hub.call("ping", {})).toMatchObject({ ok: true });
  });
});

describe("quotations", () => {
  test("find_text returns the position of a quotation, and get_passage the passages around it", async () => {
    await add();
    expect(await call("find_text", { quote: "nobody takes another for it" })).toMatchObject({
      found: true,
      places: [{ source_id: "clear", citation: "Peirce, Charles Sanders, On Clear Ideas (1878)" }],
    });
    expect(await call("get_passage", { chunk_id: "clear#1", after: 0 })).toMatchObject({
      passage: { chunk_id: "clear#1" },
      passages: [{ chunk_id: "clear#0" }, { chunk_id: "clear#1" }],
    });
  });

  test("refuses an invalid id with an example", async () => {
    expect(await hub.call("get_passage", { chunk_id: "clear" })).toMatchObject({ ok: false, kind: "invalid_params" });
  });
});

describe("jobs", () => {
  const ended = async (id: unknown) => {
    const status = () => call("ingest_status", { job_id: id });
    await expect.poll(async () => (await status())["state"], { timeout: 30_000 }).toBe("done");
    return status();
  };

  test("R21: add_documents with wait: false returns immediately, and ingest_status returns the outcome", async () => {
    const begun = await call("add_documents", { paths: ["clear.md"], wait: false });
    expect(begun).toMatchObject({ job_id: expect.any(String) as string, done: 0, total: 1, sources: [] });
    expect(await ended(begun["job_id"])).toMatchObject({
      done: 1,
      sources: [{ status: "added", source_id: "clear", chunks_count: 2 }],
    });
    expect(await call("ingest_status")).toMatchObject({
      jobs: expect.arrayContaining([expect.objectContaining({ job_id: begun["job_id"], state: "done" })]) as unknown,
    });
  });

  test.each([
    [{ paths: ["."] }],
    [{ globs: ["**/*"] }],
    [{ globs: ["many/**/*.md"] }],
    [{ paths: ["many", "clear.md"] }],
  ])("R21: add_documents of a large tree, %j, returns a job within the caller's time limit", async (given) => {
    for (let folder = 0; folder < 5; folder += 1) {
      mkdirSync(join(yard, "books", "many", String(folder)), { recursive: true });
      for (let file = 0; file < 4; file += 1)
        writeFileSync(join(yard, "books", "many", String(folder), `${file}.md`), `# Note ${folder} ${file}\n\nText.\n`);
    }
    // The remaining time of the caller is too short to wait for anything.
    const outcome = await hub.call("add_documents", given, { meta: { "toolyard/remaining-ms": 1_000 } });
    const { structuredContent: told } = (
      outcome as unknown as { result: { structuredContent: Record<string, unknown> } }
    ).result;
    expect(told).toMatchObject({ job_id: expect.any(String) as string, sources: expect.any(Array) as unknown });
    expect(await ended(told["job_id"])).toMatchObject({ state: "done" });
    expect(Number((await ended(told["job_id"]))["done"])).toBeGreaterThanOrEqual(20);
    rmSync(join(yard, "books", "many"), { recursive: true });
  });

  test("R21: parse_pdf returns a running job before the caller's time limit, and continues", async () => {
    const meta = { "toolyard/remaining-ms": 1_000 };
    const outcome = await hub.call("parse_pdf", { pdf_path: "clear.md" }, { meta });
    const { structuredContent: told } = (
      outcome as unknown as { result: { structuredContent: Record<string, unknown> } }
    ).result;
    expect(told).toMatchObject({
      success: false,
      error: "still running",
      pages: 0,
      job_id: expect.any(String) as string,
    });
    expect(await ended(told["job_id"])).toMatchObject({ sources: [{ status: "added", source_id: "clear" }] });
  });

  test('ocr: "force" fails without an OCR provider; ocr: "off" adds the document', async () => {
    expect(await call("add_documents", { paths: ["clear.md"], ocr: "force" })).toMatchObject({
      sources: [{ status: "failed", code: "OCR_UNAVAILABLE" }],
    });
    expect(await call("add_documents", { paths: ["clear.md"], ocr: "off" })).toMatchObject({
      sources: [{ status: "added" }],
    });
    expect(await hub.call("add_documents", { paths: ["clear.md"], ocr: "maybe" })).toMatchObject({
      kind: "invalid_params",
    });
  });

  test("ingest_status fails for an unknown job", async () => {
    expect(await hub.call("ingest_status", { job_id: "none" })).toMatchObject({ ok: false, kind: "tool_error" });
    expect(await hub.call("add_documents", {})).toMatchObject({ ok: false, kind: "invalid_params" });
  });
});

describe("collections", () => {
  test("finds a document of a collection only in that collection, also after a restart of the service", async () => {
    const environmentOfOwn = { ...environment(), LIBRARY_FILE: join(yard, "shelves", "books.db") };
    const own = await openService(library, { environment: environmentOfOwn });
    const sources = async (from: typeof own, collection?: string) => {
      const outcome = await from.call("search_chunks", { query: "nominalism", ...(collection && { collection }) });
      return JSON.stringify(outcome).includes("Nominalism denies");
    };
    await own.call("add_documents", { paths: ["clear.md"], collection: "scholars" });
    expect([await sources(own, "scholars"), await sources(own)]).toEqual([true, false]);
    await own.close();
    expect(readdirSync(join(yard, "shelves"))).toContain("books.scholars.db");
    const environmentOfScholars = { ...environmentOfOwn, LIBRARY_COLLECTION: "scholars" };
    const scholars = await openService(library, { environment: environmentOfScholars });
    expect([await sources(scholars), await sources(scholars, "main")]).toEqual([true, false]);
    await scholars.close();
  });

  test.each([
    ["search_chunks", { query: "a" }],
    ["list_documents", {}],
    ["ingest_status", {}],
    ["delete_document", { source_id: "clear", confirm: true }],
  ])("%s fails for an unknown collection and does not create it", async (tool, args) => {
    const outcome = await hub.call(tool, { ...args, collection: "none" });
    expect(outcome).toMatchObject({ ok: false, kind: "tool_error" });
    expect(JSON.stringify(outcome)).toContain("There is no collection");
    expect(readdirSync(join(yard, "data/library")).filter((name) => name.includes("none"))).toEqual([]);
  });

  test.each(["../main", "a.b", "A", "", "a".repeat(32)])(
    "refuses %j as the name of a collection",
    async (collection) => {
      const outcome = await hub.call("add_documents", { paths: ["clear.md"], collection });
      expect(outcome).toMatchObject({ ok: false, kind: "invalid_params" });
    },
  );

  test("closes the collection that was unused for longest; refuses another if all are in use", async () => {
    const open = (most: number, restMs: number) => {
      const folder = join(yard, `many-${restMs}`);
      const of = (name = "own") => openLibrary({ file: join(folder, `${name}.db`), folder: join(folder, name) });
      return new Collections({ own: "main", most, restMs, open: of });
    };
    await using resting = open(2, 0);
    const first = await resting.open("a", true);
    for (const name of ["b", "c"]) await resting.open(name, true);
    await expect(first.documents({}, { limit: 1, offset: 0 })).rejects.toThrow();
    expect(await resting.open("a")).not.toBe(first);
    const [one, same] = await Promise.all([resting.open("d", true), resting.open("d", true)]);
    expect(one).toBe(same);
    await using busy = open(1, 60_000);
    await busy.open("a", true);
    await expect(busy.open("b", true)).rejects.toMatchObject({ code: "STORE_BUSY" });
  });
});

describe("permitted files", () => {
  test("reads a file in an open folder; refuses a file outside it, also through a link or `..`", async () => {
    symlinkSync(join(yard, "secret.md"), join(yard, "books", "link.md"));
    expect(await call("parse_pdf", { pdf_path: "clear.md" })).toMatchObject({ success: true });
    for (const path of [join(yard, "secret.md"), "../secret.md", "link.md", "/proc/self/environ", "/none"])
      expect(await hub.call("parse_pdf", { pdf_path: path })).toMatchObject({ ok: false, kind: "denied" });
  });

  test("reads a file outside the open folders if the user added it again, but not the files next to it", async () => {
    const own = join(yard, "own.md");
    writeFileSync(own, CLEAR_IDEAS.replace("Old books", "New books"));
    {
      const { store, folder } = settingsOf(environment());
      await using person = await openLibrary({ store, folder });
      await person.add({ path: own, isByPerson: true });
    }
    writeFileSync(own, CLEAR_IDEAS.replace("Old books", "Some books"));
    expect(await call("parse_pdf", { pdf_path: own })).toMatchObject({ success: true, status: "updated" });
    expect(await hub.call("parse_pdf", { pdf_path: join(yard, "secret.md") })).toMatchObject({ kind: "denied" });
    rmSync(own);
    symlinkSync(join(yard, "secret.md"), own);
    expect(await hub.call("parse_pdf", { pdf_path: own })).toMatchObject({ kind: "denied" });
  });

  test("names the missing setting in the refusal if no folder is open", async () => {
    const bare = await openService(library, { environment: { TOOLYARD_HOME: yard, TOOLYARD_LOGGING_LEVEL: "error" } });
    const outcome = await bare.call("parse_pdf", { pdf_path: "clear.md" });
    await bare.close();
    expect(outcome).toMatchObject({ ok: false, kind: "denied" });
    expect(JSON.stringify(outcome)).toContain("below [library] of toolyard.toml");
  });
});

test("R23: a client of the official SDK finds a passage over HTTP", async () => {
  await add();
  await using running = await startService(library, { environment: environment(), port: 0 });
  const client = new Client({ name: "scholar", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(running.served.endpoint)));
  const { structuredContent } = await client.callTool({ name: "search_chunks", arguments: { query: "nominalism" } });
  const [best] = (structuredContent as { results: object[] }).results;
  expect(best).toMatchObject({ source_id: "clear", similarity: expect.any(Number) as number });
  await client.close();
});
