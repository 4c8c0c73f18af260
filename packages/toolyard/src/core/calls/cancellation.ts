import { setMaxListeners } from "node:events";
import { CallSet } from "./call-map.ts";
import { runApart } from "../timing/turn-end.ts";

/**
 * The part of `AbortSignal` that the hub needs; every `AbortSignal` implements it. On Node 20 an `AbortSignal` stays in
 * memory, with everything it references, until a full garbage collection, so a call creates one only on request.
 */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
  throwIfAborted(): void;
}

/**
 * Combines an `AbortController` and its signal. A listener is called once, and never if it was added after the abort.
 */
export class Canceller implements Cancellation {
  // These are fields, because each call reads them several times. Only `abort` sets them.
  aborted = false;
  reason: unknown;
  #first: (() => void) | undefined;
  #others: CallSet<() => void> | undefined;
  #controller: AbortController | undefined;

  /** The equivalent `AbortSignal`, created on first access. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // Many calls may share a parent or a caller, so many listeners are not a leak.
      setMaxListeners(0, this.#controller.signal);
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const first = this.#first;
    this.#first = undefined;
    if (first) runApart(first);
    // A listener may remove other listeners, so each one is checked before it is called.
    for (const listener of this.#others?.values() ?? []) if (this.#others!.has(listener)) runApart(listener);
    this.#others = undefined;
    this.#controller?.abort(reason);
  }

  addEventListener(_type: "abort", listener: () => void): void {
    if (this.aborted || this.#first === listener || this.#others?.has(listener)) return;
    if (this.#first) (this.#others ??= new CallSet()).add(listener);
    else this.#first = listener;
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    if (this.#first === listener) this.#first = undefined;
    else this.#others?.delete(listener);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }
}

/** Returns an `AbortSignal`, for code that requires one. */
export function abortSignalOf(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  if (cancellation instanceof Canceller) return cancellation.signal;
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(cancellation.reason);
  if (cancellation.aborted) onAbort();
  else cancellation.addEventListener("abort", onAbort, { once: true });
  return controller.signal;
}
