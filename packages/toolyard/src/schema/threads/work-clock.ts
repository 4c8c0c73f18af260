/** While the process gets so little of the processor, what it works at may take so many times as long. */
const MAX_PATIENCE = 6;

/** Processor time of this process so far, in milliseconds. */
function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Tells when what a thread works at has had its time. Not before this process, and so the thread, has been given that
 * much of the processor: a machine that is busy, or was asleep, is no fault of the work. Nor before what the thread
 * has sent meanwhile was read.
 */
export class WorkClock {
  readonly #processMs: () => number;
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(readProcessMs: () => number = processMs) {
    this.#processMs = readProcessMs;
  }

  /** Stops what it counted before. */
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
