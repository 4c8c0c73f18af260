import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const MAX_ENTRIES = 300;

/** Returns a function that reports whether the folders have changed since its last call. */
export function watchGrowth(folders: readonly string[]): () => boolean {
  let known = folders.map(fingerprint).join();
  return () => {
    const now = folders.map(fingerprint).join();
    const grew = now !== known;
    known = now;
    return grew;
  };
}

/** Returns the sum of the modification times of the folder and of its direct entries. */
function fingerprint(folder: string): number {
  let sum = timeOf(folder);
  if (sum === 0) return 0;
  try {
    for (const name of readdirSync(folder).slice(0, MAX_ENTRIES)) sum += timeOf(join(folder, name));
  } catch {
    // The folder was removed during the check, so it counts as empty.
  }
  return sum;
}

function timeOf(path: string): number {
  try {
    const { mtimeMs, size } = statSync(path);
    return mtimeMs + size;
  } catch {
    return 0;
  }
}
