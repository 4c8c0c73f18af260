import type { ErrorObject, ValidateFunction } from "ajv";
import { messageOf } from "../core/errors.ts";
import { holdsBigInt } from "../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { jsonSize, MAX_JSON_DEPTH } from "../core/json/json-size.ts";
import { compileWithAjv, type Compilation, type EngineSchema, type SchemaDialect } from "./engine.ts";
import { compareExactly } from "./exact/exact-keywords.ts";
import { LongDefaults } from "./exact/long-defaults.ts";
import { RoundedValue } from "./exact/rounded-value.ts";
import { setMember } from "./exact/set-member.ts";
import { explainErrors, joinErrors, type SchemaError } from "./explain.ts";
import { MAX_PATTERN_STEPS, PatternCostError } from "./pattern.ts";
import { stepsLeft } from "./steps-left.ts";
import { surveySchema } from "./survey.ts";
import { localTarget } from "./local-target.ts";
import { hasPlace, placeIn, removePlace } from "./value-path.ts";
import { firstChars } from "../core/text/truncate.ts";

export type CheckResult =
  /** `value` is the caller's own object, or a copy if defaults were filled in. */
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly errors: readonly SchemaError[]; readonly message: string };

/** A compiled schema that can check values. */
export interface CompiledSchema {
  /** False: the schema is broken, and `check` accepts everything. */
  readonly usable: boolean;
  /** Reason why the schema is not usable. */
  readonly reason?: string;
  /** Parts of the schema that are not checked, with the reason. */
  readonly warnings: readonly string[];
  /** Validates a value without changing it. The time is bounded for a plain schema (see `plain.ts`). */
  check(value: unknown): CheckResult;
  /**
   * Validates within these limits. Returns undefined if the limits are not sufficient. `hasBigInt`: whether `value`
   * contains an integer beyond 2^53. If it is absent, the value is searched for one.
   */
  checkWithin(value: unknown, bounds: CheckBounds, hasBigInt?: boolean): CheckResult | undefined;
}

/** Limits of one validation. */
export interface CheckBounds {
  /** Maximum number of pattern matching steps; each takes about 20 ns. */
  readonly patternSteps: number;
  /** Maximum number of steps for formats; each takes about 20 ns. */
  readonly formatSteps: number;
  /**
   * `all`: reports all errors, or only the first if the value is large. `first`: always only the first. `never`: leaves
   * an invalid value to another validation.
   */
  readonly explains: "all" | "first" | "never";
}

const FULL_BOUNDS: CheckBounds = Object.freeze({
  patternSteps: MAX_PATTERN_STEPS,
  formatSteps: Infinity,
  explains: "all",
});

export interface CompileOptions {
  /** True: the schema's defaults are filled in, including nested ones. @default true */
  readonly fillDefaults?: boolean;
  /**
   * Maximum number of nodes of all patterns together; above it, compiling throws a `PatternCostError`. @default no
   * limit
   */
  readonly maxPatternNodes?: number;
  /** True to compile with explanations immediately, so that one function is compiled instead of two. @default false */
  readonly explainsFirst?: boolean;
}

const filling = new WeakMap<JsonObject, CompiledSchema>();
const judging = new WeakMap<JsonObject, CompiledSchema>();

/**
 * Compiles a JSON Schema: draft 2020-12, or the draft that `$schema` names (2019-09, draft-07, draft-06). The result is
 * cached until the schema object is garbage-collected. Formats are asserted, nothing is fetched, and patterns are
 * matched in linear time.
 */
export function compileSchema(schema: JsonObject, options: CompileOptions = {}): CompiledSchema {
  const cache = (options.fillDefaults ?? true) ? filling : judging;
  let compiled = cache.get(schema);
  if (!compiled) {
    compiled = compile(schema, options);
    cache.set(schema, compiled);
  }
  return compiled;
}

/** Maximum size of schemas that are optimized; the time for that grows with the square of the size. */
const MAX_OPTIMISED_NODES = 60;

function compile(
  schema: JsonObject,
  { fillDefaults = true, maxPatternNodes = Infinity, explainsFirst = false }: CompileOptions,
): CompiledSchema {
  try {
    const { unusable, hasDefaults, refersToMetaSchema, nodes } = surveySchema(schema);
    if (unusable !== undefined) return unusableSchema(unusable);
    const job = {
      dialect: dialectOf(schema),
      schema: withoutDialect(schema),
      fillDefaults: fillDefaults && hasDefaults,
      explain: explainsFirst,
      withMetaSchema: refersToMetaSchema,
      optimise: nodes <= MAX_OPTIMISED_NODES,
      maxPatternNodes,
    };
    return new Checker(job, compileWithAjv(job));
  } catch (error) {
    if (error instanceof PatternCostError) throw error;
    return unusableSchema(reasonOf(error));
  }
}

function unusableSchema(reason: string): CompiledSchema {
  const check = (value: unknown): CheckResult => ({ ok: true, value });
  return Object.freeze({ usable: false, reason, warnings: [], check, checkWithin: check });
}

const MAX_REASON_CHARS = 300;

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return "it is nested too deeply";
  const text = firstChars(messageOf(error), MAX_REASON_CHARS);
  return /can't resolve reference/.test(text) ? `${text}; references to other documents are not followed` : text;
}

function dialectOf(schema: JsonObject): SchemaDialect {
  const name = typeof schema["$schema"] === "string" ? schema["$schema"] : "";
  if (name.includes("/2019-09/")) return "2019-09";
  return /\/draft-0[3467]\//.test(name) ? "draft-07" : "2020-12";
}

// Returns the schema without `$schema`: the dialect is already chosen, and Ajv would look up an unknown one.
function withoutDialect(schema: JsonObject): JsonObject {
  if (!("$schema" in schema)) return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
}

/**
 * Maximum size of values for which all errors are explained. In larger values only the first error is looked for: a
 * list of a million wrong items does not need a million explanations.
 */
const MAX_EXPLAINED_BYTES = 256 * 1024;

class Checker implements CompiledSchema {
  readonly usable = true;
  readonly warnings: readonly string[];
  readonly #job: Compilation;
  /** True if the schema contains an integer beyond 2^53. */
  readonly #hasBigInt: boolean;
  /** True if values are copied for the check, to add defaults or to round integers. */
  readonly #copies: boolean;
  readonly #longDefaults: LongDefaults | undefined;
  /** Checks values with integers beyond 2^53; compiled for the first such value. */
  #exact: Checker | undefined;
  /** The value of the current check, if integers are compared exactly. */
  #rounded: RoundedValue | undefined;
  #quick: ValidateFunction | undefined;
  #explaining: ValidateFunction | undefined;

  constructor(job: Compilation, { validate, warnings }: EngineSchema) {
    this.#job = job;
    if (job.explain) this.#explaining = validate;
    else this.#quick = validate;
    this.warnings = warnings;
    this.#copies = job.fillDefaults || job.exact === true;
    this.#hasBigInt = holdsBigInt(job.schema);
    if (this.#hasBigInt && job.fillDefaults) this.#longDefaults = new LongDefaults(job.schema);
  }

  check(value: unknown): CheckResult {
    return this.checkWithin(value, FULL_BOUNDS)!;
  }

  checkWithin(value: unknown, bounds: CheckBounds, hasBigInt = holdsBigInt(value)): CheckResult | undefined {
    if (hasBigInt && !this.#job.exact) return this.#checkExact(value, bounds);
    try {
      const validate = this.#quick ?? this.#explainingFor(value) ?? this.#compileQuick();
      stepsLeft.patterns = bounds.patternSteps;
      stepsLeft.formats = bounds.formatSteps;
      const filled = this.#copies ? this.#fill(value) : value;
      if (validate(filled)) return { ok: true, value: this.#copies ? this.#finish(filled, value) : value };
      return this.#whyInvalid(value, bounds);
    } catch (error) {
      return refusal(value, error, bounds);
    }
  }

  /** Returns the result for a value that did not match. It may be valid after all. */
  #whyInvalid(value: unknown, bounds: CheckBounds): CheckResult | undefined {
    // Numbers in this schema were rounded, so its errors may be wrong. The value is then checked exactly.
    if (this.#hasBigInt && !this.#job.exact) return this.#checkExact(value, bounds);
    return bounds.explains === "never" ? undefined : this.#explain(value, bounds);
  }

  #checkExact(value: unknown, bounds: CheckBounds): CheckResult | undefined {
    const job = { ...this.#job, exact: true, explain: false };
    this.#exact ??= new Checker(job, compileWithAjv(job));
    try {
      return this.#exact.checkWithin(value, bounds, true);
    } finally {
      compareExactly((this.#exact.#rounded = undefined));
    }
  }

  /** Returns the value to validate: the original, or a copy with defaults added and integers rounded. */
  #fill(value: unknown): unknown {
    if (!this.#job.exact) return this.#job.fillDefaults ? copyJson(value) : value;
    compareExactly((this.#rounded = new RoundedValue(value)));
    return this.#rounded.value;
  }

  /** Returns the checked value with each integer exact. */
  #finish(filled: unknown, given: unknown): unknown {
    if (!this.#job.fillDefaults) return given;
    const finished = this.#rounded?.restore() ?? filled;
    this.#longDefaults?.restore(finished, given);
    return finished;
  }

  // A default that its own schema does not accept is the author's mistake. Errors at places that the caller did not
  // send show such a default. The default is removed again, and the value is valid if no other error remains.
  #explain(value: unknown, bounds: CheckBounds): CheckResult {
    stepsLeft.patterns = bounds.patternSteps;
    stepsLeft.formats = bounds.formatSteps;
    const filled = this.#fill(value);
    const explaining = bounds.explains === "first" ? undefined : this.#explainingFor(value);
    const found = explaining
      ? findErrors(explaining, filled)
      : findErrors(this.#quick ?? this.#compileQuick(), filled).map((error) =>
          inContext(error, filled, this.#job.schema),
        );
    const errors = found.filter(({ instancePath }) => hasPlace(instancePath, value));
    if (errors.length > 0) {
      const explained = explainErrors(errors, value, this.#job.schema);
      return { ok: false, errors: explained, message: joinErrors(explained) };
    }
    for (const { instancePath } of found) removePlace(instancePath, filled);
    return { ok: true, value: this.#finish(filled, value) };
  }

  #explainingFor(value: unknown): ValidateFunction | undefined {
    if (jsonSize(value, MAX_EXPLAINED_BYTES) > MAX_EXPLAINED_BYTES) return undefined;
    return (this.#explaining ??= compileWithAjv({ ...this.#job, explain: true }).validate);
  }

  #compileQuick(): ValidateFunction {
    return (this.#quick ??= compileWithAjv({ ...this.#job, explain: false }).validate);
  }
}

function findErrors(validate: ValidateFunction, filled: unknown): readonly ErrorObject[] {
  validate(filled);
  const errors = validate.errors ?? [];
  // The errors are released, because Ajv's functions keep their last errors, which contain values of the call.
  validate.errors = null;
  return errors;
}

/**
 * Adds the fields to an error that Ajv's option `verbose` adds: the schema, the schema around it, and the received
 * value.
 */
function inContext(error: ErrorObject, value: unknown, root: JsonObject): ErrorObject {
  const parentSchema = localTarget(error.schemaPath.slice(0, error.schemaPath.lastIndexOf("/")), root) ?? {};
  return { ...error, parentSchema, schema: parentSchema[error.keyword], data: placeIn(error.instancePath, value) };
}

/** Returns the refusal of a value that exceeds a limit. Returns undefined if a check without limits might succeed. */
function refusal(value: unknown, error: unknown, { patternSteps }: CheckBounds): CheckResult | undefined {
  if (error instanceof RangeError) return refused(value, TOO_DEEP);
  if (!(error instanceof PatternCostError)) throw error;
  return patternSteps < MAX_PATTERN_STEPS ? undefined : refused(value, TOO_LONG);
}

const TOO_DEEP = `The value is nested too deeply to be checked; at most ${MAX_JSON_DEPTH} levels are accepted`;
const TOO_LONG = "The value is too long to be checked against the patterns of its schema; send shorter text";

/** Returns the refusal of a value that cannot be checked, for a reason such as `it has more than 20000 parts`. */
export function refuseValue(value: unknown, reason: string, remedy = "send less at a time"): CheckResult {
  return refused(value, `The value cannot be checked, so it is refused: ${reason}; ${remedy}`);
}

function refused(value: unknown, message: string): CheckResult {
  const received = Array.isArray(value) ? "an array" : typeof value;
  return { ok: false, errors: [{ path: "", message, expected: "a smaller value", received }], message };
}

/** Returns a deep copy of parsed JSON. */
function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyJson);
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setMember(copy, key, copyJson(value[key]));
  return copy;
}
