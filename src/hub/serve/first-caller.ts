import type { Client } from "../../core/call.ts";

/** Eager sources wait this long for the first client to speak before they are started. */
const FIRST_WORD_MS = 300;

/** How the first client of a pipe speaks, for sources that speak either way and keep one process. */
export class FirstCaller {
  /** Nothing when it did not speak in time, or spoke something else. */
  readonly era: Promise<Client["era"]>;
  #settle: (era: Client["era"]) => void = () => {};

  constructor() {
    this.era = new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), FIRST_WORD_MS);
      this.#settle = (era) => {
        clearTimeout(timer);
        resolve(era);
      };
    });
  }

  /** The first message has come; later ones change nothing. */
  spoke(era: Client["era"]): void {
    this.#settle(era);
  }
}
