import type { Call } from "../core/calls/call.ts";
import type { Cancellation } from "../core/calls/cancellation.ts";
import { FailError } from "../core/errors.ts";
import { FairLine } from "../core/fairness/fair-line.ts";
import { fail } from "../core/calls/outcome.ts";
import { holderOf, HUB } from "../core/fairness/shares.ts";
import { abortFailure } from "../core/timing/wait.ts";

/** Maximum number of calls that wait for a free slot. */
const MAX_WAITING = 1000;
const NOTHING_TO_LEAVE = (): void => {};

/** Limits the number of concurrent calls of one source. Further calls wait for their turn, within their own time. */
export class CallSlots {
  /** Queue of the calls. Absent if there is no limit. */
  readonly #line: FairLine | undefined;
  /** True if calls may have to wait. */
  readonly isBounded: boolean;

  constructor(width: number) {
    this.isBounded = width !== Infinity;
    this.#line = this.isBounded ? new FairLine({ places: width, waiting: MAX_WAITING }) : undefined;
  }

  /**
   * Returns a function that frees the slot; synchronously if there is no limit. Rejects with a `FailError` if too many
   * calls wait, or with the reason of `signal`. Slots are shared fairly among callers.
   */
  enter(signal: Cancellation, call?: Pick<Call, "principal" | "client">): (() => void) | Promise<() => void> {
    return this.#line ? enterLine(this.#line, signal, call) : NOTHING_TO_LEAVE;
  }
}

async function enterLine(
  line: FairLine,
  signal: Cancellation,
  call: Pick<Call, "principal" | "client"> | undefined,
): Promise<() => void> {
  const holder = call ? holderOf(call) : HUB;
  if (!(await line.enter(holder, { cancellation: signal }))) throw signal.aborted ? abortFailure(signal) : full();
  let isInside = true;
  return () => {
    if (isInside) line.leave(holder);
    isInside = false;
  };
}

function full(): FailError {
  const advice = "Try again later, or raise its `max_concurrent`.";
  const message = `${MAX_WAITING} calls already wait for this source. ${advice}`;
  return new FailError(fail("limited", message, { retryAfterMs: 1000 }));
}
