import { FailError } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { fail, type Fail } from "../core/calls/outcome.ts";
import type { Logger } from "../core/ports/ports.ts";

/**
 * Logs faults of a server, once per kind and connection, so that a frequent fault does not fill the log. Further ones
 * are counted.
 */
export class FaultLog {
  readonly #logger: Logger;
  readonly #counts = new Map<string, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Logs a fault. `facts` may be a function if they are expensive to compute, since only the first report of a kind is
   * logged.
   */
  report(kind: string, message: string, facts: JsonObject | (() => JsonObject) = {}): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count === 1)
      this.#logger.warning(`${message} Further ones on this connection are counted, not logged.`, {
        fault: kind,
        ...(typeof facts === "function" ? facts() : facts),
      });
  }

  /** Returns the number of faults of each kind, for `status`. */
  counts(): JsonObject {
    return Object.fromEntries(this.#counts);
  }
}

/** Converts a thrown value to a failure. A fault in the hub's own code becomes `internal` with its cause. */
export function failureOf(error: unknown): Fail {
  if (error instanceof FailError) return error.failure;
  return fail(
    "internal",
    "The hub failed while it communicated with the server of this tool. Its log has the details.",
    {
      cause: error,
    },
  );
}
