import { readdirSync, statSync, type Dirent } from "node:fs";
import { extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Maximum number of files of one stamp; further ones are not checked. */
const MAX_FILES = 500;
const MAX_DEPTH = 4;
/**
 * Age in milliseconds below which a file counts as young: it may change again within the same tick of the file system's
 * clock.
 */
const YOUNG_MS = 25;
const MAX_LOOKS = 4;
/**
 * Suffixes of files that an interpreter loads. Other files are ignored, because data that a tool writes into its own
 * folder must not restart it at each call.
 */
const CODE = new Set([".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", ".toml"]);
const PASSED_OVER = new Set(["node_modules", "__pycache__"]);

/** State of some code files at one time. */
export interface CodeStamp {
  readonly text: string;
  /** False if a further change could give the same stamp. */
  readonly isSettled: boolean;
}

/**
 * Returns a stamp of all code files in some folders and their subfolders, with one `stat` per file. `leftOut`: excluded
 * folders.
 */
export function stampCode(folders: readonly string[], leftOut: readonly string[] = []): CodeStamp {
  const now = Date.now();
  const parts: string[] = [];
  let newest = 0;
  const look = (folder: string, depth: number): void => {
    for (const entry of entriesOf(folder)) {
      if (parts.length >= MAX_FILES || entry.name.startsWith(".") || PASSED_OVER.has(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH && !leftOut.includes(path)) look(path, depth + 1);
        continue;
      }
      const stats = CODE.has(extname(entry.name)) ? statSync(path, { throwIfNoEntry: false }) : undefined;
      if (!stats) continue;
      newest = Math.max(newest, stats.mtimeMs, stats.ctimeMs);
      parts.push(`${path}:${stats.mtimeMs}:${stats.ctimeMs}:${stats.size}:${stats.ino}`);
    }
  };
  for (const folder of folders) look(folder, 0);
  return { text: parts.join("\n"), isSettled: newest < now - YOUNG_MS };
}

/**
 * Returns a stamp that differs after any later change: waits until the clock tick of the last change is over. Call it
 * before the code is loaded.
 */
export async function settledStamp(stamp: () => CodeStamp): Promise<CodeStamp> {
  let last = stamp();
  for (let looks = 1; looks < MAX_LOOKS && !last.isSettled; looks += 1) {
    await sleep(YOUNG_MS);
    last = stamp();
  }
  return last;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
