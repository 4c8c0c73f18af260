import type { Cancellation } from "../calls/cancellation.ts";
import { cancelledFailure, MAX_TIMER_MS } from "../calls/deadline.ts";
import type { FailError } from "../errors.ts";

/**
 * Waits for `work`, but not longer than until `cancellation` aborts. Rejects with the `FailError` of the abort; a later
 * result of `work` is ignored. Without a cancellation it only waits for `work`.
 */
export function orAborted<T>(work: Promise<T>, cancellation: Cancellation | undefined): Promise<T> {
  if (!cancellation) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortFailure(cancellation));
    if (cancellation.aborted) onAbort();
    else cancellation.addEventListener("abort", onAbort, ONCE);
    void work.then(resolve, reject).then(() => cancellation.removeEventListener("abort", onAbort));
  });
}

const ONCE = Object.freeze({ once: true });

/** Returns the reason of an abort if it is a `FailError`, otherwise a `FailError` of kind `cancelled`. */
export function abortFailure({ reason }: Pick<Cancellation, "reason">): FailError {
  return cancelledFailure(reason);
}

export interface WithinOptions {
  /** True if the wait keeps an otherwise idle process alive. @default true */
  readonly keepsAlive?: boolean;
}

/**
 * Resolves with the result of `work`, or with `undefined` after `maxWaitMs` milliseconds; `Infinity` waits without
 * limit. Rejects if `work` rejects in that time. A later result is ignored.
 */
export async function within<T>(
  work: Promise<T>,
  maxWaitMs: number,
  { keepsAlive = true }: WithinOptions = {},
): Promise<T | undefined> {
  if (maxWaitMs === Infinity) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, Math.min(maxWaitMs, MAX_TIMER_MS), undefined);
    if (!keepsAlive) timer.unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves with the result of `work` and keeps the process alive until then, so that the caller of a close function
 * learns that it has finished.
 */
export async function keptAlive<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, MAX_TIMER_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** Resolves after `delayMs` milliseconds. Rejects with a `FailError` when `cancellation` aborts. */
export async function pause(delayMs: number, cancellation: Cancellation): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, delayMs)));
  try {
    await orAborted(over, cancellation);
  } finally {
    clearTimeout(timer);
  }
}
