import { CallSet } from "../../../core/calls/call-map.ts";

/** A call that is quiet for this long becomes a stream with comments that keep the connection alive. */
const QUIET_MS = 20_000;
/** Interval of the checks. */
const LOOK_MS = QUIET_MS / 8;

export interface QuietCall {
  readonly startedAt: number;
  /** Called once, when the call was quiet for the limit. */
  open(): void;
}

/** Calls that have sent nothing yet. One timer for all calls, since a timer per call would be expensive. */
export class QuietCalls {
  readonly #waiting = new CallSet<QuietCall>();
  #timer: NodeJS.Timeout | undefined;

  add(call: QuietCall): void {
    this.#waiting.add(call);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  delete(call: QuietCall): void {
    this.#waiting.delete(call);
  }

  #look(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const before = performance.now() - QUIET_MS;
    for (const call of this.#waiting.values()) {
      if (call.startedAt > before) continue;
      this.#waiting.delete(call);
      call.open();
    }
  }
}
