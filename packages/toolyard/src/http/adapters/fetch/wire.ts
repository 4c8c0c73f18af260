import type { AnswerWire, BodyAccounts, HttpRequest, RawHeaders, RequestHeaders, WireEvents } from "../../wire.ts";
import { readBody } from "./body.ts";

/** Number of bytes that may wait for the reader of a body before `write` returns false. */
const HIGH_WATER_BYTES = 16 * 1024;

/** A `Request` in the form that this package uses. */
export class FetchRequest implements HttpRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Address of the caller's connection. Empty, because only the program's own server knows it. */
  readonly peerAddress = "";
  readonly isSecure: boolean;
  readonly #request: Request;
  readonly #timeoutMs: number;

  /** `timeoutMs`: maximum time until the whole body has arrived. */
  constructor(request: Request, timeoutMs: number) {
    const { host, pathname, protocol, search } = new URL(request.url);
    this.method = request.method;
    this.target = pathname + search;
    this.isSecure = protocol === "https:";
    // A framework passes what its server has read, so `Host` may only be present in the URL.
    this.headers = { host, ...Object.fromEntries(request.headers) };
    this.#request = request;
    this.#timeoutMs = timeoutMs;
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return typeof value === "object" ? value.join(", ") : value;
  }

  readBody(maxBytes: number, accounts: BodyAccounts): Promise<Buffer> {
    return readBody(this.#request, { maxBytes, timeoutMs: this.#timeoutMs, accounts });
  }
}

/** Receiver of the answer as a `Response`. */
export interface ResponseTaker {
  /** Called once, when the response headers are ready. */
  resolve(response: Response): void;
  /** Called if there will be no response. */
  reject(reason: Error): void;
  /** Called once, when no more data will be sent or read. */
  over(): void;
}

/** Answer that becomes a `Response`: with its whole body if that is available immediately, otherwise with a stream. */
export class FetchAnswerWire implements AnswerWire {
  events: WireEvents | undefined;
  readonly #taker: ResponseTaker;
  readonly #isHead: boolean;
  readonly #headers = new Headers();
  #status = 0;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isEnded = false;
  #isOver = false;
  #needsDrain = false;
  #written = 0;
  #taken: (() => void)[] = [];

  constructor(method: string, taker: ResponseTaker) {
    this.#isHead = method === "HEAD";
    this.#taker = taker;
  }

  get isGone(): boolean {
    return this.#isOver;
  }

  get sentBytes(): number {
    return this.#written - this.waitingBytes;
  }

  get waitingBytes(): number {
    return this.#stream ? HIGH_WATER_BYTES - (this.#stream.desiredSize ?? HIGH_WATER_BYTES) : 0;
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name, value);
  }

  begin(status: number, headers: RawHeaders): void {
    this.#status = status;
    for (let at = 0; at < headers.length; at += 2) {
      // The headers about the connection are omitted, because the server that has the connection sets them.
      if (headers[at]!.toLowerCase() !== "connection") this.#headers.set(headers[at]!, headers[at + 1]!);
    }
  }

  flush(): void {
    if (this.#stream || this.#isOver) return;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#stream = controller),
        pull: () => this.#pulled(),
        cancel: () => this.#close(),
      },
      { highWaterMark: HIGH_WATER_BYTES, size: ({ byteLength }) => byteLength },
    );
    this.#respond(body);
  }

  write(piece: string | Uint8Array, onTaken?: () => void): boolean {
    this.flush();
    if (this.#isOver || this.#isEnded) return false;
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    this.#written += bytes.length;
    this.#stream?.enqueue(bytes);
    if (onTaken) this.#taken.push(onTaken);
    this.#needsDrain = this.waitingBytes >= HIGH_WATER_BYTES;
    return !this.#needsDrain;
  }

  end(last: string | Uint8Array = "", encoding: "latin1" | "utf8" = "utf8"): void {
    if (this.#isOver || this.#isEnded) return;
    this.#isEnded = true;
    const bytes = typeof last === "string" ? Buffer.from(last, encoding) : last;
    if (!this.#stream) {
      this.#respond(bytes);
      return this.#close();
    }
    if (bytes.length > 0) this.#stream.enqueue(bytes);
    this.#stream.close();
    this.#close();
  }

  cut(): void {
    this.stop(new Error("The answer was cut off."));
  }

  /** Ends the answer as if the caller had disconnected. */
  stop(reason: Error): void {
    if (this.#isOver) return;
    if (this.#stream) this.#stream.error(reason);
    else this.#taker.reject(reason);
    this.#close();
  }

  #respond(body: ReadableStream<Uint8Array> | Uint8Array): void {
    const isEmpty = this.#isHead || NO_BODY.has(this.#status);
    this.#taker.resolve(
      new Response(isEmpty ? null : bodyInit(body), { status: this.#status, headers: this.#headers }),
    );
  }

  #pulled(): void {
    for (const onTaken of this.#taken.splice(0)) onTaken();
    if (!this.#needsDrain) return;
    this.#needsDrain = false;
    this.events?.drained();
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#taker.over();
    // The end is reported asynchronously, as on a connection: only after the sender has sent the last piece.
    queueMicrotask(() => this.events?.closed());
  }
}

type Body = NonNullable<ConstructorParameters<typeof Response>[0]>;

function bodyInit(body: ReadableStream<Uint8Array> | Uint8Array): Body {
  return body;
}

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
