import { FailError } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { fail, type Fail } from "../core/calls/outcome.ts";
import type { Logger } from "../core/ports/ports.ts";

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

  /** `facts` may be a function where they cost time: only the first report of a kind is logged. */
  report(kind: string, message: string, facts: JsonObject | (() => JsonObject) = {}): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count === 1)
      this.#logger.warning(`${message} Further ones on this connection are counted, not logged.`, {
        fault: kind,
        ...(typeof facts === "function" ? facts() : facts),
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
