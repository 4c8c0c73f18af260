import type { Cancellation } from "../calls/cancellation.ts";
import { cancelledFailure, MAX_TIMER_MS } from "../calls/deadline.ts";
import type { FailError } from "../errors.ts";

/**
 * Waits for `work`, but no longer than `cancellation` lets it. Rejects with the `FailError` that ended it; what `work`
 * does after that is ignored. Without a cancellation it waits for `work` alone.
 */
export function orAborted<T>(work: Promise<T>, cancellation: Cancellation | undefined): Promise<T> {
  if (!cancellation) return work;
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

/** Why something was ended: the `FailError` that it was aborted with, or one of kind `cancelled`. */
export function abortFailure({ reason }: Pick<Cancellation, "reason">): FailError {
  return cancelledFailure(reason);
}

export interface WithinOptions {
  /** Whether the wait keeps a process alive that has nothing else to do. @default true */
  readonly keepsAlive?: boolean;
}

/**
 * What `work` comes to, or `undefined` once `maxWaitMs` milliseconds have passed; `Infinity` waits for ever. Rejects
 * when `work` rejects in that time; what it comes to later is dropped.
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
 * What `work` comes to. The process stays alive until then, also where nothing that is left of the work would keep it:
 * whoever closes something is told that it is closed.
 */
export async function keptAlive<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, MAX_TIMER_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** Resolves after `delayMs` milliseconds; rejects with a `FailError` as soon as `cancellation` ends. */
export async function pause(delayMs: number, cancellation: Cancellation): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, delayMs)));
  try {
    await orAborted(over, cancellation);
  } finally {
    clearTimeout(timer);
  }
}
