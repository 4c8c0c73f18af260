import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Embedder } from "../../../servers/library/search/embedder.ts";
import { openLibrary, type Library } from "../../../servers/library/library.ts";
import { writePdf } from "../books.ts";
import { runDoomed } from "./kills.ts";

/** Of a reading, from the moment at which somebody asks for it to the next document. */
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

/** Two files, and the library into which they are read again and again. */
export interface Shelf {
  readonly address: string;
  readonly folder: string;
}

/** Calls before each time that it is asked. */
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

/** The first reading of both files. */
export async function readFirst({ address, folder }: Shelf, word: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await writeBooks(pathsIn(folder), word);
  await withLibrary(address, folder, async (library) => {
    for (const path of pathsIn(folder)) await library.add({ path });
  });
}

/**
 * Two files that were read as one word become another, and the process that reads them anew is killed at the stage.
 * Each must be there whole, as either; the next process must take the job up, and then both are as they are now.
 */
export async function killReading({ address, folder }: Shelf, stage: ReadingStage, word: string): Promise<string[]> {
  const paths = pathsIn(folder);
  await writeBooks(paths, word);
  const end = await runDoomed("doomed-reading.ts", [address, folder, stage, ...paths]);
  if (end !== "killed") throw new Error(`The reading was not killed at «${stage}».`);
  return withLibrary(address, folder, async (library) => {
    const left = [await readingOf(library, "first"), await readingOf(library, "second")];
    if ((await library.jobs.resume()) !== 1) throw new Error(`Killed at «${stage}», no job was taken up.`);
    for (const { job_id: id } of await library.jobs.reports()) await library.jobs.ended(id);
    const now = [await readingOf(library, "first"), await readingOf(library, "second")];
    if (now.some((own) => own !== word)) throw new Error(`Killed at «${stage}», it became ${now.join(", ")}.`);
    return left;
  });
}

function pathsIn(folder: string): string[] {
  return NAMES.map((name) => join(folder, name));
}

async function withLibrary<Result>(
  store: string,
  folder: string,
  work: (library: Library) => Promise<Result>,
): Promise<Result> {
  const library = await openLibrary({ store, folder, embedder: embedderOf() });
  try {
    return await work(library);
  } finally {
    await library[Symbol.asyncDispose]();
  }
}

function writeBooks(paths: readonly string[], word: string): Promise<unknown> {
  const paragraph = `What is ${word} in this book is there whole or it is absent, and nobody finds a half of it.`;
  const pages = Array.from({ length: PAGES }, (_, at) => ({ heading: `Part ${at}`, paragraphs: [paragraph] }));
  return Promise.all(paths.map((path) => writePdf(path, pages, { title: `${path} ${word}` })));
}

/** The word of its reading. Throws where a document is there in part, or of two. */
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
