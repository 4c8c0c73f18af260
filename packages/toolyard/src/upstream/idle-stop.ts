/** Stops a server that is connected on demand after some time without a call. */
export class IdleStop {
  readonly #idleMs: number;
  readonly #isNeeded: () => boolean;
  readonly #stop: () => void;
  #timer: NodeJS.Timeout | undefined;
  #calls = 0;

  /** `isNeeded`: returns true if the server must stay connected even without calls. */
  constructor(idleMs: number, isNeeded: () => boolean, stop: () => void) {
    this.#idleMs = idleMs;
    this.#isNeeded = isNeeded;
    this.#stop = stop;
  }

  callBegins(): void {
    this.#calls += 1;
    clearTimeout(this.#timer);
  }

  callEnds(): void {
    this.#calls -= 1;
    this.restart();
  }

  /** Restarts the idle time, unless a call is running. */
  restart(): void {
    clearTimeout(this.#timer);
    if (this.#isNeeded() || this.#calls > 0) return;
    this.#timer = setTimeout(this.#stop, this.#idleMs);
    this.#timer.unref();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
