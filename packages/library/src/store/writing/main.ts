// The thread that writes into a file, so that slow writes do not block queries.
import { parentPort, workerData } from "node:worker_threads";
import type { Fail, SqliteDriver } from "../sqlite/sqlite-driver.ts";
import { expectFile, openEngine } from "../sqlite/sqlite-engine.ts";
import { SqliteWrites } from "../sqlite/sqlite-writes.ts";
import type { PassageFields } from "../store.ts";
import type { FromWriter, ToWriter, WriteFailure, WriterData } from "./messages.ts";

/**
 * Maximum time that the thread waits for another process that writes, in milliseconds: enough for a book on a busy
 * machine.
 */
const BUSY_MS = 60_000;

const { path, engine, identity } = workerData as WriterData;
const port = parentPort!;
let driver: SqliteDriver | undefined;
let passages = { chunk: [] as PassageFields[], summary: [] as PassageFields[] };

port.on("message", (message: ToWriter) => {
  if (message.type === "passages") passages[message.kind].push(...message.pieces);
  else if (message.type === "forget") passages = { chunk: [], summary: [] };
  else if (message.type === "close") close();
  else void answer(message);
});

async function answer(message: Extract<ToWriter, { type: "replace" | "do" }>): Promise<void> {
  const { chunk: chunks, summary: summaries } = passages;
  passages = { chunk: [], summary: [] };
  try {
    const writes = new SqliteWrites((driver ??= await open()));
    const result =
      message.type === "replace"
        ? writes.replaceDocument(message.document, message.text, { ...message.rest, chunks, summaries })
        : await (writes[message.name] as (...given: readonly unknown[]) => unknown)(...message.given);
    send({ type: "done", result });
  } catch (error) {
    send({ type: "failed", failure: failureOf(error as Error) });
  }
}

async function open(): Promise<SqliteDriver> {
  // If the file was removed or replaced, the engine would create an empty one, or write the old log into the new file.
  expectFile(path, identity, failed);
  const opened = await openEngine(path, engine, failed);
  opened.exec(`pragma busy_timeout = ${BUSY_MS}`);
  return opened;
}

function close(): void {
  driver?.close();
  port.close();
}

/** An error that the main thread converts into an error of the store. */
class RemoteFailure extends Error {
  readonly why: Parameters<Fail>[0];

  constructor(why: Parameters<Fail>[0], message: string, cause: unknown) {
    super(message, { cause });
    this.why = why;
  }
}

function failed(...[why, message, cause]: Parameters<Fail>): Error {
  return new RemoteFailure(why, message, cause);
}

function failureOf(error: Error): WriteFailure {
  return {
    message: error.message,
    ...(error instanceof RemoteFailure && { why: error.why }),
    ...(error.cause instanceof Error && { cause: error.cause }),
  };
}

function send(message: FromWriter): void {
  port.postMessage(message);
}
