import type { Writable } from "node:stream";

/** Waits for `drain` with one listener, for any number of writes meanwhile. */
export class DrainWatch {
  #isWaiting = false;

  /** Calls `tell` when the stream has drained. A second call during the wait has no effect. */
  wait(stream: Writable, tell: () => void): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    stream.once("drain", () => {
      this.#isWaiting = false;
      tell();
    });
  }
}
