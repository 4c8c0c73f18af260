import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { DocumentError } from "../documents/document-error.ts";
import type { PassageFields } from "../store/store.ts";
import type { ReadFailure, FromReader, MadeDocument, OcrWanted, ReadRequest, ToReader } from "./messages.ts";

export interface ReaderBounds {
  /** Maximum CPU time for one page, or for the work after the last page, in milliseconds. @default 30,000 */
  readonly stepMs: number;
  /** Maximum CPU time for a whole document, in milliseconds. @default 1,800,000 */
  readonly documentMs: number;
  /** Maximum size of the JavaScript heap, in megabytes. @default 1,024 */
  readonly heapMb: number;
  /** Maximum memory of the whole process, including images and fonts, in megabytes. @default 1,536 */
  readonly memoryMb: number;
  /** Time after which an idle process is ended, in milliseconds. @default 10,000 */
  readonly idleMs: number;
}

export const READER_BOUNDS: ReaderBounds = {
  stepMs: 30_000,
  documentMs: 1_800_000,
  heapMb: 1_024,
  memoryMb: 1_536,
  idleMs: 10_000,
};

export interface ReadHooks {
  readonly signal: AbortSignal;
  readonly onPage?: ((done: number, total: number) => void) | undefined;
  /** Reads pages with a remote service. Resolves with their Markdown, in order. */
  readonly onOcr?: ((wanted: OcrWanted, signal: AbortSignal) => Promise<readonly string[]>) | undefined;
}

/** Maximum number of documents that wait to be read. */
const MAX_WAITING = 1_000;

/**
 * Reads documents in a child process, in sequence. If a document exceeds the time or memory limit, the process is ended
 * and the document is refused with the reason. The next document gets a new process.
 */
export class ReaderProcess implements AsyncDisposable {
  readonly #bounds: ReaderBounds;
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  constructor(bounds: Partial<ReaderBounds> = {}) {
    this.#bounds = { ...READER_BOUNDS, ...bounds };
  }

  /** Reads one document. Rejects with a `DocumentError`. */
  async read(request: ReadRequest, hooks: ReadHooks): Promise<MadeDocument> {
    if (this.#waiting >= MAX_WAITING)
      throw new DocumentError("TOO_LARGE", `${MAX_WAITING} documents are already waiting to be read. Try again later.`);
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#readNow(request, hooks));
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#end();
    await this.#last;
  }

  async #readNow(request: ReadRequest, hooks: ReadHooks): Promise<MadeDocument> {
    hooks.signal.throwIfAborted();
    if (this.#isClosed) throw new DocumentError("VALIDATION_ERROR", "The library was closed.");
    clearTimeout(this.#idle);
    const child = (this.#child ??= this.#start());
    const reading = new DocumentRead(child, hooks, this.#bounds);
    try {
      const made = await reading.run(request);
      this.#rest(child);
      return made;
    } catch (error) {
      if (error instanceof ProcessEnd || !child.connected) this.#end();
      else this.#rest(child);
      throw error instanceof ProcessEnd ? error.reason : error;
    }
  }

  #start(): ChildProcess {
    const { heapMb, memoryMb, stepMs } = this.#bounds;
    const child = fork(entry(), [], {
      execArgv: [`--max-old-space-size=${heapMb}`, "--no-warnings"],
      env: { TOOLYARD_READER_MAX_BYTES: String(memoryMb * 1_048_576), TOOLYARD_READER_STEP_MS: String(stepMs) },
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    // Reports an error through the running read only.
    child.on("error", () => {});
    return child;
  }

  /** An idle child does not keep the program running. */
  #rest(child: ChildProcess): void {
    child.unref();
    child.channel?.unref();
    this.#idle = setTimeout(() => this.#end(), this.#bounds.idleMs).unref();
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }
}

/** Thrown to end the process, with the reason. */
class ProcessEnd extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("ended");
    this.reason = reason;
  }
}

/** Reading of one document by the process. */
class DocumentRead {
  readonly #child: ChildProcess;
  readonly #hooks: ReadHooks;
  readonly #bounds: ReaderBounds;
  readonly #texts: string[] = [];
  readonly #chunks: Extract<FromReader, { type: "chunks" }>["pieces"][number][] = [];
  readonly #summaries: PassageFields[] = [];
  #done: (made: MadeDocument) => void = () => {};
  #fail: (error: unknown) => void = () => {};

  constructor(child: ChildProcess, hooks: ReadHooks, bounds: ReaderBounds) {
    this.#child = child;
    this.#hooks = hooks;
    this.#bounds = bounds;
  }

  async run(request: ReadRequest): Promise<MadeDocument> {
    const { signal } = this.#hooks;
    const { stepMs, documentMs } = this.#bounds;
    const whole = setTimeout(() => this.#fail(new ProcessEnd(overrun("It took", documentMs))), documentMs);
    const onMessage = (message: FromReader): void => this.#heed(message);
    const onExit = (code: number | null, by: NodeJS.Signals | null): void => {
      const isLate = by === "SIGXCPU" || by === "SIGTERM";
      this.#fail(new ProcessEnd(isLate ? overrun("One step of reading it took", stepMs) : deathOf(code, by)));
    };
    const onAbort = (): void => this.#fail(new ProcessEnd(signal.reason));
    this.#child.ref();
    this.#child.channel?.ref();
    this.#child.on("message", onMessage).on("exit", onExit);
    signal.addEventListener("abort", onAbort);
    try {
      return await new Promise<MadeDocument>((done, fail) => {
        [this.#done, this.#fail] = [done, fail];
        this.#send({ type: "read", request });
      });
    } finally {
      clearTimeout(whole);
      signal.removeEventListener("abort", onAbort);
      this.#child.off("message", onMessage).off("exit", onExit);
    }
  }

  #send(message: ToReader): void {
    if (this.#child.connected)
      this.#child.send(message, (error) => error && this.#fail(new ProcessEnd(deathOf(null, null))));
    else this.#fail(new ProcessEnd(deathOf(null, null)));
  }

  #heed(message: FromReader): void {
    if (message.type === "at") {
      if (message.total > 0) this.#hooks.onPage?.(message.done, message.total);
    } else if (message.type === "ocr") void this.#ocr(message.wanted);
    else if (message.type === "text") this.#texts.push(message.piece);
    else if (message.type === "chunks") this.#chunks.push(...message.pieces);
    else if (message.type === "summaries") this.#summaries.push(...message.pieces);
    else if (message.type === "failed") this.#fail(errorOf(message.failure));
    else {
      const text = this.#texts.join("");
      const chunks = this.#chunks.map((chunk) => ({ ...chunk, text: text.slice(chunk.from, chunk.to) }));
      this.#done({ ...message.head, text, chunks, summaries: this.#summaries });
    }
  }

  /** Requests the pages from the parent's OCR service, which has its own time limit, and sends them to the process. */
  async #ocr(wanted: OcrWanted): Promise<void> {
    try {
      const pages = (await this.#hooks.onOcr?.(wanted, this.#hooks.signal)) ?? [];
      this.#send({ type: "ocr", pages });
    } catch (error) {
      const { message, code, reason } = error as Partial<DocumentError>;
      const words = message ?? String(error);
      this.#send({
        type: "no ocr",
        failure: {
          message: words,
          ...(error instanceof DocumentError && { code: code! }),
          ...(reason !== undefined && { reason }),
        },
      });
    }
  }
}

function overrun(what: string, ms: number): DocumentError {
  const words = `${what} more than ${ms / 1000} s, and was stopped. Split it, or leave it out.`;
  return new DocumentError("TOO_LARGE", words, "timeout");
}

function errorOf({ message, code, reason }: ReadFailure): Error {
  if (code !== undefined) return new DocumentError(code, message, reason);
  return new DocumentError("VALIDATION_ERROR", `It cannot be read: ${message}`, "damaged");
}

function deathOf(code: number | null, signal: NodeJS.Signals | null): DocumentError {
  // V8 and the monitoring thread end the process with an abort. Windows reports it as exit code 134.
  if (signal === "SIGABRT" || code === 134)
    return new DocumentError("TOO_LARGE", "Reading it exceeded the memory limit, and was stopped.", "memory");
  const how = signal === null ? `with ${code}` : `by ${signal}`;
  return new DocumentError("VALIDATION_ERROR", `The process that read it exited ${how}.`, "crashed");
}

/** Returns the path of the built process file, also if this file runs from its TypeScript source. */
function entry(): string {
  const here = import.meta.url;
  const main = here.endsWith(".ts") ? "../../dist/reading/main.js" : "main.js";
  return fileURLToPath(new URL(main, here));
}
