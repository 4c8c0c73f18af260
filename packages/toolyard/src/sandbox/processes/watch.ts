import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { readFamily } from "../../process/process-table.ts";

/** Processes behind a wall are few: those of the wall, and the interpreter. */
const MAX_PROCESSES = 64;

function familyOf(pid: number): readonly number[] {
  return readFamily(pid, MAX_PROCESSES);
}

/**
 * Stops or continues a process. A stopped process computes nothing, whatever threads it has, and can still be ended.
 */
export function freeze(pid: number, isFrozen: boolean): void {
  for (const member of familyOf(pid)) {
    try {
      process.kill(member, isFrozen ? "SIGSTOP" : "SIGCONT");
    } catch {
      // It ended meanwhile.
    }
  }
}

/** Memory that a family of processes has in use, in bytes; 0 where the system does not say. */
export function residentOf(pid: number): number {
  return familyOf(pid).reduce(
    (sum, member) => sum + (Number(read(`/proc/${member}/statm`).split(" ")[1]) || 0) * PAGE_BYTES,
    0,
  );
}

/**
 * Files and folders that were made in folders of memory, as seen through the innermost process; 0 where they cannot be
 * seen.
 */
export async function inodesOf(pid: number, folders: readonly string[]): Promise<number> {
  const counts = folders.map(async (folder) => {
    try {
      const { files, ffree } = await statfs(`/proc/${familyOf(pid).at(-1)}/root${folder}`);
      return files - ffree;
    } catch {
      return 0;
    }
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

const PAGE_BYTES = 4096;
