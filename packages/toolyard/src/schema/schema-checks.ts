import type { JsonObject } from "../core/json/json.ts";
import type { CheckResult } from "./compile.ts";
import type { CheckFor, GuardedSchema, SchemaRole } from "./guarded-schema.ts";
import type { GuardedSchemas } from "./guarded-schemas.ts";

/** Members of `GuardedSchema` that the rest of the hub uses. */
export type CheckedSchema = Pick<GuardedSchema, "verdict" | "checkHere" | "checkApart">;

/**
 * Validates values against untrusted schemas. The validator is loaded by the first validation: a hub that only lists
 * tools never needs it.
 */
export class SchemaChecks {
  #loading: Promise<GuardedSchemas> | undefined;
  #schemas: GuardedSchemas | undefined;
  #isClosed = false;

  /** Returns the checker of a schema. `input`: defaults are filled in. */
  of(schema: JsonObject, role: SchemaRole): CheckedSchema {
    return this.#schemas?.of(schema, role) ?? new LateSchema(async () => (await this.#load()).of(schema, role));
  }

  /** Ends the threads. Rejects the checks that wait for one with a `FailError`. */
  close(): void {
    this.#isClosed = true;
    this.#schemas?.close();
  }

  #load(): Promise<GuardedSchemas> {
    return (this.#loading ??= import("./guarded-schemas.ts").then((loaded) => {
      this.#schemas = new loaded.GuardedSchemas();
      if (this.#isClosed) this.#schemas.close();
      return this.#schemas;
    }));
  }
}

/** A schema whose first validation waits until the validator is loaded. */
class LateSchema implements CheckedSchema {
  readonly #load: () => Promise<GuardedSchema>;
  #schema: GuardedSchema | undefined;

  constructor(load: () => Promise<GuardedSchema>) {
    this.#load = load;
  }

  get verdict(): CheckedSchema["verdict"] {
    return this.#schema?.verdict;
  }

  checkHere(): undefined {
    return undefined;
  }

  async checkApart(value: unknown, whom: CheckFor): Promise<CheckResult> {
    this.#schema = await this.#load();
    return this.#schema.checkHere(value) ?? this.#schema.checkApart(value, whom);
  }
}
