import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFile, type ReplaceOptions } from "toolyard/service/replace-file";

/** Writes a file of the library's own, whole or not at all; it is its owner's alone, as are the folders above it. */
export async function writeKept(path: string, value: unknown, options: ReplaceOptions = {}): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, JSON.stringify(value), { mode: 0o600, ...options });
}
