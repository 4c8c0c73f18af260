import type { Writable } from "node:stream";

/** Waits for a reader with one listener, however much is written meanwhile. */
export class DrainWatch {
  #isWaiting = false;

  /** Runs `tell` once the stream is drained; a second call during the wait has no effect. */
  wait(stream: Writable, tell: () => void): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    stream.once("drain", () => {
      this.#isWaiting = false;
      tell();
    });
  }
}
