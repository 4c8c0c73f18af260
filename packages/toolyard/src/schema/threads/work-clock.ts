/** Maximum factor by which the time limit grows while the process gets too little processor time. */
const MAX_PATIENCE = 6;

/** Returns the processor time of this process in milliseconds. */
function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Reports when the work of a thread has used its time. It first waits until this process, and therefore the thread, has
 * had that much processor time, because a busy or sleeping machine is not the fault of the work. It also waits until
 * the thread's pending messages have been read.
 */
export class WorkClock {
  readonly #processMs: () => number;
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(readProcessMs: () => number = processMs) {
    this.#processMs = readProcessMs;
  }

  /** Starts a measurement and stops an earlier one. */
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
