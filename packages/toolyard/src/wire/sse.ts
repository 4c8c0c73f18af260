import { isAscii } from "node:buffer";
import { StringDecoder } from "node:string_decoder";

/** One server-sent event. `data` joins the data lines of the event with line feeds. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
  /** Last id on the stream: that of this event, if it has one, otherwise that of an earlier event. */
  readonly id?: string;
}

export interface SseHandlers {
  onEvent(event: SseEvent): void;
  /** Called when the server sets the reconnection delay. */
  onRetry?(delayMs: number): void;
}

/**
 * Parses `text/event-stream` as specified by the HTML standard, from chunks of any length. Throws a `RangeError` above
 * the limit.
 */
export class SseDecoder {
  readonly #handlers: SseHandlers;
  readonly #maxEventBytes: number;
  /** Decoder for characters beyond ASCII. Created when the first one arrives, because many streams have none. */
  #decoder: StringDecoder | undefined;
  #rest: string[] = [];
  #held = 0;
  #data: string[] = [];
  #event = "";
  #id: string | undefined;
  #ownId: string | undefined;
  #first = true;
  #skipLineFeed = false;

  constructor(maxEventBytes: number, handlers: SseHandlers) {
    this.#maxEventBytes = maxEventBytes;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    const text = this.#withoutMark(this.#textOf(chunk));
    const breaks = new LineBreaks(text);
    let start = 0;
    for (let at = breaks.after(0); at !== -1; at = breaks.after(start)) {
      this.#hold(text.slice(start, at));
      this.#line(this.#rest.length === 1 ? this.#rest[0]! : this.#rest.join(""));
      this.#rest = [];
      start = at + 1;
      if (text[at] !== "\r") continue;
      // If the text ends with `\r`, a line feed at the start of the next chunk belongs to the same line break.
      if (start === text.length) this.#skipLineFeed = true;
      else if (text[start] === "\n") start += 1;
    }
    if (start < text.length) this.#hold(text.slice(start));
  }

  #textOf(chunk: Buffer): string {
    if (!this.#decoder && isAscii(chunk)) return chunk.toString("latin1");
    this.#decoder ??= new StringDecoder("utf8");
    return this.#decoder.write(chunk);
  }

  /** Removes a byte order mark, and the `\n` of a `\r\n` that was split between two chunks. */
  #withoutMark(chunk: string): string {
    if (chunk.length === 0) return chunk;
    let text = chunk;
    if (this.#first && text.charCodeAt(0) === BYTE_ORDER_MARK) text = text.slice(1);
    this.#first = false;
    if (this.#skipLineFeed && text.length > 0) {
      this.#skipLineFeed = false;
      if (text.startsWith("\n")) text = text.slice(1);
    }
    return text;
  }

  #hold(part: string): void {
    this.#held += part.length;
    if (this.#held > this.#maxEventBytes)
      throw new RangeError(`A server-sent event is over the limit of ${this.#maxEventBytes} bytes.`);
    this.#rest.push(part);
  }

  #line(line: string): void {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) {
      if (this.#data.length === 0) this.#held = 0;
      return;
    }
    if (colon === -1) return this.#field(line, "");
    this.#field(line.slice(0, colon), line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1));
  }

  #field(field: string, value: string): void {
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#ownId = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.#handlers.onRetry?.(Number(value));
  }

  #dispatch(): void {
    if (this.#ownId !== undefined) this.#id = this.#ownId;
    const data = this.#data;
    const event = this.#event || "message";
    this.#data = [];
    this.#event = "";
    this.#ownId = undefined;
    this.#held = 0;
    // An event without data and without an id is ignored. An event with only an id sets the position at which the
    // stream is resumed, like MCP's priming event.
    if (data.length === 0 && this.#id === undefined) return;
    this.#handlers.onEvent({ event, data: data.join("\n"), ...(this.#id === undefined ? {} : { id: this.#id }) });
  }
}

const BYTE_ORDER_MARK = 0xfeff;

/** Finds line ends. Most streams have no `\r`, so it is searched once, and again only after one was found. */
class LineBreaks {
  readonly #text: string;
  #carriageReturn: number;

  constructor(text: string) {
    this.#text = text;
    this.#carriageReturn = text.indexOf("\r");
  }

  /**
   * Returns the position of the first `\n` or `\r` from `start` on, or -1. `start` must not decrease between calls.
   */
  after(start: number): number {
    if (this.#carriageReturn !== -1 && this.#carriageReturn < start)
      this.#carriageReturn = this.#text.indexOf("\r", start);
    const carriageReturn = this.#carriageReturn;
    const lineFeed = this.#text.indexOf("\n", start);
    return lineFeed === -1 || (carriageReturn !== -1 && carriageReturn < lineFeed) ? carriageReturn : lineFeed;
  }
}
