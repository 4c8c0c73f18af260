import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { TextPlace, TextPlacesRequest } from "../../search/text-places.ts";
import { storeFailure } from "../store-failure.ts";
import type { SqliteWriter } from "../sqlite/sqlite-writer.ts";
import type { SqliteWrites } from "../sqlite/sqlite-writes.ts";
import type {
  DeleteResult,
  DocumentFields,
  StoreFinding,
  PassageFields,
  PassageKind,
  Passages,
  VectorsOf,
} from "../store.ts";
import type { WriteOperation, FromWriter, ToWriter, WriteFailure, WriterData } from "./messages.ts";

/** Maximum number of passages per message. Copying a whole book in one message would block the sender. */
const MAX_PASSAGES = 100;
/** Maximum number of writes that wait. */
const MAX_WAITING = 1_000;
/** Time after which an idle thread is ended, in milliseconds. */
const IDLE_MS = 10_000;

/** The thread, and the reason why it stopped: a thread that has exited answers no later request. */
interface RunningWriter {
  readonly worker: Worker;
  ended?: Error;
}

/**
 * Writes into a file in a thread with its own connection, in sequence. Readers see the previous version of a document
 * until the new one is complete.
 */
export class WriterThread implements SqliteWriter {
  readonly #data: WriterData;
  #running: RunningWriter | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #ending: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  constructor(data: WriterData) {
    this.#data = data;
  }

  replaceDocument(document: DocumentFields, text: string, passages: Passages): Promise<void> {
    const { chunks, summaries, ...rest } = passages;
    return this.#turn(async (running) => {
      try {
        await sendPassages(running, "chunk", chunks);
        await sendPassages(running, "summary", summaries);
        await answerTo(running, { type: "replace", document, text, rest });
      } catch (error) {
        send(running, { type: "forget" });
        throw error;
      }
    });
  }

  deleteDocument(sourceId: string): Promise<DeleteResult | undefined> {
    return this.#do("deleteDocument", sourceId);
  }

  clearVectors(embedder: string): Promise<void> {
    return this.#do("clearVectors", embedder);
  }

  setVectors(kind: PassageKind, of: VectorsOf, vectors: ReadonlyMap<number, Float32Array>): Promise<void> {
    return this.#do("setVectors", kind, of, new Map(Array.from(vectors, ([id, vector]) => [id, alone(vector)])));
  }

  check(): Promise<StoreFinding[]> {
    return this.#do("check");
  }

  repair(): Promise<void> {
    return this.#do("repair");
  }

  textPlaces(request: TextPlacesRequest): Promise<TextPlace[]> {
    return this.#do("textPlaces", request);
  }

  backup(file: string): Promise<void> {
    return this.#do("backup", file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    await this.#end();
  }

  #do<Name extends WriteOperation>(
    name: Name,
    ...given: Parameters<SqliteWrites[Name]>
  ): Promise<Awaited<ReturnType<SqliteWrites[Name]>>> {
    const done = this.#turn((running) => answerTo(running, { type: "do", name, given }));
    // The thread calls the operation of this name, so the result has its type.
    return done as Promise<Awaited<ReturnType<SqliteWrites[Name]>>>;
  }

  async #turn<T>(work: (running: RunningWriter) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw storeFailure("unavailable", `The library ${this.#data.path} was closed. Open it again.`);
    if (this.#waiting >= MAX_WAITING)
      throw storeFailure("busy", `${MAX_WAITING} changes of ${this.#data.path} are already waiting. Try again later.`);
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#now(work));
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #now<T>(work: (running: RunningWriter) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    if (!this.#running || this.#running.ended) this.#running = this.#start();
    const { worker } = this.#running;
    worker.ref();
    try {
      return await work(this.#running);
    } finally {
      // An idle thread does not keep the program running.
      worker.unref();
      this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref();
    }
  }

  #start(): RunningWriter {
    const worker = new Worker(entry(), { workerData: this.#data, execArgv: [] });
    const running: RunningWriter = { worker };
    worker.on("error", (error) => (running.ended ??= ended(error.message, error)));
    worker.once("exit", (code) => {
      running.ended ??= ended(`it exited with code ${code}`);
      if (this.#running === running) this.#running = undefined;
    });
    return running;
  }

  /** Ends the thread. After it has exited, this process holds no lock on the file. */
  #end(): Promise<unknown> {
    clearTimeout(this.#idle);
    const running = this.#running;
    this.#running = undefined;
    if (!running || running.ended) return this.#ending;
    const { worker } = running;
    worker.ref();
    const exit = new Promise<void>((done) => worker.once("exit", () => done()));
    this.#ending = Promise.all([this.#ending, exit]);
    send(running, { type: "close" });
    return this.#ending;
  }
}

async function sendPassages(
  running: RunningWriter,
  kind: PassageKind,
  passages: readonly PassageFields[],
): Promise<void> {
  for (let at = 0; at < passages.length; at += MAX_PASSAGES) {
    if (running.ended) throw running.ended;
    const pieces = passages
      .slice(at, at + MAX_PASSAGES)
      .map((passage) => (passage.vector ? { ...passage, vector: alone(passage.vector) } : passage));
    send(running, { type: "passages", kind, pieces });
    await nextTurn();
  }
}

/** Returns a vector with a buffer of its own. Posting a view would copy its whole buffer. */
function alone(vector: Float32Array): Float32Array {
  return vector.byteLength === vector.buffer.byteLength ? vector : vector.slice();
}

function answerTo(running: RunningWriter, message: ToWriter): Promise<unknown> {
  const { worker } = running;
  return new Promise((done, fail) => {
    if (running.ended) throw running.ended;
    const over = (settle: () => void): void => {
      worker.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
      settle();
    };
    const onMessage = (answer: FromWriter): void =>
      over(() => (answer.type === "done" ? done(answer.result) : fail(errorOf(answer.failure))));
    // The thread's own listeners run first, and set `ended`.
    const onEnd = (): void => over(() => fail(running.ended!));
    worker.on("message", onMessage).on("error", onEnd).on("exit", onEnd);
    try {
      send(running, message);
    } catch (error) {
      over(() => fail(error as Error));
    }
  });
}

function send({ worker }: RunningWriter, message: ToWriter): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(message);
}

function errorOf({ message, why, cause }: WriteFailure): Error {
  return why === undefined ? new Error(message, { cause }) : storeFailure(why, message, cause);
}

function ended(why: string, cause?: Error): Error {
  return storeFailure("unavailable", `The thread that writes the library failed: ${why}. Nothing was written.`, cause);
}

/** Returns the path of the built writer thread, also if this file runs from its TypeScript source. */
function entry(): string {
  const here = import.meta.url;
  const main = here.endsWith(".ts") ? "../../../dist/store/writing/main.js" : "main.js";
  return fileURLToPath(new URL(main, here));
}
