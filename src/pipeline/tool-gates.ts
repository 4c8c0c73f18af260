import type { Cancellation } from "../core/cancellation.ts";
import { orAborted } from "../core/wait.ts";

interface Gate {
  running: number;
  /** In the order of arrival; a set, so that whoever gives up leaves in constant time. */
  readonly waiting: Set<() => void>;
}

/** Lets so many calls of one tool run at once; the others wait in the order in which they came. */
export class ToolGates {
  readonly #gates = new Map<string, Gate>();
  readonly #maxWaiting: number;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Takes a place, waiting for it if need be. False: as many wait already as may. Rejects with the `FailError` of what
   * ended it; whoever was let in must `leave`.
   */
  async enter(key: string, maxRunning: number, cancellation: Cancellation): Promise<boolean> {
    let gate = this.#gates.get(key);
    if (!gate) this.#gates.set(key, (gate = { running: 0, waiting: new Set() }));
    if (gate.running < maxRunning) {
      gate.running += 1;
      return true;
    }
    if (gate.waiting.size >= this.#maxWaiting) return false;
    await this.#wait(key, gate, cancellation);
    return true;
  }

  leave(key: string): void {
    const gate = this.#gates.get(key);
    if (!gate) return;
    const [first] = gate.waiting;
    if (first) {
      // The place goes straight to the next one, so nobody who comes now can take it.
      gate.waiting.delete(first);
      first();
      return;
    }
    gate.running -= 1;
    if (gate.running === 0) this.#gates.delete(key);
  }

  async #wait(key: string, gate: Gate, cancellation: Cancellation): Promise<void> {
    let letIn!: () => void;
    const turn = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    gate.waiting.add(letIn);
    try {
      await orAborted(turn, cancellation);
    } catch (error) {
      // Let in at the very moment of giving up: the place is passed on.
      if (!gate.waiting.delete(letIn)) this.leave(key);
      throw error;
    }
  }
}
