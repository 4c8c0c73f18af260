import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DocumentError } from "../../src/documents/document-error.ts";
import type { Embedder } from "../../src/search/embedder.ts";
import { openLibrary, type Library } from "../../src/library.ts";
import { writePdf } from "../books.ts";
import { DoomedProcesses } from "./doomed-process.ts";

/** Stages of reading a document, from the request to the next document. */
export const READING_STAGES = [
  "taken on",
  "reading",
  "last page",
  "embedding",
  "embedding summaries",
  "between documents",
] as const;
export type ReadingStage = (typeof READING_STAGES)[number];

const PAGES = 4;
const NAMES = ["first.pdf", "second.pdf"];
const DAMAGED = "damaged.pdf";

/** Two files, and the library that reads them repeatedly. */
export interface Shelf {
  readonly address: string;
  readonly folder: string;
}

/** Returns an embedder that calls `asked` before each request to embed passages. */
export function embedderOf(asked: () => void = () => {}): Embedder {
  return {
    id: "made",
    dimensions: 4,
    embed: async (texts, purpose) => {
      if (purpose === "passage") asked();
      return texts.map((text) => Float32Array.of(text.length % 2, (text.length + 1) % 2, 0, 0));
    },
  };
}

/** A cold start takes as long as reading about twenty documents. */
export const READER = { idleMs: 600_000 };

/** Starts the reader process by reading a file that is not a document. */
export async function getReaderReady(library: Library, folder: string): Promise<void> {
  const refused = await library.add({ path: join(folder, DAMAGED) }).catch((error: Error) => error);
  if (!(refused instanceof DocumentError)) throw new Error(`${DAMAGED} was not refused.`, { cause: refused });
}

/** Reads both files for the first time, with this word as their text. Starts this number of processes in advance. */
export async function openReadingKills(shelf: Shelf, word: string, ahead = 0): Promise<ReadingKills> {
  const { address, folder } = shelf;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, DAMAGED), "%PDF-1.4");
  const library = await openLibrary({ store: address, folder, embedder: embedderOf(), reader: READER });
  try {
    await writeBooks(pathsIn(folder), word);
    for (const path of pathsIn(folder)) await library.add({ path });
  } catch (error) {
    await library[Symbol.asyncDispose]();
    throw error;
  }
  return new ReadingKills(shelf, library, ahead);
}

/** Repeatedly kills and resumes the reading of two files. */
export class ReadingKills implements AsyncDisposable {
  readonly #shelf: Shelf;
  /** Library that resumes the killed jobs. Its reader process is running. */
  readonly #library: Library;
  readonly #processes: DoomedProcesses;

  constructor(shelf: Shelf, library: Library, ahead: number) {
    this.#shelf = shelf;
    this.#library = library;
    this.#processes = new DoomedProcesses("doomed-reading.ts", [shelf.address, shelf.folder], ahead);
  }

  /**
   * Replaces the word in two files that were read, and kills the process that reads them again at the stage. A library
   * opened afterwards must contain each document complete, in either state. Another process must resume the job and
   * store both in their new state.
   */
  async kill(stage: ReadingStage, word: string): Promise<string[]> {
    const paths = pathsIn(this.#shelf.folder);
    await writeBooks(paths, word);
    const { isKilled } = await this.#processes.run([stage, ...paths]);
    if (!isKilled) throw new Error(`The reading was not killed at «${stage}».`);
    const left = await this.#readings();
    const { jobs } = this.#library;
    if ((await jobs.resume()) !== 1) throw new Error(`Killed at «${stage}», no job was taken up.`);
    for (const { job_id: id } of await jobs.reports()) await jobs.ended(id);
    const now = await this.#readings();
    if (now.some((own) => own !== word)) throw new Error(`Killed at «${stage}», it became ${now.join(", ")}.`);
    return left;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#processes[Symbol.asyncDispose]();
    await this.#library[Symbol.asyncDispose]();
  }

  async #readings(): Promise<string[]> {
    const { address: store, folder } = this.#shelf;
    const library = await openLibrary({ store, folder, embedder: embedderOf() });
    try {
      return [await readingOf(library, "first"), await readingOf(library, "second")];
    } finally {
      await library[Symbol.asyncDispose]();
    }
  }
}

function pathsIn(folder: string): string[] {
  return NAMES.map((name) => join(folder, name));
}

function writeBooks(paths: readonly string[], word: string): Promise<unknown> {
  const paragraph = `What is ${word} in this book is there whole or it is absent, and nobody finds a half of it.`;
  const pages = Array.from({ length: PAGES }, (_, at) => ({ heading: `Part ${at}`, paragraphs: [paragraph] }));
  return Promise.all(paths.map((path) => writePdf(path, pages, { title: `${path} ${word}` })));
}

/** Returns the word of the stored version. Throws if a document is partial or mixes two versions. */
async function readingOf(library: Library, sourceId: string): Promise<string> {
  const { title, pages, chunks } = await library.document(sourceId);
  const word = title.split(" ").at(-1)!;
  const { passages, total } = await library.range("chunk", { sourceId, limit: 1_000, offset: 0 });
  const isOne = passages.every(({ text }) => !text.includes("What is") || text.includes(`What is ${word} `));
  if (pages !== PAGES || total !== chunks || passages.length !== chunks || !isOne)
    throw new Error(`${sourceId} is there in part: ${pages} pages, ${passages.length} of ${chunks} passages.`);
  const request = { query: `what is ${word}`, limit: 50, filter: {}, minSimilarity: 0 };
  const { hits } = await library.search("chunk", request);
  if (!hits.some(({ passage }) => passage.sourceId === sourceId)) throw new Error(`${sourceId} is not found.`);
  return word;
}
