import type { Ask, Call, Notice } from "./call.ts";
import { CallBase, type OwnMembers } from "./call-base.ts";
import type { JsonObject } from "./json.ts";

/** The same call, which `signal` ends, too: for what a part of its work calls. */
export function callWithin(parent: Call, signal: AbortSignal): Call {
  return new CallWithin(parent, {}, AbortSignal.any([parent.signal, signal]));
}

/** A call that a running call makes: as its caller, inside its time, ended with it. */
export function innerCall(parent: Call, own: OwnMembers): Call {
  return new CallWithin(parent, own, undefined);
}

class CallWithin extends CallBase {
  readonly #parent: Call;
  readonly #signal: AbortSignal | undefined;

  constructor(parent: Call, own: OwnMembers, signal: AbortSignal | undefined) {
    super(parent, own, signal ?? parent.cancellation ?? parent.signal);
    this.#parent = parent;
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal ?? this.#parent.signal;
  }

  notify(notice: Notice): void {
    this.#parent.notify(notice);
  }

  ask(ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
    return this.#parent.ask(ask, signal);
  }
}
