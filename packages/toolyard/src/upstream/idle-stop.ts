/** Stops a server that is connected when it is needed, after some time without a call. */
export class IdleStop {
  readonly #idleMs: number;
  readonly #isNeeded: () => boolean;
  readonly #stop: () => void;
  #timer: NodeJS.Timeout | undefined;
  #calls = 0;

  /** `isNeeded`: the server stays connected, whether it is called or not. */
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

  /** Begins the idle time again, unless a call is running. */
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
