import { messageOf } from "../../../core/errors.ts";
import type { TextEmbedder } from "../../../core/models.ts";
import type { Logger } from "../../../core/ports.ts";
import { whileWanted } from "../../../core/slices.ts";
import { within } from "../../../core/wait.ts";
import type { PreparedTool } from "../../source-part.ts";
import type { Evidence } from "./blend.ts";
import { Neighbours } from "./neighbours.ts";
import { toolVectorsOf } from "./tool-vectors.ts";
import { VectorRows } from "./vector-rows.ts";

const MAX_QUERY_CHARS = 2000;

/** What tells, beside words, which tools a query is about. */
export interface EvidenceSource {
  /** `tools` in the order of their ranks; the same list as long as nothing changed. Never rejects. */
  evidence(query: string, tools: readonly PreparedTool[]): Promise<Evidence | undefined>;
  close(): Promise<void>;
}

export interface TableSearchOptions {
  /** Asked once, at the first search. */
  readonly load: () => Promise<TextEmbedder>;
  /** Longest time that one search waits for the tools' vectors. */
  readonly waitMs: number;
  readonly logger: Logger;
}

/** What is known of one list of tools. */
interface Prepared {
  readonly tools: readonly PreparedTool[];
  readonly embedder: TextEmbedder;
  readonly vectors: VectorRows;
  neighbours?: Neighbours;
}

/**
 * Likeness by an embedder in this process. Tools are embedded at the first search, and new ones at the first search
 * after they came; then their neighbours are found. Both in slices, so that nothing else waits for them.
 */
export class TableSearch implements EvidenceSource {
  readonly #options: TableSearchOptions;
  readonly #closing = new AbortController();
  /** Principals with lists of their own take turns. */
  readonly #known = new WeakMap<readonly PreparedTool[], Prepared>();
  #prepared: Prepared | undefined;
  #job: { readonly tools: readonly PreparedTool[]; readonly ready: Promise<Prepared | undefined> } | undefined;
  #settled: Promise<unknown> = Promise.resolve();

  constructor(options: TableSearchOptions) {
    this.#options = options;
  }

  async evidence(query: string, tools: readonly PreparedTool[]): Promise<Evidence | undefined> {
    const prepared = await this.prepare(tools);
    if (!prepared) return undefined;
    const likeness = prepared.vectors.likenessTo(prepared.embedder.embed(query.slice(0, MAX_QUERY_CHARS)));
    return { likeness, ...(prepared.neighbours && { neighbours: prepared.neighbours }) };
  }

  /** What is known of these tools, if it is known in time. */
  async prepare(tools: readonly PreparedTool[]): Promise<Prepared | undefined> {
    const known = this.#known.get(tools);
    if (known) return known;
    if (this.#closing.signal.aborted) return undefined;
    if (this.#job?.tools !== tools) this.#begin(tools);
    return within(this.#job!.ready, this.#options.waitMs);
  }

  /** Waits until nothing is being prepared. */
  async settled(): Promise<void> {
    await this.#settled;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#settled;
  }

  #begin(tools: readonly PreparedTool[]): void {
    const isWanted = (): boolean => this.#job?.tools === tools && !this.#closing.signal.aborted;
    const ready = this.#embed(tools, isWanted);
    this.#job = { tools, ready };
    this.#settled = Promise.all([this.#settled, this.#finish(ready, isWanted)]);
  }

  /** Takes what is ready into use, and finds the neighbours; what is known of them is taken over. */
  async #finish(ready: Promise<Prepared | undefined>, isWanted: () => boolean): Promise<void> {
    const prepared = await ready;
    if (!prepared) return;
    const before = this.#prepared?.neighbours;
    this.#prepared = prepared;
    this.#known.set(prepared.tools, prepared);
    const found = await whileWanted(Neighbours.find(prepared.tools, prepared.vectors, before), isWanted);
    if (found) prepared.neighbours = found;
  }

  async #embed(tools: readonly PreparedTool[], isWanted: () => boolean): Promise<Prepared | undefined> {
    try {
      const embedder = await this.#options.load();
      const vectors = await whileWanted(embedAll(tools, embedder), isWanted);
      return vectors && { tools, embedder, vectors: new VectorRows(vectors, embedder.dimensions) };
    } catch (error) {
      this.#options.logger.warning("The table of token vectors cannot be read; search goes on by words alone.", {
        error: messageOf(error),
      });
      return undefined;
    }
  }
}

function* embedAll(tools: readonly PreparedTool[], embedder: TextEmbedder): Generator<void, Int8Array[]> {
  const vectors: Int8Array[] = [];
  for (const tool of tools) {
    vectors.push(toolVectorsOf(tool, embedder));
    yield;
  }
  return vectors;
}
