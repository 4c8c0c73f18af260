import { closeSync, constants, fstatSync, openSync, read } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { codeOf } from "../core/errors.ts";

const readInto = promisify(read);

/** Maximum size of a text file, in bytes. Text written by hand is shorter; callers with their own limit pass it. */
const MAX_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Maximum time until a pipe ends, such as the pipe of `<(command)` in a shell, in milliseconds. */
const PIPE_WAIT_MS = 5000;

export interface ReadTextOptions {
  /**
   * Maximum size in bytes. One byte more is read, so that the caller can detect a longer file. @default 16 MiB; a
   * longer file is an error
   */
  readonly maxBytes?: number;
  /** Maximum time to read a pipe, in milliseconds. @default 5 s */
  readonly pipeWaitMs?: number;
}

/**
 * Reads a file as UTF-8. A named pipe is opened without blocking and read for at most `pipeWaitMs`, so no thread hangs
 * and the process can exit. Rejects with the system's error, or with an error with a `code` that describes the path.
 */
export async function readText(path: string, options: ReadTextOptions = {}): Promise<string> {
  const { maxBytes = MAX_BYTES } = options;
  const read = await readUpTo(path, { ...options, maxBytes });
  if (options.maxBytes === undefined && read.length > maxBytes) throw unreadable(`over ${maxBytes} bytes`, path);
  return read.toString("utf8");
}

type Limits = Required<Pick<ReadTextOptions, "maxBytes">> & ReadTextOptions;

async function readUpTo(path: string, limits: Limits): Promise<Buffer> {
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  let isOpen = true;
  try {
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw unreadable("EISDIR", path);
    if (stats.isFIFO()) {
      // `readPipe` closes the descriptor together with its socket.
      isOpen = false;
      return await readPipe(descriptor, path, limits);
    }
    if (!stats.isFile() && !stats.isCharacterDevice()) throw unreadable("not a file", path);
    return await readDescriptor(descriptor, path, limits.maxBytes);
  } finally {
    if (isOpen) closeSync(descriptor);
  }
}

async function readDescriptor(descriptor: number, path: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let length = 0; length <= maxBytes;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - length));
    const { bytesRead } = await readInto(descriptor, chunk, 0, chunk.length, null).catch((error: unknown) => {
      throw codeOf(error) === "EAGAIN" ? unreadable("not a file", path) : error;
    });
    if (bytesRead === 0) break;
    chunks.push(chunk.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}

async function readPipe(fd: number, path: string, { maxBytes, pipeWaitMs = PIPE_WAIT_MS }: Limits): Promise<Buffer> {
  const pipe = new Socket({ fd, readable: true, writable: false });
  const late = setTimeout(
    () => pipe.destroy(unreadable(`a pipe that did not end within ${pipeWaitMs / 1000} s`, path)),
    pipeWaitMs,
  );
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of pipe) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > maxBytes) break;
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(late);
    pipe.destroy();
  }
}

function unreadable(code: string, path: string): Error {
  return Object.assign(new Error(`${path} cannot be read: ${code}.`), { code });
}
