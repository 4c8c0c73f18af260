import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFile, type ReplaceOptions } from "toolyard/service/replace-file";

/** Writes a file of the library, whole or not at all. Only its owner can read the file and its folders. */
export async function writeKept(path: string, value: unknown, options: ReplaceOptions = {}): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, JSON.stringify(value), { mode: 0o600, ...options });
}
