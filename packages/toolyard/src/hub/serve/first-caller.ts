import type { Client } from "../../core/calls/call.ts";

/** Eager sources wait this long for the first client to speak, from when it is listened to. */
const FIRST_WORD_MS = 300;
/** And this long for an endpoint to be open to it. */
const OPEN_MS = 10_000;

/** How the first client of a pipe speaks, for sources that speak either way and keep one process. */
export class FirstCaller {
  /** Nothing when it did not speak in time, or spoke something else. */
  readonly era: Promise<Client["era"]>;
  #settle!: (era: Client["era"]) => void;
  #timer: NodeJS.Timeout;
  #isHeard = false;

  constructor() {
    this.era = new Promise((resolve) => (this.#settle = resolve));
    this.#timer = setTimeout(() => this.spoke(undefined), OPEN_MS).unref();
  }

  /** An endpoint listens to it. What loads before that may take long, and is not the client's time. */
  listening(): void {
    if (this.#isHeard) return;
    this.#isHeard = true;
    clearTimeout(this.#timer);
    // After a busy while timers come before what has been in the pipe all the time: that has a turn first.
    this.#timer = setTimeout(() => setImmediate(() => this.spoke(undefined)), FIRST_WORD_MS).unref();
  }

  /** The first message has come; later ones change nothing. */
  spoke(era: Client["era"]): void {
    clearTimeout(this.#timer);
    this.#settle(era);
  }
}
