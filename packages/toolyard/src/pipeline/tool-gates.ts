import type { Cancellation } from "../core/calls/cancellation.ts";
import { FairLine } from "../core/fairness/fair-line.ts";
import type { Holder } from "../core/fairness/shares.ts";
import { abortFailure } from "../core/timing/wait.ts";

/** Which gate a call passes, and for whom. */
export interface GateEntry {
  readonly key: string;
  readonly holder: Holder;
}

/** Lets so many calls of one tool run at once; the others wait for their turn, which is shared among callers. */
export class ToolGates {
  readonly #gates = new Map<string, FairLine>();
  readonly #maxWaiting: number;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Takes a place, waiting for it if need be. False: as many wait already as may. Rejects with the `FailError` of what
   * ended it; whoever was let in must `leave`.
   */
  async enter({ key, holder }: GateEntry, maxRunning: number, cancellation: Cancellation): Promise<boolean> {
    let gate = this.#gates.get(key);
    if (!gate) this.#gates.set(key, (gate = new FairLine({ places: maxRunning, waiting: this.#maxWaiting })));
    gate.places = maxRunning;
    const isIn = await gate.enter(holder, { cancellation });
    if (!isIn && cancellation.aborted) throw abortFailure(cancellation);
    return isIn;
  }

  leave({ key, holder }: GateEntry): void {
    const gate = this.#gates.get(key);
    gate?.leave(holder);
    if (gate?.isEmpty) this.#gates.delete(key);
  }
}
