import { randomBytes } from "node:crypto";
import { lstatSync, rmSync, writeFileSync, type Stats } from "node:fs";
import { lstat, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { renameFile, renameFileSync } from "./rename.ts";

/** Mode of files that may contain keys: only the owner may read them. */
export const PRIVATE_MODE = 0o600;

export interface WholeFileOptions {
  /** Mode of the file. @default PRIVATE_MODE */
  readonly mode?: number;
  /** True if the mode is exact; false if it is reduced by the umask, like that of any new file. @default true */
  readonly isModeExact?: boolean;
  /** True if the file is flushed to disk before resolving, for content that cannot be recreated. @default true */
  readonly isSynced?: boolean;
}

/**
 * Replaces a file's content atomically: readers, and a process killed meanwhile, find either the old or the new
 * content. Rejects with the system's error, or with the code `EEXIST` if the path is a device, a pipe or a socket,
 * which would be lost. The file is then unchanged.
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
  { mode = PRIVATE_MODE, isModeExact = true, isSynced = true }: WholeFileOptions = {},
): Promise<void> {
  assertReplaceable(path, await lstat(path).catch(() => undefined));
  const beside = draftOf(path);
  try {
    const handle = await open(beside, "wx", mode);
    try {
      if (isModeExact) await handle.chmod(mode);
      await handle.writeFile(content);
      if (isSynced) await handle.sync();
    } finally {
      await handle.close();
    }
    await renameFile(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/**
 * Like `writeWhole`, but synchronous: for small private files that can be recreated, if no other work may run in
 * between. Throws the same errors.
 */
export function writeWholeSync(path: string, content: string): void {
  assertReplaceable(path, lstatSync(path, { throwIfNoEntry: false }));
  const beside = draftOf(path);
  try {
    writeFileSync(beside, content, { flag: "wx", mode: PRIVATE_MODE });
    renameFileSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

function assertReplaceable(path: string, found: Stats | undefined): void {
  if (!found || found.isFile() || found.isSymbolicLink() || found.isDirectory()) return;
  const message = `${path} is a device, a pipe or a socket, and cannot be replaced by a file. Name an ordinary file.`;
  throw Object.assign(new Error(message), { code: "EEXIST" });
}

/**
 * Returns the path of a temporary file in the same folder, and therefore on the same disk. Its name is short, even if
 * the file's name has the maximum length.
 */
function draftOf(path: string): string {
  return join(dirname(path), `.toolyard-${randomBytes(8).toString("hex")}.tmp`);
}
