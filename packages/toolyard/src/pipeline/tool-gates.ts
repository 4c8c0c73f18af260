import type { Cancellation } from "../core/calls/cancellation.ts";
import { FairLine } from "../core/fairness/fair-line.ts";
import type { Holder } from "../core/fairness/shares.ts";
import { abortFailure } from "../core/timing/wait.ts";

/** Key of the tool with the limit, and the holder of the call's place. */
export interface GateEntry {
  readonly key: string;
  readonly holder: Holder;
}

/** Limits the concurrent calls of one tool. Further calls wait in a queue that callers share fairly. */
export class ToolGates {
  readonly #gates = new Map<string, FairLine>();
  readonly #maxWaiting: number;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Takes a place, and waits for one if needed. Resolves to false if the queue is full. Rejects with the `FailError` of
   * a cancellation. After success, the caller must call `leave`.
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
