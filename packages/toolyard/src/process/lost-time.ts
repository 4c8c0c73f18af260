import { readdirSync, readFileSync } from "node:fs";
import { readFamily } from "./process-table.ts";

/** Processor time and waiting time of one thread since its start. */
export interface ThreadShare {
  /** Unique among running threads. */
  readonly id: string;
  readonly ranMs: number;
  /** Time in which the thread was ready but other threads had the processors, in milliseconds. */
  readonly waitedMs: number;
  /** True if the thread is waiting for a disk. */
  readonly isAtDisk: boolean;
}

const MAX_PROCESSES = 64;
const MAX_THREADS = 512;
const NS_PER_MS = 1e6;

/** Returns the times of all threads of a process and of its descendants. Linux only; empty on other systems. */
export function readShares(pid: number): readonly ThreadShare[] {
  if (process.platform !== "linux") return [];
  const threads = readFamily(pid, MAX_PROCESSES).flatMap((member) =>
    namesIn(`/proc/${member}/task`).map((thread) => `/proc/${member}/task/${thread}`),
  );
  return threads.slice(0, MAX_THREADS).map(shareOf);
}

// Parses `schedstat`, which contains the nanoseconds on a processor and in the queue for one, and `stat`, which
// contains the state after the name in brackets.
function shareOf(id: string): ThreadShare {
  const [ran, waited] = read(`${id}/schedstat`).split(" ");
  const stat = read(`${id}/stat`);
  return {
    id,
    ranMs: (Number(ran) || 0) / NS_PER_MS,
    waitedMs: (Number(waited) || 0) / NS_PER_MS,
    isAtDisk: stat[stat.lastIndexOf(")") + 2] === "D",
  };
}

/**
 * Measures how long a process could not run although it was ready: other processes used the processors, or its disk was
 * slow. Time in which the process is asleep does not count.
 */
export class LostTime {
  readonly #read: (pid: number) => readonly ThreadShare[];
  #known: ReadonlyMap<string, ThreadShare> = new Map();

  constructor(read: (pid: number) => readonly ThreadShare[] = readShares) {
    this.#read = read;
  }

  /** Returns the lost milliseconds of the `passedMs` since the last call. */
  look(pid: number, passedMs: number): number {
    const shares = this.#read(pid);
    let [ranMs, waitedMs] = [0, 0];
    for (const share of shares) {
      const before = this.#known.get(share.id);
      ranMs += Math.max(0, share.ranMs - (before?.ranMs ?? 0));
      waitedMs += Math.max(0, share.waitedMs - (before?.waitedMs ?? 0));
    }
    this.#known = new Map(shares.map((share) => [share.id, share]));
    if (shares.some(({ isAtDisk }) => isAtDisk)) return passedMs;
    const wantedMs = ranMs + waitedMs;
    // If several threads together need more time than has passed, all of them are delayed by the same share of it.
    return wantedMs === 0 ? 0 : (Math.min(passedMs, wantedMs) * waitedMs) / wantedMs;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
