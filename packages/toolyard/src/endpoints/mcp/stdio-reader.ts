import type { Readable } from "node:stream";
import { LineDecoder } from "../../wire/lines.ts";
import { RPC } from "../../wire/messages.ts";
import { parseJson, type JsonLimits } from "../../wire/parse-json.ts";

export interface ReaderHandlers {
  /** Called with a parsed line: any JSON value. */
  onValue(value: unknown): void;
  /** Called with the JSON-RPC error for a line that is not JSON or exceeds a limit. */
  onRefused(code: number, message: string): void;
  /** Called when the input has ended. */
  onEnd(): void;
}

export interface LineLimits extends JsonLimits {
  readonly maxLineBytes: number;
}

/**
 * Reads one JSON value per line. Blank lines are ignored. An invalid line is reported and does not affect the next one.
 */
export class StdioReader {
  readonly #input: Readable;
  readonly #handlers: ReaderHandlers;
  readonly #limits: JsonLimits;
  readonly #decoder: LineDecoder;
  #isOver = false;

  constructor(input: Readable, limits: LineLimits, handlers: ReaderHandlers) {
    const { maxLineBytes } = limits;
    this.#input = input;
    this.#handlers = handlers;
    this.#limits = limits;
    this.#decoder = new LineDecoder(maxLineBytes, {
      onLine: (line) => this.#line(line),
      onTooLong: () =>
        handlers.onRefused(RPC.invalidRequest, `Invalid Request: a line may have ${maxLineBytes} bytes at most`),
    });
  }

  start(): void {
    this.#input.on("data", this.#onData);
    this.#input.on("end", this.#onEnd);
    this.#input.on("close", this.#onEnd);
    this.#input.on("error", this.#onEnd);
    if (this.#input.readableEnded || this.#input.destroyed) queueMicrotask(this.#onEnd);
    // A socket that was read before is paused, so reading is resumed.
    this.#input.resume();
  }

  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#input.resume();
  }

  /** Stops reading. Unread input stays in the stream. */
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
    const parsed = parseJson(text, this.#limits);
    if (parsed.ok) this.#handlers.onValue(parsed.value);
    else this.#handlers.onRefused(parsed.code, parsed.message);
  }
}
