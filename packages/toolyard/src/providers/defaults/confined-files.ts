import { constants } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { basename, extname } from "node:path";
import { formatBytes } from "../../core/text/bytes.ts";
import { codeOf } from "../../core/errors.ts";
import { writeWhole } from "../../files/write-whole.ts";
import { confinedPath, FileRefusal } from "./confined-path.ts";

export interface ConfinedFilesOptions {
  /** Absolute paths of the folders; at least one. */
  readonly roots: readonly string[];
  readonly maxBytes: number;
}

const NEW_FILE_MODE = 0o644;
const MAX_NUMBERED = 1000;

/**
 * Writes files inside some folders and nowhere else. Rejects with a `FileRefusal`, whose message is for the caller.
 */
export class ConfinedFiles {
  readonly #options: ConfinedFilesOptions;
  /** Last pending write of each file: writes to one file run in sequence. */
  readonly #tails = new Map<string, Promise<unknown>>();
  /** Last pending path: paths are resolved one after another, so that writes queue in the order of the calls. */
  #lastFound: Promise<unknown> = Promise.resolve();

  constructor(options: ConfinedFilesOptions) {
    this.#options = options;
  }

  /** Replaces the whole file atomically. Returns its absolute path. */
  overwrite(path: string, content: Uint8Array): Promise<string> {
    return this.#write(path, content, (real) => replaceFile(real, content));
  }

  /** Appends to a file, and creates it if it is missing. Returns its absolute path. */
  append(path: string, content: Uint8Array): Promise<string> {
    return this.#write(path, content, (real) => appendFile(real, content, this.#options.maxBytes));
  }

  /** Creates a file with this name, or with a number added if it exists. Returns its absolute path. */
  async add(path: string, content: Uint8Array): Promise<string> {
    const end = extname(path);
    for (let number = 1; number <= MAX_NUMBERED; number += 1) {
      const numbered = number === 1 ? path : `${path.slice(0, path.length - end.length)}-${number}${end}`;
      const written = await this.#write(numbered, content, async (real) => {
        if (await fileAt(real)) return undefined;
        return replaceFile(real, content);
      });
      if (written !== undefined) return written;
    }
    throw new FileRefusal(`There are ${MAX_NUMBERED} files called \`${path}\` already. Give another name.`);
  }

  async #write<T extends string | undefined>(
    path: string,
    content: Uint8Array,
    write: (real: string) => Promise<T>,
  ): Promise<T> {
    const { roots, maxBytes } = this.#options;
    if (content.byteLength > maxBytes) throw tooLarge(content.byteLength, maxBytes);
    try {
      const found = this.#lastFound.then(() => confinedPath(path, roots));
      this.#lastFound = found.catch(() => {});
      const real = await found;
      return await this.#inTurn(real, () => write(real));
    } catch (error) {
      throw toRefusal(error, path);
    }
  }

  async #inTurn<T>(real: string, write: () => Promise<T>): Promise<T> {
    const turn = (this.#tails.get(real) ?? Promise.resolve()).then(write);
    const tail = turn.catch(() => {});
    this.#tails.set(real, tail);
    try {
      return await turn;
    } finally {
      if (this.#tails.get(real) === tail) this.#tails.delete(real);
    }
  }
}

/** Returns the mode of the existing file; undefined if there is none. Throws for anything that is no file. */
async function fileAt(path: string): Promise<{ readonly mode: number } | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isDirectory()) throw new FileRefusal(`\`${basename(path)}\` is a folder. Give another name.`);
    if (!stats.isFile())
      throw new FileRefusal(`\`${basename(path)}\` is no ordinary file and is left alone. Give another name.`);
    return { mode: stats.mode & 0o777 };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function replaceFile(path: string, content: Uint8Array): Promise<string> {
  const before = await fileAt(path);
  await writeWhole(path, content, { mode: before?.mode ?? NEW_FILE_MODE, isModeExact: before !== undefined });
  return path;
}

// Does not follow links, because a link may have been created at the path since it was checked.
const APPEND_FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

async function appendFile(path: string, content: Uint8Array, maxBytes: number): Promise<string> {
  await fileAt(path);
  const handle = await open(path, APPEND_FLAGS, NEW_FILE_MODE);
  return closing(handle, async () => {
    const stats = await handle.stat();
    // A file with a second hard link is refused, because the same file may also be outside the folders.
    if (!stats.isFile() || stats.nlink > 1)
      throw new FileRefusal(
        `\`${basename(path)}\` has a second name (a hard link), so nothing is appended to it. ` +
          "Use mode `overwrite`, or give another name.",
      );
    if (stats.size + content.byteLength > maxBytes) throw tooLarge(stats.size + content.byteLength, maxBytes);
    try {
      await handle.writeFile(content);
    } catch (error) {
      await handle.truncate(stats.size);
      throw error;
    }
    return path;
  });
}

async function closing<T>(handle: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await handle.close();
  }
}

function tooLarge(bytes: number, maxBytes: number): FileRefusal {
  return new FileRefusal(
    `The file would have ${formatBytes(bytes)}, and ${formatBytes(maxBytes)} are allowed. ` +
      "Write less, or raise `default_tools.max_file_size`.",
    { kind: "too_large" },
  );
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "may not be written: the hub has no right to"],
  ["EPERM", "may not be written: the hub has no right to"],
  ["EROFS", "cannot be written: its disk is read-only"],
  ["ENOSPC", "cannot be written: the disk is full"],
  ["EDQUOT", "cannot be written: the disk quota is used up"],
  ["ENAMETOOLONG", "cannot be written: a part of its name is too long"],
  ["ENOTDIR", "cannot be written: a part of the path is a file, not a folder"],
  ["EEXIST", "cannot be written: a part of the path is a file, not a folder"],
  ["EISDIR", "cannot be written: it is a folder"],
  ["ELOOP", "cannot be written: its symbolic links form a loop or have no target"],
  ["EILSEQ", "cannot be written: the file system does not allow this name"],
  ["EINVAL", "cannot be written: the disk takes no such name"],
]);

function toRefusal(error: unknown, path: string): unknown {
  const code = codeOf(error);
  const reason = code === undefined ? undefined : REASONS.get(code);
  const kind = code === "EACCES" || code === "EPERM" ? "denied" : "tool_error";
  return reason === undefined ? error : new FileRefusal(`\`${path}\` ${reason}.`, { kind, cause: error });
}
