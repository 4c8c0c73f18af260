import { existsSync } from "node:fs";
import { access, constants, mkdir, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { writeAdvice } from "../../core/text/write-advice.ts";
import { LockTaken } from "../../files/file-lock.ts";
import { PRIVATE_MODE, writeWhole } from "../../files/write-whole.ts";

/**
 * Replaces a file's text atomically, so that readers see either the old or the new text. A link is followed, and the
 * file keeps its mode. Only the owner can access a new file and its new folders. Throws a `ConfigError` if the file
 * cannot be written.
 */
export function replaceFile(path: string, text: string): Promise<void> {
  return onWritable(path, async () => {
    const real = await realpath(path).catch(() => path);
    const mode = await modeOf(real);
    await mkdir(dirname(real), { recursive: true });
    await writeWhole(real, text, { mode });
  });
}

/** Throws a `ConfigError` if `replaceFile` would fail, as far as that can be checked in advance. */
export function assertReplaceable(path: string): Promise<void> {
  return onWritable(path, async () => {
    const real = await realpath(path).catch(() => path);
    await modeOf(real);
    await access(existingFolder(dirname(real)), constants.W_OK);
  });
}

function existingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existingFolder(dirname(folder));
}

/** Converts a system error about a file to a `ConfigError` that names the file. */
export async function onWritable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (!(error instanceof LockTaken) && (typeof code !== "string" || !/^E[A-Z]+$/.test(code))) throw error;
    const reason = error instanceof LockTaken ? error.message : String(code);
    const advice = writeAdvice(reason, "Check the write permissions of the folder.");
    throw new ConfigError([`${path} cannot be written (${reason}). Nothing was changed. ${advice}`], { cause: error });
  }
}

/** Returns the mode of a file. A read-only file is not replaced, even if its folder would allow it. */
async function modeOf(path: string): Promise<number> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) return PRIVATE_MODE;
  await access(path, constants.W_OK);
  return stats.mode & 0o777;
}
