import { readdirSync, statSync, type Dirent } from "node:fs";
import { extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Files that one stamp is made of; what is beyond is not looked at. */
const MAX_FILES = 500;
const MAX_DEPTH = 4;
/**
 * Whatever changed this shortly before a look may have changed once more within the same tick of the file system's
 * clock.
 */
const YOUNG_MS = 25;
const MAX_LOOKS = 4;
/** What an interpreter loads. Data that a tool writes beside itself must not make it start anew at each call. */
const CODE = new Set([".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", ".toml"]);
const PASSED_OVER = new Set(["node_modules", "__pycache__"]);

/** What some code looked like at one moment. */
export interface CodeStamp {
  readonly text: string;
  /** False when a further change could look the same. */
  readonly isSettled: boolean;
}

/** A look at all code in some folders and below: one `stat` a file. `leftOut` names folders that do not count. */
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
 * A stamp that a later change cannot look like: waits out the tick of the last change. Whoever asks has loaded nothing
 * yet.
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
