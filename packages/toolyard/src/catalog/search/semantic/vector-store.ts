import { messageOf } from "../../../core/errors.ts";
import type { Embedder } from "../../../core/ports/models.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import type { ToolText } from "./tool-text.ts";
import { VectorFile, type Vectors } from "./vector-file.ts";

/** Number of texts in one request. */
const BATCH = 96;
/** Time limit of one request, in milliseconds. */
const BATCH_TIMEOUT_MS = 60_000;
/** Pause after a failed request, in milliseconds, doubled after each further failure. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;
/** Maximum number of cached vectors that are not in use. */
const MAX_VECTORS = 50_000;

export interface VectorStoreOptions {
  readonly embedder: Embedder;
  /** File in which vectors are kept between runs. Absent: they are not kept. */
  readonly file?: string;
  readonly logger: Logger;
  /** Returns milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/**
 * Vectors of tools, read from disk or requested in the background in batches. Until a vector arrives, searches do not
 * use it.
 */
export class VectorStore {
  readonly #embedder: Embedder;
  readonly #file: VectorFile | undefined;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  #vectors: Vectors | undefined;
  #onDisk = 0;
  #loading: Promise<void> | undefined;
  #notBefore = 0;
  #forgetNotBefore = 0;
  #pauseMs = FIRST_PAUSE_MS;

  constructor({ embedder, file, logger, now = Date.now }: VectorStoreOptions) {
    this.#embedder = embedder;
    this.#file = file === undefined ? undefined : new VectorFile(file);
    this.#logger = logger;
    this.#now = now;
  }

  get(key: string): Float32Array | undefined {
    return this.#vectors?.get(key);
  }

  /** Requests the vectors of these texts in the background. Never waits and never throws. */
  want(texts: readonly ToolText[]): void {
    if (this.#loading || this.#closing.signal.aborted || this.#now() < this.#notBefore) return;
    if (this.#vectors && texts.every(({ key }) => this.#vectors!.has(key))) return;
    this.#loading = this.#load(texts).finally(() => (this.#loading = undefined));
  }

  /**
   * Removes all vectors, because they are no longer comparable, and requests them again, at most once per
   * `LONGEST_PAUSE_MS`.
   */
  forget(): void {
    if (!this.#vectors || this.#loading || this.#now() < this.#forgetNotBefore) return;
    this.#forgetNotBefore = this.#now() + LONGEST_PAUSE_MS;
    [this.#vectors, this.#onDisk] = [new Map(), 0];
    this.#logger.warning(
      "The embedding model returns vectors of another length than before; all tools are embedded again.",
      {
        model: this.#embedder.model,
      },
    );
  }

  /** Waits for running requests. */
  async settled(): Promise<void> {
    await this.#loading;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loading;
  }

  async #load(texts: readonly ToolText[]): Promise<void> {
    try {
      if (!this.#vectors) {
        const kept = await this.#file?.load();
        this.#vectors = kept?.vectors ?? new Map();
        this.#onDisk = kept?.isWhole ? this.#vectors.size : 0;
      }
      const missing = [...new Map(texts.map((text) => [text.key, text])).values()].filter(
        ({ key }) => !this.#vectors!.has(key),
      );
      for (let at = 0; at < missing.length; at += BATCH) await this.#ask(missing.slice(at, at + BATCH));
      this.#forgetUnused(texts);
      this.#pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#notBefore = this.#now() + this.#pauseMs;
      this.#logger.warning(
        "Embeddings of tools are not available; search uses words only, and requests them again later.",
        {
          model: this.#embedder.model,
          error: messageOf(error),
          retryInMs: this.#pauseMs,
        },
      );
      this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    }
  }

  async #ask(batch: readonly ToolText[]): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(BATCH_TIMEOUT_MS)]);
    const answers = await this.#embedder.embed(
      batch.map(({ text }) => text),
      signal,
    );
    const fresh: Vectors = new Map(batch.map(({ key }, at) => [key, unitVector(answers[at]!)]));
    const length = this.#vectors!.values().next().value?.length;
    // A vector of another length is from another model with the same name, so the cached vectors are not comparable
    // with it.
    if (length !== undefined && fresh.values().next().value!.length !== length)
      [this.#vectors, this.#onDisk] = [new Map(), 0];
    for (const [key, vector] of fresh) this.#vectors!.set(key, vector);
    await this.#keep(fresh);
  }

  async #keep(fresh: Vectors): Promise<void> {
    try {
      const isNew = this.#onDisk === 0;
      await this.#file?.append(isNew ? this.#vectors! : fresh, isNew);
      this.#onDisk = this.#vectors!.size;
    } catch (error) {
      this.#logger.warning("Embeddings could not be stored on disk; they are requested again after a restart.", {
        error: messageOf(error),
      });
    }
  }

  #forgetUnused(texts: readonly ToolText[]): void {
    if (this.#vectors!.size <= MAX_VECTORS + texts.length) return;
    const used = new Set(texts.map(({ key }) => key));
    for (const key of this.#vectors!.keys()) if (!used.has(key)) this.#vectors!.delete(key);
    // The next append creates the file again, without the removed vectors.
    this.#onDisk = 0;
  }
}

/** Returns the vector with length 1. A zero vector, and a vector whose length is not finite, becomes zero. */
export function unitVector(numbers: readonly number[]): Float32Array {
  const vector = new Float32Array(numbers.length);
  const length = Math.hypot(...numbers);
  if (length > 0) for (let at = 0; at < vector.length; at += 1) vector[at] = numbers[at]! / length;
  return vector;
}
