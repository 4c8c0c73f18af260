import type { Cancellation } from "../core/cancellation.ts";
import { FailError, messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { fail, type Fail } from "../core/outcome.ts";
import type { Logger } from "../core/ports.ts";

/**
 * Names what a server does wrong, once for each kind and connection, so that a chatty fault fills no log. Further ones
 * are counted.
 */
export class FaultLog {
  readonly #logger: Logger;
  readonly #counts = new Map<string, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  report(kind: string, message: string, facts: JsonObject = {}): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count === 1)
      this.#logger.warning(`${message} Further ones on this connection are counted, not logged.`, {
        fault: kind,
        ...facts,
      });
  }

  /** How often each kind was seen, for `status`. */
  counts(): JsonObject {
    return Object.fromEntries(this.#counts);
  }
}

/** The failure that something thrown stands for; a fault of our own code becomes `internal` with its cause. */
export function failureOf(error: unknown): Fail {
  if (error instanceof FailError) return error.failure;
  return fail("internal", "The hub failed while it spoke to the server of this tool. The log says more.", {
    cause: error,
  });
}

/** Why a signal aborted, as a failure: the deadline's own words, or that the caller went. */
export function abortFailure({ reason }: Pick<Cancellation, "reason">): Fail {
  if (reason instanceof FailError) return reason.failure;
  return fail("cancelled", "The caller cancelled the request.", { cause: messageOf(reason) });
}

/** Rejects as soon as `signal` aborts; whoever waits is let go, the work itself is told by the same signal. */
export async function untilAborted<T>(work: Promise<T>, signal: Cancellation | undefined): Promise<T> {
  if (!signal) return work;
  if (signal.aborted) {
    work.catch(() => {});
    throw new FailError(abortFailure(signal));
  }
  let stop = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(new FailError(abortFailure(signal)));
    signal.addEventListener("abort", onAbort, { once: true });
    stop = () => signal.removeEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
    work.catch(() => {});
  }
}
