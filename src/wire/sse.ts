import { StringDecoder } from "node:string_decoder";

/** One server-sent event. `data` joins the event's data lines with `\n`. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
  /** Last id seen on the stream, this event's own where it has one. */
  readonly id?: string;
}

export interface SseHandlers {
  onEvent(event: SseEvent): void;
  /** The server sets the reconnection delay. */
  onRetry?(delayMs: number): void;
}

/**
 * Parses `text/event-stream` as the HTML standard says, in chunks cut anywhere. Throws a `RangeError` past the bound.
 */
export class SseDecoder {
  readonly #handlers: SseHandlers;
  readonly #maxEventBytes: number;
  readonly #decoder = new StringDecoder("utf8");
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
    let text = this.#decoder.write(chunk);
    if (this.#first && text.length > 0) {
      this.#first = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (this.#skipLineFeed && text.length > 0) {
      this.#skipLineFeed = false;
      if (text.startsWith("\n")) text = text.slice(1);
    }
    let start = 0;
    // Most streams have no `\r`: it is looked for once, and again only where there was one.
    let carriageReturn = text.indexOf("\r");
    const nextBreak = (): number => {
      if (carriageReturn !== -1 && carriageReturn < start) carriageReturn = text.indexOf("\r", start);
      const lineFeed = text.indexOf("\n", start);
      return lineFeed === -1 || (carriageReturn !== -1 && carriageReturn < lineFeed) ? carriageReturn : lineFeed;
    };
    for (let at = nextBreak(); at !== -1; at = nextBreak()) {
      this.#hold(text.slice(start, at));
      this.#line(this.#rest.length === 1 ? this.#rest[0]! : this.#rest.join(""));
      this.#rest = [];
      start = at + 1;
      if (text[at] !== "\r") continue;
      // A `\r\n` cut between two chunks is still one line break.
      if (start === text.length) this.#skipLineFeed = true;
      else if (text[start] === "\n") start += 1;
    }
    if (start < text.length) this.#hold(text.slice(start));
  }

  #hold(part: string): void {
    this.#held += part.length;
    if (this.#held > this.#maxEventBytes)
      throw new RangeError(`A server-sent event is over the bound of ${this.#maxEventBytes} bytes.`);
    this.#rest.push(part);
  }

  #line(line: string): void {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) {
      if (this.#data.length === 0) this.#held = 0;
      return;
    }
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
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
    // An event that carries only an id sets the place to resume at; its empty data still matters to MCP's priming
    // event.
    if (data.length === 0 && this.#id === undefined) return;
    this.#handlers.onEvent({ event, data: data.join("\n"), ...(this.#id === undefined ? {} : { id: this.#id }) });
  }
}

/** One event as text. `data` must not hold a line break; JSON text never does. */
export function formatSseEvent(data: string, options: { event?: string; id?: string; retryMs?: number } = {}): string {
  const id = options.id === undefined ? "" : `id: ${options.id}\n`;
  const event = options.event === undefined ? "" : `event: ${options.event}\n`;
  const retry = options.retryMs === undefined ? "" : `retry: ${options.retryMs}\n`;
  return `${event}${id}${retry}data: ${data}\n\n`;
}

/** A comment keeps proxies from closing a quiet stream. */
export const SSE_KEEP_ALIVE = ": keep-alive\n\n";
