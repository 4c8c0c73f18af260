import type { LibraryStore } from "../../src/store/store.ts";
import { CHUNKS } from "./doomed-document.ts";
import { DoomedProcesses } from "./doomed-process.ts";

/** Processes that write the document of a word, and are killed at the point given to `doomed.ts`. */
export class DoomedWriters implements AsyncDisposable {
  readonly #processes: DoomedProcesses;

  constructor(ahead = 0) {
    this.#processes = new DoomedProcesses("doomed.ts", [], ahead);
  }

  async writeAndKill(address: string, at: string, word: string): Promise<"killed" | "written"> {
    return (await this.#processes.run([address, at, word])).isKilled ? "killed" : "written";
  }

  /** Number of statements or requests of the complete write. */
  async stepsOfWrite(address: string, word: string): Promise<number> {
    const { isKilled, said } = await this.#processes.run([address, "Infinity", word]);
    const steps = /^written in (\d+) steps$/.exec(said)?.[1];
    if (isKilled || steps === undefined) throw new Error(`The document «${word}» was not written: ${said}`);
    return Number(steps);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#processes[Symbol.asyncDispose]();
  }
}

/**
 * Returns the word of the complete stored version; undefined if there is none. Throws if versions are mixed or partial.
 */
export async function wholeReading(
  store: LibraryStore,
  { chunks: expected }: { readonly chunks: number } = { chunks: CHUNKS },
): Promise<string | undefined> {
  const document = await store.document("doomed");
  const { passages, total } = await store.range("chunk", { sourceId: "doomed", limit: 100_000, offset: 0 });
  if (!document) {
    if (total > 0) throw new Error(`${total} passages are there of no document.`);
    return undefined;
  }
  const { title: word, chunks } = document;
  const stats = await store.termStats("chunk", [word, "all"]);
  const found = await store.candidates("chunk", { any: ["all"] }, {});
  const wrong = passages.filter(({ text }) => !text.startsWith(`${word} `));
  const counts = [
    chunks,
    total,
    passages.length,
    stats.frequencies.get(word),
    stats.frequencies.get("all"),
    found.length,
  ];
  if (wrong.length > 0 || counts.some((count) => count !== expected))
    throw new Error(`Of ${word}: ${wrong.length} passages of another reading, counts ${counts.join(", ")}.`);
  if ((await store.textOf("doomed")) !== word.repeat(3)) throw new Error("The text is another reading's.");
  return word;
}
