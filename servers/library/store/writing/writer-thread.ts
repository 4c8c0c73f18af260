import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { storeFailure } from "../store-failure.ts";
import type { SqliteWriter } from "../sqlite-writer.ts";
import type { SqliteWrites } from "../sqlite-writes.ts";
import type { Deleted, DocumentFields, Finding, PassageFields, PassageKind, Passages } from "../store.ts";
import type { Asked, FromWriter, ToWriter, WriteFailure, WriterData } from "./messages.ts";

/** Passages of one message: copying all of a book would hold up whoever sends it. */
const MAX_PASSAGES = 100;
/** Writes that wait for their turn; more are refused. */
const MAX_WAITING = 1_000;
/** How long the thread stays where nothing is to be written. */
const IDLE_MS = 10_000;

/**
 * Writes into a file on a thread with a connection of its own, one after another. Readers see a document as it was
 * until all of it is there.
 */
export class WriterThread implements SqliteWriter {
  readonly #data: WriterData;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(data: WriterData) {
    this.#data = data;
  }

  replaceDocument(document: DocumentFields, text: string, passages: Passages): Promise<void> {
    const { chunks, summaries, ...rest } = passages;
    return this.#turn(async (worker) => {
      await sendPassages(worker, "chunk", chunks);
      await sendPassages(worker, "summary", summaries);
      await answerTo(worker, { type: "replace", document, text, rest });
    });
  }

  deleteDocument(sourceId: string): Promise<Deleted | undefined> {
    return this.#do("deleteDocument", sourceId);
  }

  clearVectors(embedder: string): Promise<void> {
    return this.#do("clearVectors", embedder);
  }

  setVectors(kind: PassageKind, sourceId: string, vectors: ReadonlyMap<number, Float32Array>): Promise<void> {
    return this.#do("setVectors", kind, sourceId, new Map(Array.from(vectors, ([id, vector]) => [id, alone(vector)])));
  }

  check(): Promise<Finding[]> {
    return this.#do("check");
  }

  repair(): Promise<void> {
    return this.#do("repair");
  }

  backup(file: string): Promise<void> {
    return this.#do("backup", file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    await this.#end();
  }

  #do<Name extends Asked>(
    name: Name,
    ...given: Parameters<SqliteWrites[Name]>
  ): Promise<Awaited<ReturnType<SqliteWrites[Name]>>> {
    const done = this.#turn((worker) => answerTo(worker, { type: "do", name, given }));
    // The thread calls what has that name.
    return done as Promise<Awaited<ReturnType<SqliteWrites[Name]>>>;
  }

  async #turn<T>(work: (worker: Worker) => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING)
      throw storeFailure("busy", `${MAX_WAITING} changes of ${this.#data.path} wait already. Try again later.`);
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#now(work));
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #now<T>(work: (worker: Worker) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    try {
      return await work(worker);
    } finally {
      // What has nothing to do keeps no program from ending.
      worker.unref();
      this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref();
    }
  }

  #start(): Worker {
    const worker = new Worker(entry(), { workerData: this.#data, execArgv: [] });
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    // What goes wrong with it is told to the write under way.
    worker.on("error", () => {});
    return worker;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    if (!worker) return;
    this.#worker = undefined;
    worker.ref();
    const exit = new Promise((done) => worker.once("exit", done));
    send(worker, { type: "close" });
    await exit;
  }
}

async function sendPassages(worker: Worker, kind: PassageKind, passages: readonly PassageFields[]): Promise<void> {
  for (let at = 0; at < passages.length; at += MAX_PASSAGES) {
    const pieces = passages
      .slice(at, at + MAX_PASSAGES)
      .map((passage) => (passage.vector ? { ...passage, vector: alone(passage.vector) } : passage));
    send(worker, { type: "passages", kind, pieces });
    await nextTurn();
  }
}

/** Of a view, all that it is a view of would be sent. */
function alone(vector: Float32Array): Float32Array {
  return vector.byteLength === vector.buffer.byteLength ? vector : vector.slice();
}

function answerTo(worker: Worker, message: ToWriter): Promise<unknown> {
  return new Promise((done, fail) => {
    const over = (settle: () => void): void => {
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      settle();
    };
    const onMessage = (answer: FromWriter): void =>
      over(() => (answer.type === "done" ? done(answer.result) : fail(errorOf(answer.failure))));
    const onError = (error: Error): void => over(() => fail(ended(error.message, error)));
    const onExit = (code: number): void => over(() => fail(ended(`it ended with ${code}`)));
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    send(worker, message);
  });
}

function send(worker: Worker, message: ToWriter): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(message);
}

function errorOf({ message, why, cause }: WriteFailure): Error {
  return why === undefined ? new Error(message, { cause }) : storeFailure(why, message, cause);
}

function ended(why: string, cause?: Error): Error {
  return storeFailure("unavailable", `The thread that writes the library failed: ${why}. Nothing was written.`, cause);
}

/** The build of it: this file may be run from its source. */
function entry(): string {
  const here = import.meta.url;
  const main = here.endsWith(".ts") ? "../../../../dist/servers/library/store/writing/main.js" : "main.js";
  return fileURLToPath(new URL(main, here));
}
