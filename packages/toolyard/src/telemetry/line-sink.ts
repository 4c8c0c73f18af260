/** A line that becomes text when it is written. The caller does not wait for it, and one batch builds many lines. */
export interface LateLine {
  /** Approximate length in characters. */
  readonly chars: number;
  text(): string;
}

/** Writes lines in order. Never blocks, never throws. */
export interface LineSink {
  /** Writes a line. It must have no line break at its end. */
  write(line: string | LateLine): void;
  /** Waits until all lines are written, for a limited time. Idempotent. */
  close(): Promise<void>;
}

/** Writes one whole chunk. Rejects with a `ChunkError` that holds the unwritten rest. */
export type ChunkWriter = (chunk: Buffer) => Promise<void>;

/** Thrown if a chunk was not written, or only partly. */
export class ChunkError extends Error {
  override readonly name = "ChunkError";
  readonly rest: Buffer;
  /** True if another attempt cannot succeed. */
  readonly isFinal: boolean;

  constructor(rest: Buffer, isFinal: boolean, options?: ErrorOptions) {
    super("could not be written", options);
    this.rest = rest;
    this.isFinal = isFinal;
  }
}

const MAX_WAITING_CHARS = 2 ** 20;
const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 5000;
const CLOSE_WITHIN_MS = 2000;

export interface SinkOptions {
  /** Formats the line that reports the number of dropped lines (slow reader, full disk). */
  readonly describeDropped: (count: number) => string | LateLine;
  /**
   * Called with the number of lost lines: those that were dropped because too many waited, and those that were left
   * when the sink closed.
   */
  readonly onLost?: (lines: number) => void;
  /** Called with the first failure of each outage. */
  readonly onError?: (error: unknown) => void;
  readonly maxWaitingChars?: number;
  /**
   * Time for which lines are collected after a chunk, if writes are expensive. The first line after a pause is written
   * immediately. @default 0
   */
  readonly gatherMs?: number;
}

/**
 * Collects lines while a chunk is being written, and for `gatherMs` afterwards, so that a busy hub writes few large
 * chunks. The number of waiting characters is limited: further lines are dropped and counted, and the count is written
 * when there is room.
 */
export class BufferedSink implements LineSink {
  readonly #writeChunk: ChunkWriter;
  readonly #options: SinkOptions;
  readonly #maxWaitingChars: number;
  readonly #gatherMs: number;
  #waiting: (string | LateLine)[] = [];
  #waitingChars = 0;
  #dropped = 0;
  #pumping: Promise<void> | undefined;
  #isClosed = false;
  #isBroken = false;
  #isGathering = false;
  #cutPause: (() => void) | undefined;

  constructor(writeChunk: ChunkWriter, options: SinkOptions) {
    this.#writeChunk = writeChunk;
    this.#options = options;
    this.#maxWaitingChars = options.maxWaitingChars ?? MAX_WAITING_CHARS;
    this.#gatherMs = options.gatherMs ?? 0;
  }

  write(line: string | LateLine): void {
    if (this.#isClosed || this.#isBroken) return;
    const chars = typeof line === "string" ? line.length : line.chars;
    if (this.#waitingChars + chars > this.#maxWaitingChars) {
      this.#dropped += 1;
      this.#options.onLost?.(1);
      return;
    }
    this.#waiting.push(line);
    this.#waitingChars += chars + 1;
    if (this.#pumping === undefined) this.#pumping = this.#pump();
    else if (this.#isGathering && this.#isHalfFull) this.#cutPause?.();
  }

  /** Removes and returns the pending bytes, for a synchronous write when the program exits. */
  takeRest(): Buffer | undefined {
    return this.#waiting.length === 0 || this.#isBroken ? undefined : this.#takeChunk();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cutPause?.();
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_WITHIN_MS);
    });
    await Promise.race([this.#pumping, tooLong]);
    clearTimeout(timer);
    this.#isBroken = true;
    this.#cutPause?.();
  }

  async #pump(): Promise<void> {
    // The first line after a pause is written immediately, so that it is not lost if the program exits next.
    while (this.#waiting.length > 0 && !this.#isBroken) {
      await this.#deliver(this.#takeChunk());
      if (this.#gatherMs > 0 && !this.#isClosed) await this.#gather();
    }
    if (this.#isBroken) {
      if (this.#waiting.length > 0) this.#options.onLost?.(this.#waiting.length);
      this.#waiting = [];
    }
    this.#pumping = undefined;
  }

  get #isHalfFull(): boolean {
    return this.#waitingChars > this.#maxWaitingChars / 2;
  }

  async #gather(): Promise<void> {
    if (this.#isHalfFull) return;
    this.#isGathering = true;
    await this.#pause(this.#gatherMs);
    this.#isGathering = false;
  }

  #takeChunk(): Buffer {
    if (this.#dropped > 0) this.#waiting.push(this.#options.describeDropped(this.#dropped));
    this.#dropped = 0;
    const chunk = Buffer.from(`${this.#waiting.map(lineText).join("\n")}\n`);
    this.#waiting = [];
    this.#waitingChars = 0;
    return chunk;
  }

  async #deliver(chunk: Buffer): Promise<void> {
    let rest = chunk;
    // A chunk that cannot be written still counts as waiting.
    for (let retryMs = FIRST_RETRY_MS; !this.#isBroken; retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)) {
      try {
        await this.#writeChunk(rest);
        return;
      } catch (error) {
        if (retryMs === FIRST_RETRY_MS) this.#options.onError?.(error);
        if (!(error instanceof ChunkError) || error.isFinal) this.#isBroken = true;
        else rest = error.rest;
      }
      await this.#pause(retryMs);
    }
    if (rest.length > 0) this.#options.onLost?.(countLines(rest));
  }

  #pause(delayMs: number): Promise<void> {
    if (this.#isBroken) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#isClosed ? Math.min(delayMs, FIRST_RETRY_MS) : delayMs);
      timer.unref();
      this.#cutPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

export function lineText(line: string | LateLine): string {
  return typeof line === "string" ? line : line.text();
}

function countLines(chunk: Buffer): number {
  return chunk.toString("latin1").split("\n").length - 1;
}
