import { open, type FileHandle } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as pause } from "node:timers/promises";

/** Number of bytes at the end of a log from which lines are shown. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** Polling interval. File system events are unreliable on network drives. */
const LOOK_MS = 200;

/** Returns the last lines of a file, and the offset after them. */
export async function lastLines(
  path: string,
  count: number,
): Promise<{ readonly lines: readonly string[]; readonly offset: number }> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - MAX_TAIL_BYTES);
    const bytes = await readFrom(file, start, size - start);
    // A line without its line break is incomplete. It is shown together with the lines that follow.
    const end = bytes.lastIndexOf(0x0a) + 1;
    const lines = bytes.subarray(0, end).toString("utf8").split(/\r?\n/).slice(0, -1);
    return { lines: count === 0 ? [] : (start > 0 ? lines.slice(1) : lines).slice(-count), offset: start + end };
  } finally {
    await file.close();
  }
}

interface FollowOptions {
  readonly offset: number;
  readonly signal: AbortSignal;
  readonly onLines: (lines: readonly string[]) => Promise<void>;
}

/**
 * Passes on complete lines as they are written, until `signal` aborts. Continues after the file was replaced or
 * emptied.
 */
export async function followFile(path: string, { offset, signal, onLines }: FollowOptions): Promise<void> {
  let at = offset;
  let inode: number | undefined;
  let decoder = new StringDecoder("utf8");
  let rest = "";
  while (!signal.aborted) {
    const part = await nextPart(path, at, inode);
    if (part) {
      if (part.isNew) [decoder, rest] = [new StringDecoder("utf8"), ""];
      ({ at, inode } = part);
      const lines = (rest + decoder.write(part.bytes)).split(/\r?\n/);
      rest = lines.pop() ?? "";
      if (lines.length > 0) await onLines(lines);
    }
    if (!part || part.bytes.length < CHUNK_BYTES) await pause(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

interface Part {
  readonly bytes: Buffer;
  readonly at: number;
  readonly inode: number;
  /** True if the file was replaced or emptied. */
  readonly isNew: boolean;
}

/** Returns the bytes from an offset, or from the start if the file was replaced; undefined while there is no file. */
async function nextPart(path: string, offset: number, inode: number | undefined): Promise<Part | undefined> {
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size, ino } = await file.stat();
    const isNew = (inode !== undefined && ino !== inode) || size < offset;
    const from = isNew ? 0 : offset;
    const bytes = await readFrom(file, from, Math.min(size - from, CHUNK_BYTES));
    return { bytes, at: from + bytes.length, inode: ino, isNew };
  } finally {
    await file.close();
  }
}

async function readFrom(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(buffer, read, length - read, start + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}
