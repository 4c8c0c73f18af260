import { constants, type BigIntStats } from "node:fs";
import { open, realpath, stat, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { DocumentError } from "./document-error.ts";

export interface OpenOptions {
  /** Maximum size in bytes. */
  readonly most: number;
  /**
   * True if the path is already resolved: a symbolic link at the path, or in a parent folder, is refused. @default
   * false
   */
  readonly isReal?: boolean;
}

export interface OpenFile {
  /** Open file handle. The caller closes it. */
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/** Opens a regular file for reading. Rejects with a `DocumentError`. */
export async function openFile(path: string, { most, isReal = false }: OpenOptions): Promise<OpenFile> {
  // Opening a FIFO without O_NONBLOCK would wait for a writer.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((error: unknown) => {
    throw notOpen(path, (error as NodeJS.ErrnoException).code);
  });
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw new DocumentError("VALIDATION_ERROR", `${path} is not an ordinary file.`);
    if (isReal) await expectReal(path, stats);
    if (stats.size <= most) return { handle, stats };
    throw new DocumentError(
      "TOO_LARGE",
      `${basename(path)} has ${stats.size} bytes, and at most ${most} are read (\`max_file_bytes\`).`,
    );
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Returns all bytes of a file. Rejects with a `DocumentError`. */
export async function readWhole(path: string, options: OpenOptions): Promise<Buffer> {
  const { handle } = await openFile(path, options);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function notOpen(path: string, code = "of an unknown kind"): DocumentError {
  const why = code === "ENOENT" ? "is not there" : `cannot be opened (${code})`;
  return new DocumentError("DOCUMENT_NOT_FOUND", `${path} ${why}.`);
}

/** Checks the path after opening, so that a file swapped for a link in between is detected. */
async function expectReal(path: string, opened: BigIntStats): Promise<void> {
  const real = await realpath(path).catch(() => undefined);
  const there = real === path ? await stat(path, { bigint: true }).catch(() => undefined) : undefined;
  if (there?.ino === opened.ino && there.dev === opened.dev) return;
  throw new DocumentError(
    "ACCESS_DENIED",
    `${path} was replaced by a link or by another file before it was read. Name the file itself.`,
  );
}
