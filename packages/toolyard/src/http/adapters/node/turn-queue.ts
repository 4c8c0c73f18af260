import { runApart } from "../../../core/timing/turn-end.ts";

/**
 * Maximum milliseconds per turn of the event loop for the work of this queue. All other connections wait meanwhile.
 */
const TURN_MS = 5;
/** Maximum milliseconds for one connection in one turn of the event loop. */
export const SLICE_MS = 1;

/** Size of a chunk after which a connection waits for its next turn. */
export const PACED_BYTES = 8 * 1024;

/** Returns the milliseconds of a monotonic clock. */
export type Clock = () => number;

/**
 * Divides the time of the event loop among connections with expensive bytes: pipelined requests, bodies in many small
 * chunks. Each connection runs once per turn, in the order of the queue. A turn ends after `TURN_MS`.
 */
export class TurnQueue {
  readonly #now: Clock;
  #waiting: (() => void)[] = [];
  #isScheduled = false;
  /** Milliseconds that `runSoon` may still use in this turn. */
  #leftMs = TURN_MS;

  constructor(now: Clock = () => performance.now()) {
    this.#now = now;
  }

  /** Runs `run` in one of the next turns. */
  add(run: () => void): void {
    this.#waiting.push(run);
    this.#schedule();
  }

  /**
   * Runs `run` synchronously if the queue is empty and has time left in this turn, otherwise in one of the next turns.
   */
  runSoon(run: () => void): void {
    if (this.#waiting.length > 0 || this.#leftMs <= 0) return this.add(run);
    const began = this.#now();
    run();
    this.#leftMs -= this.#now() - began;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    this.#leftMs = TURN_MS;
    const runs = this.#waiting;
    this.#waiting = [];
    const until = this.#now() + TURN_MS;
    let next = 0;
    while (next < runs.length && this.#now() < until) runApart(runs[next++]!);
    // Entries that were added meanwhile follow those that already waited.
    if (next < runs.length) this.#waiting = [...runs.slice(next), ...this.#waiting];
    if (this.#waiting.length > 0) this.#schedule();
  }
}
