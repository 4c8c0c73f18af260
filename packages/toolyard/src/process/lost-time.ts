import { readdirSync, readFileSync } from "node:fs";
import { readFamily } from "./process-table.ts";

/** Processor time of one thread so far, and its waiting time. */
export interface ThreadShare {
  /** Unique among running threads. */
  readonly id: string;
  readonly ranMs: number;
  /** It wanted a processor, and others had them. */
  readonly waitedMs: number;
  /** It waits for a disk at this moment. */
  readonly isAtDisk: boolean;
}

const MAX_PROCESSES = 64;
const MAX_THREADS = 512;
const NS_PER_MS = 1e6;

/** Returns the threads of a process and of its descendants. Linux only; empty on other systems. */
export function readShares(pid: number): readonly ThreadShare[] {
  if (process.platform !== "linux") return [];
  const threads = readFamily(pid, MAX_PROCESSES).flatMap((member) =>
    namesIn(`/proc/${member}/task`).map((thread) => `/proc/${member}/task/${thread}`),
  );
  return threads.slice(0, MAX_THREADS).map(shareOf);
}

// `schedstat` has nanoseconds on a processor and waiting for one; `stat` has the state behind the name in brackets.
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
 * slow. Sleep does not count.
 */
export class LostTime {
  readonly #read: (pid: number) => readonly ThreadShare[];
  #known: ReadonlyMap<string, ThreadShare> = new Map();

  constructor(read: (pid: number) => readonly ThreadShare[] = readShares) {
    this.#read = read;
  }

  /** Lost part of the `passedMs` since the last call. */
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
    // Several threads that want more than there is of time are each held up by the same part of it.
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
