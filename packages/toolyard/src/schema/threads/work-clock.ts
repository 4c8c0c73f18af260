/** Upper limit of the factor by which the time limit grows while the process gets too little processor time. */
const MAX_PATIENCE = 6;

/** Processor time of this process so far, in milliseconds. */
function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Reports when a thread's work has used its time. It first waits until this process, and so the thread, has had that
 * much processor time, because a busy or sleeping machine is not the work's fault, and until the thread's pending
 * messages were read.
 */
export class WorkClock {
  readonly #processMs: () => number;
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(readProcessMs: () => number = processMs) {
    this.#processMs = readProcessMs;
  }

  /** Stops an earlier measurement. */
  start(limitMs: number, onOver: () => void): void {
    this.stop();
    const [begunAt, usedBefore] = [performance.now(), this.#processMs()];
    const wait = (ms: number): void => {
      this.#timer = setTimeout(() => (this.#turn = setImmediate(judge)), Math.max(1, Math.ceil(ms)));
    };
    const judge = (): void => {
      const missingMs = limitMs - (this.#processMs() - usedBefore);
      const leftMs = limitMs * MAX_PATIENCE - (performance.now() - begunAt);
      if (missingMs <= 0 || leftMs <= 0) onOver();
      else wait(Math.min(missingMs, leftMs));
    };
    wait(limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
  }
}
