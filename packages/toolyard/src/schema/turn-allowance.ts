import { setImmediate as onNextTurn } from "node:timers";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Maximum number of subschemas that are compiled in one turn of the event loop; further schemas go to a thread. */
const MAX_TURN_PARTS = 80;
/** Minimum cost of a schema, in subschemas. */
const PARTS_TO_BEGIN = 4;

/** Limits the total cost of the schemas that are compiled in one turn of the event loop. */
export class TurnAllowance {
  #spent = 0;
  #isCounting = false;
  #lastTurn: Promise<void> = Promise.resolve();

  get isSpent(): boolean {
    return this.#spent >= MAX_TURN_PARTS;
  }

  /**
   * Resolves in a turn of the event loop that belongs to the caller alone. A schema may be a megabyte, so only one is
   * serialized in each turn.
   */
  ownTurn(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => nextTurn());
    return this.#lastTurn;
  }

  /** Counts the subschemas of a compiled schema. */
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
