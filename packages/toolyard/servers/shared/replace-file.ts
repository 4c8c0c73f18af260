import { randomBytes } from "node:crypto";
import { chmod, lstat, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface ReplaceOptions {
  /** Mode of a new file; an existing file keeps its mode. @default 0o666 reduced by the umask */
  readonly mode?: number;
  /** True if the file is flushed to disk, so that it survives a power failure. @default true */
  readonly isSynced?: boolean;
}

/**
 * Replaces the content of a file in one step. A concurrent reader, or a process that is killed in between, finds the
 * old or the new content. A link is replaced, not followed, because its target may be a file that must not be written.
 * Rejects with the system's error and leaves the file unchanged.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o666, isSynced = true }: ReplaceOptions = {},
): Promise<void> {
  const before = await lstat(path).catch(() => undefined);
  const own = before?.isFile() ? before.mode & 0o777 : undefined;
  const beside = join(dirname(path), `.toolyard-${randomBytes(8).toString("hex")}.tmp`);
  await inPlaceOf(path, beside, async () => {
    await writeFile(beside, content, { flag: "wx", mode: own ?? mode, flush: isSynced });
    if (own !== undefined) await chmod(beside, own);
  });
}

/**
 * Runs `write` for the draft and moves the draft to the file's path once it is complete. Removes an incomplete draft.
 */
export async function inPlaceOf<T>(file: string, draft: string, write: () => T | Promise<T>): Promise<T> {
  try {
    const written = await write();
    await rename(draft, file);
    return written;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
