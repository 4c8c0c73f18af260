/** A bound on what runs at the same time, with a bounded line of those who wait. */
export class RunSlots {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #line: { readonly enter: () => void; readonly leave: () => void }[] = [];
  #taken = 0;
  #isClosed = false;

  constructor(most: number, mostWaiting: number) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /**
   * Resolves once there is a slot, with `true`; with `false` when too many wait, after `maxWaitMs`, or when the caller
   * goes.
   */
  async take(maxWaitMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || this.#isClosed) return false;
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
      const place = { enter: (): void => settle(true), leave: (): void => settle(false) };
      const leave = (): void => {
        const at = this.#line.indexOf(place);
        if (at >= 0) this.#line.splice(at, 1);
        settle(false);
      };
      const timer = setTimeout(leave, maxWaitMs);
      signal.addEventListener("abort", leave, { once: true });
      this.#line.push(place);
    });
  }

  /** Nobody waits any longer; whoever does is sent away. */
  close(): void {
    this.#isClosed = true;
    for (const { leave } of this.#line.splice(0)) leave();
  }

  give(): void {
    const next = this.#line.shift();
    if (next) next.enter();
    else this.#taken -= 1;
  }
}
