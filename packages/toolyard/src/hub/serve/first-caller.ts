import type { Client } from "../../core/calls/call.ts";

/** Milliseconds that eager sources wait for the first message of a client, from the start of listening. */
const FIRST_WORD_MS = 300;
/** Milliseconds that eager sources wait until an endpoint listens to the client. */
const OPEN_MS = 10_000;

/** Era of the first client of a pipe. Needed by sources that support both eras and keep one process. */
export class FirstCaller {
  /**
   * Resolves with the era. Resolves with `undefined` if the client sent nothing in time, or a message of another
   * protocol.
   */
  readonly era: Promise<Client["era"]>;
  #settle!: (era: Client["era"]) => void;
  #timer: NodeJS.Timeout;
  #isListening = false;

  constructor() {
    this.era = new Promise((resolve) => (this.#settle = resolve));
    this.#timer = setTimeout(() => this.setEra(undefined), OPEN_MS).unref();
  }

  /**
   * Starts the wait for the first message. Called when the endpoint listens, because loading the endpoint may take
   * long.
   */
  listening(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    clearTimeout(this.#timer);
    // The wait ends in `setImmediate`, so that input that is already in the pipe is read first: after a busy time,
    // timers run before input.
    this.#timer = setTimeout(() => setImmediate(() => this.setEra(undefined)), FIRST_WORD_MS).unref();
  }

  /** Sets the era of the first message. Later calls have no effect. */
  setEra(era: Client["era"]): void {
    clearTimeout(this.#timer);
    this.#settle(era);
  }
}
