import { runApart } from "../../core/run-apart.ts";

/** Runs of one turn of the event loop. Ten thousand of them would keep every other connection waiting. */
const MAX_RUNS = 32;

/** After a piece of this size a connection is read on in its next turn. */
export const PACED_BYTES = 8 * 1024;

/**
 * Begins requests that were sent before the answer to the one before them (pipelining). Each connection begins one of
 * them in a turn of the event loop, in the order in which the connections entered the queue.
 */
export class TurnQueue {
  #waiting: (() => void)[] = [];

  add(run: () => void): void {
    if (this.#waiting.push(run) === 1) setImmediate(() => this.#turn());
  }

  #turn(): void {
    const runs = this.#waiting.slice(0, MAX_RUNS);
    const left = this.#waiting.slice(MAX_RUNS);
    this.#waiting = left;
    if (left.length > 0) setImmediate(() => this.#turn());
    for (const run of runs) runApart(run);
  }
}
