import { FailError } from "../core/errors.ts";
import { cancelledFailure } from "../core/deadline.ts";

/** Waits for `work`, but no longer than `signal` lasts. Rejects with the `FailError` that ended it; what `work` still comes to is dropped. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortFailure(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    const settle = (pass: () => void): void => {
      signal.removeEventListener("abort", onAbort);
      pass();
    };
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/** Why a signal of the pipeline ended. */
export function abortFailure(signal: AbortSignal): FailError {
  return signal.reason instanceof FailError ? signal.reason : cancelledFailure(signal.reason);
}

/** Resolves after `delayMs`; rejects as soon as `signal` ends. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
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
