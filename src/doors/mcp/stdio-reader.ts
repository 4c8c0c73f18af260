import type { Readable } from "node:stream";
import { isDeeperThan } from "../../wire/json-depth.ts";
import { LineDecoder } from "../../wire/lines.ts";

export interface ReaderHandlers {
  /** A parsed line: any JSON value. */
  onValue(value: unknown): void;
  /** A line that is no JSON. */
  onGarbage(): void;
  /** A line over the bound of bytes or of nesting. */
  onTooLarge(): void;
  /** Nothing more will come. */
  onEnd(): void;
}

/** Reads one JSON value a line. Blank lines mean nothing; a bad line is reported and does no harm to the next. */
export class StdioReader {
  readonly #input: Readable;
  readonly #handlers: ReaderHandlers;
  readonly #decoder: LineDecoder;
  #isOver = false;

  constructor(input: Readable, maxLineBytes: number, handlers: ReaderHandlers) {
    this.#input = input;
    this.#handlers = handlers;
    this.#decoder = new LineDecoder(
      maxLineBytes,
      (line) => this.#line(line),
      () => handlers.onTooLarge(),
    );
  }

  start(): void {
    this.#input.on("data", this.#onData);
    this.#input.on("end", this.#onEnd);
    this.#input.on("close", this.#onEnd);
    this.#input.on("error", this.#onEnd);
    if (this.#input.readableEnded || this.#input.destroyed) queueMicrotask(this.#onEnd);
  }

  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#input.resume();
  }

  /** Stops reading; what has not been read is left where it is. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#input.off("data", this.#onData);
    this.#input.off("end", this.#onEnd);
    this.#input.off("close", this.#onEnd);
    this.#input.pause();
  }

  readonly #onData = (chunk: Buffer | string): void => {
    this.#decoder.push(typeof chunk === "string" ? Buffer.from(chunk, "utf8") : chunk);
  };

  readonly #onEnd = (): void => {
    if (this.#isOver) return;
    this.#decoder.flush();
    this.stop();
    this.#handlers.onEnd();
  };

  #line(line: string): void {
    const text = line.trim();
    if (text === "") return;
    if (isDeeperThan(text, MAX_DEPTH)) return this.#handlers.onTooLarge();
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.#handlers.onGarbage();
    }
    this.#handlers.onValue(value);
  }
}

const MAX_DEPTH = 128;
