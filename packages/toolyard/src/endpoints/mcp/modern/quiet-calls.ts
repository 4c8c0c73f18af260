import { CallSet } from "../../../core/calls/call-map.ts";

/** Milliseconds without a message after which a call becomes a stream, whose comments keep the connection alive. */
const QUIET_MS = 20_000;
/** Milliseconds between two checks. */
const LOOK_MS = QUIET_MS / 8;

export interface QuietCall {
  readonly startedAt: number;
  /** Called once, when the call has sent nothing for `QUIET_MS`. */
  open(): void;
}

/** Calls that have sent nothing yet. They share one timer, because a timer per call would be expensive. */
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
