import { readFileSync } from "node:fs";

/** Watches what one turn of this thread's event loop costs. */
export interface LoopWatch extends Disposable {
  /** Processor time of the longest turn since it was last asked, in milliseconds. */
  longestMs(): number;
}

/**
 * Measures processor time of the main thread alone, since other load must not fail a test. Only Linux reports it; other
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
