import { fstatSync, mkdirSync, write, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { isatty } from "node:tty";
import { promisify } from "node:util";
import { BufferedSink, ChunkError, type LineSink, type SinkOptions } from "./line-sink.ts";

const writeAsync = promisify(write);
const STDERR = 2;
/** Only the hub's own user reads what it writes. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Lines to stderr. A pipe that nobody reads would stop the whole program if it were written to in the usual way, so pipes are written
 * off the main thread and what does not fit is dropped; terminals and files take each line at once.
 */
export function openStderrSink(options: SinkOptions): LineSink {
  if (isPlainTarget()) return new DirectSink();
  return new BufferedSink(writeStderr, options);
}

function isPlainTarget(): boolean {
  if (isatty(STDERR)) return true;
  try {
    return fstatSync(STDERR).isFile();
  } catch {
    return false;
  }
}

class DirectSink implements LineSink {
  write(line: string): void {
    try {
      writeSync(STDERR, `${line}\n`);
    } catch {
      // A closed terminal or a full disk: there is nowhere left to say so.
    }
  }

  async close(): Promise<void> {}
}

async function writeStderr(chunk: Buffer): Promise<void> {
  let rest = chunk;
  try {
    while (rest.length > 0) rest = rest.subarray((await writeAsync(STDERR, rest)).bytesWritten);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ChunkError(rest, code !== "EAGAIN" && code !== "EINTR", { cause: error });
  }
}

/**
 * Lines appended to a file, which is opened anew for each chunk: it may be moved away, deleted or on a disk that is full for a while, and
 * the next line that can be written is.
 */
export function openFileSink(path: string, options: SinkOptions): LineSink {
  return new BufferedSink((chunk) => append(path, chunk), options);
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
    return await open(path, "a", FILE_MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
    return open(path, "a", FILE_MODE);
  }
}
