/**
 * Idle timeout that is reset often. An extension does not restart the timer; the timer checks the clock when it fires.
 * Setting a timer for each request and each chunk would cost more than the other work.
 */
export class IdleTimer {
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout | undefined;
  #firesAt = 0;
  /** Time when the timeout ends, 0 if none is set. */
  #dueAt = 0;

  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /** Sets the maximum inactivity from now on, in milliseconds. 0 means no limit. */
  expect(ms: number): void {
    if (ms === 0) return this.end();
    const now = performance.now();
    this.#dueAt = now + ms;
    if (this.#timer === undefined) return this.#arm(ms, now);
    if (this.#firesAt <= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#arm(ms, now);
  }

  /** Clears the timeout. */
  end(): void {
    this.#dueAt = 0;
  }

  close(): void {
    this.#dueAt = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(ms: number, now: number): void {
    this.#firesAt = now + ms;
    this.#timer = setTimeout(() => this.#onFire(), ms);
    this.#timer.unref();
  }

  #onFire(): void {
    this.#timer = undefined;
    if (this.#dueAt === 0) return;
    const now = performance.now();
    // A timer may fire slightly early, so a millisecond is tolerated.
    if (this.#dueAt - now > 1) return this.#arm(this.#dueAt - now, now);
    this.#dueAt = 0;
    this.#onOver();
  }
}
