/** Where a body comes from: a connection in the middle of an answer. */
export interface BodySource {
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  /** Nobody wants what has not come yet. */
  abort(reason: Error): void;
}

/** Takes a body as it comes, and its end exactly once: without an error when it is complete. */
export interface BodyReader {
  onData(chunk: Buffer): void;
  onEnd(error?: unknown): void;
}

/** What may come before somebody reads. */
const MAX_EARLY_BYTES = 64 * 1024;

/**
 * The body of a response for one reader. A stream would cost more than the request itself: most answers are one chunk.
 * Whoever reads takes each chunk at once; until then little is held, and the connection is paused.
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

  /** It was given up, and its connection with it if it was not complete. */
  get isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  /** Nothing more comes, for whatever reason. */
  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** Hands over what came, and whatever comes. */
  read(reader: BodyReader): void {
    if (this.#reader) throw new TypeError("A body has one reader.");
    this.#reader = reader;
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) reader.onData(chunk);
    if (this.#over) reader.onEnd(this.#over.error);
    else if (this.#source.paused) this.#source.resume();
  }

  /** Calls `listener` once the body is over, for whatever reason. */
  onceOver(listener: () => void): void {
    if (this.#over) listener();
    else this.#onOver.push(listener);
  }

  /** Gives up on what has not come yet. */
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
