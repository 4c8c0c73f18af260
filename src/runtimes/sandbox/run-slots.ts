/** A bound on what runs at the same time, with a bounded line of those who wait. */
export class RunSlots {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #line: (() => void)[] = [];
  #taken = 0;

  constructor(most: number, mostWaiting: number) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /** Resolves once there is a slot, with `true`; with `false` when too many wait, after `maxWaitMs`, or when the caller goes. */
  async take(maxWaitMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#taken < this.#most) {
      this.#taken += 1;
      return true;
    }
    if (this.#line.length >= this.#mostWaiting) return false;
    return new Promise((resolve) => {
      const settle = (isMine: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        resolve(isMine);
      };
      const enter = (): void => settle(true);
      const leave = (): void => {
        const at = this.#line.indexOf(enter);
        if (at >= 0) this.#line.splice(at, 1);
        settle(false);
      };
      const timer = setTimeout(leave, maxWaitMs);
      signal.addEventListener("abort", leave, { once: true });
      this.#line.push(enter);
    });
  }

  give(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#taken -= 1;
  }
}
