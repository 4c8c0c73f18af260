import type { Cancellation } from "../core/cancellation.ts";
import { FailError } from "../core/errors.ts";
import { cancelledFailure } from "../core/deadline.ts";

/**
 * Waits for `work`, but no longer than it may take. Rejects with the `FailError` that ended it; what `work` still comes
 * to is dropped.
 */
export function orAborted<T>(work: Promise<T>, cancellation: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortFailure(cancellation));
    if (cancellation.aborted) onAbort();
    else cancellation.addEventListener("abort", onAbort, ONCE);
    const releasing =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        cancellation.removeEventListener("abort", onAbort);
        settle(value);
      };
    work.then(releasing(resolve), releasing(reject));
  });
}

const ONCE = Object.freeze({ once: true });

/** Why a call was ended. */
export function abortFailure({ reason }: Pick<Cancellation, "reason">): FailError {
  return reason instanceof FailError ? reason : cancelledFailure(reason);
}

/** Resolves after `delayMs`; rejects as soon as `signal` ends. */
export function pause(delayMs: number, signal: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortFailure(signal));
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(abortFailure(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, delayMs);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
