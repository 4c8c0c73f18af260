import { BuiltCall, type CallOverrides } from "./built-call.ts";
import type { Call } from "./call.ts";

/**
 * Returns a copy of the call that is also cancelled by `signal`, so that inner calls made with it can be cancelled
 * before the call itself ends.
 */
export function callWithin(parent: Call, signal: AbortSignal): Call {
  return new CallWithin(parent, AbortSignal.any([parent.signal, signal]));
}

/** Returns a call made by a running call. It has the parent's caller and time limit, and ends with the parent. */
export function innerCall(parent: Call, own: CallOverrides): Call {
  return new BuiltCall(parent, parent, own);
}

class CallWithin extends BuiltCall {
  readonly #signal: AbortSignal;

  constructor(parent: Call, signal: AbortSignal) {
    super(parent, parent, { cancellation: signal });
    this.#signal = signal;
  }

  override get signal(): AbortSignal {
    return this.#signal;
  }
}
