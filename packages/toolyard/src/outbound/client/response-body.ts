/** Source of a body: a connection in the middle of an answer. */
export interface BodySource {
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  /** Stops the answer, because the rest of the body is not needed. */
  abort(reason: Error): void;
}

/** Receives a body as it arrives, and its end exactly once: without an error if it is complete. */
export interface BodyReader {
  onData(chunk: Buffer): void;
  onEnd(error?: unknown): void;
}

/** Maximum number of bytes that are held before the body is read. */
const MAX_EARLY_BYTES = 64 * 1024;

/**
 * The body of a response for one reader. It is not a Node stream, because that would cost more than the request: most
 * answers are one chunk. Chunks are passed to the reader as they arrive. Until it starts to read, only a few bytes are
 * held and the connection is paused.
 */
export class ResponseBody {
  readonly #source: BodySource;
  #reader: BodyReader | undefined;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  #over: { readonly error?: unknown } | undefined;
  #onOver: (() => void)[] = [];
  #isDestroyed = false;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** True if the rest of the body is not read. The connection of an incomplete body is closed. */
  get isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  /** True if nothing more arrives, for any reason. */
  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** Passes the body to `reader`: the chunks that have arrived, and later ones as they arrive. */
  read(reader: BodyReader): void {
    if (this.#reader) throw new TypeError("A body has one reader.");
    this.#reader = reader;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) reader.onData(chunk);
    if (this.#over) reader.onEnd(this.#over.error);
    else if (this.#source.paused) this.#source.resume();
  }

  /** Calls `listener` when the body ends, for any reason. */
  onceOver(listener: () => void): void {
    if (this.#over) listener();
    else this.#onOver.push(listener);
  }

  /** Abandons the rest of the body. */
  destroy(reason: Error = new Error("The rest of the body is not wanted.")): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    if (this.#over) return;
    this.end({ error: reason });
    this.#source.abort(reason);
  }

  push(chunk: Buffer): void {
    if (this.#over) return;
    if (this.#reader) return this.#reader.onData(chunk);
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > MAX_EARLY_BYTES) this.#source.pause();
  }

  end(over: { readonly error?: unknown }): void {
    if (this.#over) return;
    this.#over = over;
    const listeners = this.#onOver;
    this.#onOver = [];
    for (const listener of listeners) listener();
    this.#reader?.onEnd(over.error);
  }
}
