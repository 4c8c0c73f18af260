import type { JsonObject } from "../core/json/json.ts";
import { GuardedSchema, type SchemaRole } from "./guarded-schema.ts";
import { CheckThreads } from "./threads/check-threads.ts";
import { TurnAllowance } from "./turn-allowance.ts";

/**
 * Validates values against untrusted schemas. No schema and no value blocks the event loop: plain and small schemas
 * (defined in `plain.ts`) are checked synchronously, all others in threads. Threads start with the first such check,
 * exit when idle, and never keep the process running.
 */
export class GuardedSchemas {
  readonly #threads = new CheckThreads();
  readonly #deps = { threads: this.#threads, turn: new TurnAllowance() };
  readonly #input = new WeakMap<JsonObject, GuardedSchema>();
  readonly #output = new WeakMap<JsonObject, GuardedSchema>();

  /** Returns the checker of a schema; the same object for the same schema. `input`: defaults are filled in. */
  of(schema: JsonObject, role: SchemaRole): GuardedSchema {
    const known = role === "input" ? this.#input : this.#output;
    let guarded = known.get(schema);
    if (!guarded) {
      guarded = new GuardedSchema(schema, role, this.#deps);
      known.set(schema, guarded);
    }
    return guarded;
  }

  /** Ends the threads. Rejects the checks that wait for one with a `FailError`. */
  close(): void {
    this.#threads.close();
  }
}
