import type { Writable } from "node:stream";

/** Waits for the `drain` event of a stream. One listener serves any number of writes during the wait. */
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
