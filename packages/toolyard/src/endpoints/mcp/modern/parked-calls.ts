import { timeoutFailure } from "../../../core/calls/deadline.ts";
import { FailError } from "../../../core/errors.ts";
import { fail } from "../../../core/calls/outcome.ts";
import { Shares, type Holder } from "../../../core/fairness/shares.ts";
import type { ParkedDirectory } from "../../../state/ports/parked-directory.ts";
import { StoreLostError, type HubState } from "../../../state/ports/store.ts";
import { RequestStates, type Binding } from "./request-state.ts";
import type { RunningCall } from "./running-call.ts";

interface ParkedCall {
  readonly call: RunningCall;
  readonly holder: Holder;
  readonly timer: NodeJS.Timeout;
}

/** Result of looking up the call to which a `requestState` belongs. */
export type ParkedLookup =
  | { readonly type: "here"; readonly call: RunningCall }
  /** Another endpoint or hub holds the call. */
  | { readonly type: "elsewhere" }
  /** The call has ended, or the state is not valid for this request. */
  | { readonly type: "none" };

export interface ParkingOptions {
  readonly maxParkedCalls: number;
  readonly inputTimeoutMs: number;
}

/**
 * Calls that wait for answers of their callers. Limited in number and time; only its own caller can continue a call.
 */
export class ParkedCalls {
  readonly #options: ParkingOptions;
  readonly #states: RequestStates;
  readonly #directory: ParkedDirectory;
  readonly #byId = new Map<string, ParkedCall>();
  readonly #shares = new Shares();

  constructor(options: ParkingOptions, state: Pick<HubState, "secret" | "parked">) {
    this.#options = options;
    this.#states = new RequestStates(() => state.secret);
    this.#directory = state.parked;
  }

  get size(): number {
    return this.#byId.size;
  }

  /**
   * Returns true if this caller may park another call. At the limit, cancels the oldest call of the principal that
   * exceeds its share.
   */
  hasRoomFor(holder: Holder): boolean {
    if (this.#byId.size < this.#options.maxParkedCalls) return true;
    const oldest = this.#shares.debtorTo(holder, this.#byId, { holder: ([, parked]) => parked.holder });
    if (oldest) this.#giveUp(oldest[0], crowdedOut());
    return oldest !== undefined;
  }

  /** Returns true if this endpoint holds the call. */
  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /**
   * Parks a call. Returns its `requestState`, which is valid once. Returns a promise if other hubs cannot find the call
   * yet.
   */
  park(call: RunningCall, binding: Binding, holder: Holder): string | Promise<string> {
    const { id, state } = this.#states.seal(binding);
    const { inputTimeoutMs } = this.#options;
    const timer = setTimeout(() => this.#giveUp(id, timeoutFailure(inputTimeoutMs)), inputTimeoutMs);
    timer.unref();
    this.#byId.set(id, { call, holder, timer });
    this.#shares.add(holder);
    const stored = this.#directory.put(id);
    return stored ? stored.then(() => state) : state;
  }

  /** Removes and returns the call that is parked under this state. */
  async take(state: string, binding: Binding): Promise<ParkedLookup> {
    const id = this.#states.open(state, binding);
    if (id === undefined) return NONE;
    const parked = this.#byId.get(id);
    if (!parked) return (await this.#isElsewhere(id)) ? ELSEWHERE : NONE;
    this.#forget(id, parked);
    return { type: "here", call: parked.call };
  }

  /** Cancels the parked calls of a connection that has ended. */
  release(connection: string): void {
    for (const [id, parked] of this.#byId)
      if (parked.holder.connection === connection) this.#giveUp(id, disconnectedFailure());
  }

  /** Cancels all calls. Their entries stay in the directory, so that other hubs report that this hub has ended. */
  close(): void {
    for (const { call, holder, timer } of this.#byId.values()) {
      clearTimeout(timer);
      this.#shares.remove(holder);
      call.cancel(disconnectedFailure());
    }
    this.#byId.clear();
  }

  async #isElsewhere(id: string): Promise<boolean> {
    try {
      return (await this.#directory.find(id))?.isAlive === true;
    } catch (error) {
      if (error instanceof StoreLostError) return false;
      throw error;
    }
  }

  #giveUp(id: string, failure: FailError): void {
    const parked = this.#byId.get(id);
    if (!parked) return;
    this.#forget(id, parked);
    parked.call.cancel(failure);
  }

  #forget(id: string, { holder, timer }: ParkedCall): void {
    clearTimeout(timer);
    this.#byId.delete(id);
    this.#directory.remove(id);
    this.#shares.remove(holder);
  }
}

const NONE: ParkedLookup = { type: "none" };
const ELSEWHERE: ParkedLookup = { type: "elsewhere" };

function crowdedOut(): FailError {
  return new FailError(
    fail(
      "limited",
      "This caller has too many calls that wait for its input; this one was ended to make room for other callers.",
    ),
  );
}

function disconnectedFailure(): FailError {
  return new FailError(fail("cancelled", "The caller that was asked for input disconnected."));
}
