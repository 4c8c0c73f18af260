import { readFileSync } from "node:fs";

/** Measures the duration of turns of this thread's event loop. */
export interface LoopWatch extends Disposable {
  /** Returns the CPU time of the longest turn since the previous call, in milliseconds. */
  longestMs(): number;
}

/**
 * Measures CPU time of the main thread only, so that other load does not fail a test. Only Linux reports it; other
 * systems use wall-clock time.
 */
export function watchLoop(): LoopWatch {
  let longestMs = 0;
  let isOver = false;
  let lastMs = mainThreadMs();
  const turn = (): void => {
    const nowMs = mainThreadMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(turn);
  };
  turn();
  return {
    longestMs: () => {
      const longest = Math.max(longestMs, mainThreadMs() - lastMs);
      longestMs = 0;
      lastMs = mainThreadMs();
      return longest;
    },
    [Symbol.dispose]: () => void (isOver = true),
  };
}

const STATISTICS = `/proc/self/task/${process.pid}/schedstat`;

function mainThreadMs(): number {
  if (process.platform !== "linux") return performance.now();
  return Number(readFileSync(STATISTICS, "latin1").split(" ")[0]) / 1e6;
}
