import { appendFileSync, closeSync, constants, fstatSync, mkdirSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { BufferedSink, ChunkError, lineText, type LateLine, type LineSink, type SinkOptions } from "./line-sink.ts";

/** Mode of log files: only the hub's own user may read them. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/**
 * Flags for appending, without waiting for the reader of a pipe: opening a pipe without a reader would block a thread,
 * and the program could not exit. Windows has no `O_NONBLOCK`.
 */
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Opens a sink that writes to stderr. Terminals and files accept each line immediately. The reader of a pipe may be
 * slow: unread lines are kept up to a limit, and dropped beyond it.
 */
export function openStderrSink(options: SinkOptions): LineSink {
  const release = holdStderr();
  const sink = takesAtOnce() ? new DirectSink() : new BufferedSink(writeStderr, options);
  return {
    write: (line) => sink.write(line),
    close: async () => {
      await sink.close();
      release();
    },
  };
}

let stderrHolds = 0;

/**
 * Listens for errors of stderr, so that the program continues if the reader closes the pipe. All sinks share one
 * listener, because a program may have many hubs.
 */
function holdStderr(): () => void {
  stderrHolds += 1;
  if (stderrHolds === 1) process.stderr.on("error", ignore);
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    stderrHolds -= 1;
    if (stderrHolds === 0) process.stderr.off("error", ignore);
  };
}

function takesAtOnce(): boolean {
  try {
    return process.stderr.isTTY || fstatSync(process.stderr.fd).isFile();
  } catch {
    return false;
  }
}

class DirectSink implements LineSink {
  write(line: string | LateLine): void {
    process.stderr.write(`${lineText(line)}\n`);
  }

  async close(): Promise<void> {}
}

function writeStderr(chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stderr.write(chunk, (error) => (error ? reject(new ChunkError(chunk, true, { cause: error })) : resolve()));
  });
}

function ignore(): void {}

export interface FileSinkOptions extends SinkOptions {
  /** Called before each chunk is written, for example to rename a file that is too large. It must not reject. */
  readonly beforeWrite?: () => Promise<void>;
}

/**
 * Opens a sink that appends lines to a file. The file is opened for each chunk, so writing continues after the file was
 * moved or deleted, or its disk was full.
 */
export function openFileSink(path: string, { beforeWrite, ...options }: FileSinkOptions): LineSink {
  const write = async (chunk: Buffer): Promise<void> => {
    await beforeWrite?.();
    await append(path, chunk);
  };
  const sink = new BufferedSink(write, { gatherMs: GATHER_MS, ...options });
  const appendNow = (): void => appendRest(path, sink);
  if (atExit.size === 0) process.on("exit", appendAll);
  atExit.add(appendNow);
  return {
    write: (line) => sink.write(line),
    close: async () => {
      await sink.close();
      if (atExit.delete(appendNow) && atExit.size === 0) process.off("exit", appendAll);
    },
  };
}

/** Functions that write the pending lines of files when the program exits, called by one shared listener. */
const atExit = new Set<() => void>();

function appendAll(): void {
  for (const appendNow of atExit) appendNow();
}

/**
 * Time for which lines are collected. Opening, writing and closing a file costs as much as half a call, so it is done
 * at most twenty times a second.
 */
const GATHER_MS = 50;

/** Writes the pending lines synchronously, when the program exits or crashes. */
function appendRest(path: string, sink: BufferedSink): void {
  const rest = sink.takeRest();
  if (!rest) return;
  try {
    const file = openSync(path, APPEND, FILE_MODE);
    appendFileSync(file, rest);
    closeSync(file);
  } catch {
    // The error is ignored, because there is no output left to which it could be reported.
  }
}

async function append(path: string, chunk: Buffer): Promise<void> {
  let rest = chunk;
  try {
    const file = await openForAppend(path);
    try {
      while (rest.length > 0) rest = rest.subarray((await file.write(rest)).bytesWritten);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new ChunkError(rest, false, { cause: error });
  }
}

async function openForAppend(path: string): ReturnType<typeof open> {
  try {
    return await open(path, APPEND, FILE_MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
    return open(path, APPEND, FILE_MODE);
  }
}
