import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Of files that may hold keys: they are their owner's alone. */
export const PRIVATE_MODE = 0o600;

/**
 * Puts a text in a file's place in one step: whoever reads it, and whoever is killed in between, finds the old text or
 * the new one. Rejects with the system's error; the file is as it was then.
 */
export async function writeWhole(path: string, text: string, mode = PRIVATE_MODE): Promise<void> {
  const beside = join(dirname(path), `.${basename(path)}-${randomBytes(6).toString("hex")}.tmp`);
  try {
    const handle = await open(beside, "wx", mode);
    try {
      await handle.chmod(mode);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
