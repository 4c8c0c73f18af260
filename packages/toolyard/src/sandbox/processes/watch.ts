import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { readFamily } from "../../process/process-table.ts";

/** Maximum number of watched processes of a run: the interpreter, and the few that the isolation starts. */
const MAX_PROCESSES = 64;

function familyOf(pid: number): readonly number[] {
  return readFamily(pid, MAX_PROCESSES);
}

/** Stops or continues a process. A stopped process computes nothing in any of its threads, and can still be ended. */
export function freeze(pid: number, isFrozen: boolean): void {
  for (const member of familyOf(pid)) {
    try {
      process.kill(member, isFrozen ? "SIGSTOP" : "SIGCONT");
    } catch {
      // The error is ignored: the process has already ended.
    }
  }
}

/** Returns the memory in use by a process and its descendants, in bytes; 0 if the system does not report it. */
export function residentOf(pid: number): number {
  return familyOf(pid).reduce(
    (sum, member) => sum + (Number(read(`/proc/${member}/statm`).split(" ")[1]) || 0) * PAGE_BYTES,
    0,
  );
}

/**
 * Returns the number of files and folders in in-memory folders, which only the innermost descendant of the process
 * `pid` can see; 0 if they cannot be read.
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
