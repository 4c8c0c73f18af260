import type { ErrorObject, ValidateFunction } from "ajv";
import { messageOf } from "../core/errors.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { jsonSize, MAX_JSON_DEPTH } from "../core/json-size.ts";
import { compileWithAjv, type Compilation, type Compiled, type Dialect } from "./engine.ts";
import { explainErrors, joinErrors, type SchemaError } from "./explain.ts";
import { PatternCostError, renewPatternAllowance } from "./pattern.ts";
import { surveySchema } from "./survey.ts";
import { hasPlace, removePlace } from "./value-path.ts";

export type CheckResult =
  /** `value` is the caller's own object, or a copy of it where defaults were filled in. */
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly errors: readonly SchemaError[]; readonly message: string };

/** A schema made ready to check values. */
export interface CompiledSchema {
  /** False: the schema is broken, and `check` accepts everything. */
  readonly usable: boolean;
  /** Why it is not usable. */
  readonly reason?: string;
  /** Parts of it that are not checked, with the reason. */
  readonly warnings: readonly string[];
  /** Never changes `value` and takes bounded time, whatever schema and value are. */
  check(value: unknown): CheckResult;
}

export interface CompileOptions {
  /** Fill in the schema's defaults, nested ones too. @default true */
  readonly fillDefaults?: boolean;
}

const filling = new WeakMap<JsonObject, CompiledSchema>();
const judging = new WeakMap<JsonObject, CompiledSchema>();

/**
 * Compiles a JSON Schema: draft 2020-12, or what `$schema` names of 2019-09, draft-07 and draft-06. Kept for as long as
 * the schema object lives. Formats are asserted, nothing is ever fetched, and patterns are matched in linear time.
 */
export function compileSchema(schema: JsonObject, { fillDefaults = true }: CompileOptions = {}): CompiledSchema {
  const cache = fillDefaults ? filling : judging;
  let compiled = cache.get(schema);
  if (!compiled) {
    compiled = compile(schema, fillDefaults);
    cache.set(schema, compiled);
  }
  return compiled;
}

function compile(schema: JsonObject, fillDefaults: boolean): CompiledSchema {
  try {
    const { unusable, hasDefaults, refersToMetaSchema } = surveySchema(schema);
    if (unusable !== undefined) return unusableSchema(unusable);
    const job = {
      dialect: dialectOf(schema),
      schema: withoutDialect(schema),
      fillDefaults: fillDefaults && hasDefaults,
      explain: false,
      withMetaSchema: refersToMetaSchema,
    };
    return new Checker(job, compileWithAjv(job));
  } catch (error) {
    return unusableSchema(reasonOf(error));
  }
}

function unusableSchema(reason: string): CompiledSchema {
  return Object.freeze({
    usable: false,
    reason,
    warnings: [],
    check: (value: unknown) => ({ ok: true as const, value }),
  });
}

const MAX_REASON_CHARS = 300;

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return "it is nested too deeply";
  const text = messageOf(error).slice(0, MAX_REASON_CHARS);
  return /can't resolve reference/.test(text) ? `${text}; references to other documents are not followed` : text;
}

function dialectOf(schema: JsonObject): Dialect {
  const name = typeof schema["$schema"] === "string" ? schema["$schema"] : "";
  if (name.includes("/2019-09/")) return "2019-09";
  return /\/draft-0[3467]\//.test(name) ? "draft-07" : "2020-12";
}

// The dialect is chosen by now; left in, an unknown one would be looked for.
function withoutDialect(schema: JsonObject): JsonObject {
  if (!("$schema" in schema)) return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
}

/** Above this, only the first error is looked for: a list of a million wrong items needs no million explanations. */
const MAX_EXPLAINED_BYTES = 256 * 1024;

class Checker implements CompiledSchema {
  readonly usable = true;
  readonly warnings: readonly string[];
  readonly #job: Compilation;
  readonly #validate: ValidateFunction;
  #explainer: ValidateFunction | undefined;

  constructor(job: Compilation, { validate, warnings }: Compiled) {
    this.#job = job;
    this.#validate = validate;
    this.warnings = warnings;
  }

  check(value: unknown): CheckResult {
    try {
      renewPatternAllowance();
      const filled = this.#job.fillDefaults ? copyJson(value) : value;
      return this.#validate(filled) ? { ok: true, value: filled } : this.#explain(value);
    } catch (error) {
      return refusal(value, error);
    }
  }

  // A default that its own schema does not accept is the author's mistake, not the caller's: such errors are about
  // places that the caller did not send. The default is taken out again, and if nothing else is wrong, nothing is.
  #explain(value: unknown): CheckResult {
    renewPatternAllowance();
    const filled = this.#job.fillDefaults ? copyJson(value) : value;
    const found = this.#findErrors(value, filled);
    const errors = found.filter(({ instancePath }) => hasPlace(instancePath, value));
    if (errors.length > 0) {
      const explained = explainErrors(errors, value, this.#job.schema);
      return { ok: false, errors: explained, message: joinErrors(explained) };
    }
    for (const { instancePath } of found) removePlace(instancePath, filled);
    return { ok: true, value: filled };
  }

  #findErrors(value: unknown, filled: unknown): readonly ErrorObject[] {
    const isSmall = jsonSize(value, MAX_EXPLAINED_BYTES) <= MAX_EXPLAINED_BYTES;
    if (isSmall) this.#explainer ??= compileWithAjv({ ...this.#job, explain: true }).validate;
    const validate = isSmall ? this.#explainer! : this.#validate;
    validate(filled);
    const errors = validate.errors ?? [];
    // Ajv's functions hold on to their last errors, and verbose ones to the values of the call.
    validate.errors = null;
    return errors;
  }
}

function refusal(value: unknown, error: unknown): CheckResult {
  const isDeep = error instanceof RangeError;
  if (!isDeep && !(error instanceof PatternCostError)) throw error;
  const message = isDeep
    ? `The value is nested too deeply to be checked; at most ${MAX_JSON_DEPTH} levels are accepted`
    : "The value is too long to be checked against the patterns of its schema; send shorter text";
  return {
    ok: false,
    errors: [
      { path: "", message, expected: "a smaller value", received: Array.isArray(value) ? "an array" : typeof value },
    ],
    message,
  };
}

/** A copy of parsed JSON that shares nothing that could be changed. */
function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyJson);
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    // Assigning to `__proto__` would change the copy's prototype.
    if (key === "__proto__")
      Object.defineProperty(copy, key, {
        value: copyJson(value[key]),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else copy[key] = copyJson(value[key]);
  }
  return copy;
}
