import { setImmediate as onNextTurn } from "node:timers";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Subschemas that are compiled in one turn of the event loop before what comes next has to go to a thread. */
const MAX_TURN_PARTS = 80;
/** A schema costs as much as so many subschemas however small it is. */
const PARTS_TO_BEGIN = 4;

/** Bounds what many schemas cost together that are met in the same turn of the event loop. */
export class TurnAllowance {
  #spent = 0;
  #isCounting = false;
  #lastTurn: Promise<void> = Promise.resolve();

  get isSpent(): boolean {
    return this.#spent >= MAX_TURN_PARTS;
  }

  /** A schema may be a megabyte, so only one is written out in each turn; resolves when it is the caller's. */
  ownTurn(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => nextTurn());
    return this.#lastTurn;
  }

  /** Notes a schema of so many subschemas. */
  spend(parts: number): void {
    this.#spent += parts + PARTS_TO_BEGIN;
    if (this.#isCounting) return;
    this.#isCounting = true;
    onNextTurn(() => {
      this.#spent = 0;
      this.#isCounting = false;
    }).unref();
  }
}
