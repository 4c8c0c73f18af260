import { BuiltCall, type CallOverrides } from "./built-call.ts";
import type { Call } from "./call.ts";

/** The same call, which `signal` ends, too: for what a part of its work calls. */
export function callWithin(parent: Call, signal: AbortSignal): Call {
  return new CallWithin(parent, AbortSignal.any([parent.signal, signal]));
}

/** A call that a running call makes: as its caller, inside its time, ended with it. */
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
