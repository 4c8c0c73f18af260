import { stringifyExact } from "../core/json/exact-json.ts";
import { createHash } from "node:crypto";
import { messageOf } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import { compileSchema, refuseValue, type CheckBounds, type CheckResult, type CompiledSchema } from "./compile.ts";
import { PatternCostError } from "./pattern.ts";
import { measurePlain, type PlainSchema } from "./plain.ts";
import { MAX_FILLED_CHARS } from "./survey.ts";
import { MAX_SCHEMA_CHARS, MAX_SENT_CHARS, MAX_SENT_ITEMS } from "./threads/bounds.ts";
import type { CheckThreads, JobResult } from "./threads/check-threads.ts";
import type { Verdict } from "./threads/messages.ts";
import type { TurnAllowance } from "./turn-allowance.ts";
import { sizeOfValue, type ValueSize } from "./value-size.ts";

/** `input`: defaults are filled in. `output`: defaults are not filled in. */
export type SchemaRole = "input" | "output";

/** Source and caller of a check that runs in a thread. */
export interface CheckFor {
  /** Id of the source that the schema belongs to. */
  readonly source: string;
  /** True if no caller waits for the result any more. */
  isGone(): boolean;
}

/** Dependencies that the schemas of one hub share. */
export interface CheckDeps {
  readonly threads: CheckThreads;
  readonly turn: TurnAllowance;
}

/** Maximum number of steps of one check in the event loop; each takes 5 to 20 ns. */
const MAX_STEPS = 2_000_000;
/** Maximum number of steps of a validation with explanations, which takes a thousand times as long per error. */
const MAX_EXPLAINED_STEPS = 20_000;
/** Characters of a text that one step reads. */
const CHARS_PER_STEP = 32;
/** Maximum number of nodes of all patterns of one schema. */
const MAX_PATTERN_NODES = 10_000;
/** Maximum number of items that are copied in the event loop to fill in defaults. */
const MAX_COPIED_ITEMS = 20_000;

const ALL: CheckBounds = Object.freeze({ patternSteps: 500_000, formatSteps: 500_000, explains: "all" });
const FIRST: CheckBounds = Object.freeze({ ...ALL, explains: "first" });
const NEVER: CheckBounds = Object.freeze({ ...ALL, explains: "never" });

/** One schema from an untrusted author, which checks values in bounded time. */
export class GuardedSchema {
  readonly #schema: JsonObject;
  readonly #role: SchemaRole;
  readonly #threads: CheckThreads;
  readonly #turn: TurnAllowance;
  /** Measures of the schema. Absent before the first check, and always if the schema is not plain. */
  #measures: PlainSchema | undefined;
  #compiled: CompiledSchema | undefined;
  #isMeasured = false;
  #text: { readonly json: string; readonly key: string } | undefined;
  /** Verdict on the schema, known after the first check. An unusable schema accepts every value. */
  verdict: Verdict | undefined;

  constructor(schema: JsonObject, role: SchemaRole, { threads, turn }: CheckDeps) {
    this.#schema = schema;
    this.#role = role;
    this.#threads = threads;
    this.#turn = turn;
  }

  /**
   * Validates synchronously, within a few milliseconds. Returns undefined if that is not possible; `checkApart` must
   * then be used.
   */
  checkHere(value: unknown): CheckResult | undefined {
    if (!this.#isMeasured && !this.#prepare()) return undefined;
    const size = sizeOfValue(value, MAX_STEPS);
    if (size.hasInfinity && this.#role === "input") return refuseInfinity(value);
    if (this.verdict?.usable === false) return { ok: true, value };
    if (!this.#compiled || !this.#measures) return undefined;
    const bounds = boundsFor(this.#measures, size);
    return bounds && this.#compiled.checkWithin(value, bounds, size.hasBigInt);
  }

  /** Checks a value in a thread. Rejects with a `FailError` if no thread can check it. */
  async checkApart(value: unknown, whom: CheckFor): Promise<CheckResult> {
    if (!this.#text) await this.#turn.ownTurn();
    this.#text ??= this.#write();
    const { key, json } = this.#text;
    const known = this.verdict?.usable === false ? this.verdict : this.#threads.verdictOn(key);
    if (known?.usable === false) return this.#accept(value, known);
    const size = sizeOfValue(value, MAX_SENT_ITEMS);
    const refused = refuseSent(value, size, this.#role);
    if (refused) return refused;
    const { items } = size;
    const job = { source: whom.source, key, text: json, fillsDefaults: this.#role === "input", value, items };
    const result = await this.#threads.run(job, () => whom.isGone()).catch(unsent);
    const verdict = this.#threads.verdictOn(key) ?? this.verdict;
    this.verdict = verdict;
    return verdict && result.ok === "unusable" ? this.#accept(value, verdict) : toResult(result, value);
  }

  #accept(value: unknown, verdict: Verdict): CheckResult {
    this.verdict = verdict;
    return { ok: true, value };
  }

  /** Prepares the schema for checks. Returns false if that must wait for another turn of the event loop. */
  #prepare(): boolean {
    if (this.#turn.isSpent) return false;
    this.#isMeasured = true;
    const measures = measurePlain(this.#schema);
    if (measures) {
      this.#turn.spend(measures.parts);
      this.#compile(measures);
    }
    return true;
  }

  #compile(measures: PlainSchema): void {
    try {
      const compiled = compileSchema(this.#schema, {
        fillDefaults: this.#role === "input",
        maxPatternNodes: MAX_PATTERN_NODES,
      });
      const { usable, reason = "it is broken", warnings } = compiled;
      this.verdict = usable ? { usable, warnings, isSlow: false } : { usable, reason };
      this.#measures = measures;
      this.#compiled = compiled;
    } catch (error) {
      // The patterns have more nodes than estimated, so the schema is checked in a thread.
      if (!(error instanceof PatternCostError)) throw error;
    }
  }

  #write(): { readonly json: string; readonly key: string } {
    const json = jsonOf(this.#schema);
    if (typeof json !== "string") this.verdict = { usable: false, reason: json.problem };
    const text = typeof json === "string" ? json : "";
    return { json: text, key: `${this.#role}:${createHash("sha256").update(text).digest("base64")}` };
  }
}

/** Refuses a number beyond the range of a double, which `JSON.stringify` would write as `null`. */
function refuseInfinity(value: unknown): CheckResult {
  return refuseValue(value, "a number in it is beyond the range of a double, ±1.8e308", "send it as a string");
}

/** Returns the limits of a check in the event loop; undefined if the check must run in a thread. */
function boundsFor(schema: PlainSchema, { items, chars }: ValueSize): CheckBounds | undefined {
  const looks = schema.readsText ? items + chars / CHARS_PER_STEP : items;
  const steps = schema.parts + looks * schema.stepsPerItem;
  if (steps > MAX_STEPS) return undefined;
  const isFilledHere = items <= MAX_COPIED_ITEMS && items * schema.defaultChars <= MAX_FILLED_CHARS;
  if (schema.defaultChars > 0 && !isFilledHere) return undefined;
  if (steps <= MAX_EXPLAINED_STEPS) return ALL;
  return items <= MAX_SENT_ITEMS ? NEVER : FIRST;
}

/** Returns the refusal of a value that cannot be sent to a thread. */
function refuseSent(
  value: unknown,
  { items, chars, hasInfinity }: ValueSize,
  role: SchemaRole,
): CheckResult | undefined {
  if (hasInfinity && role === "input") return refuseInfinity(value);
  if (items > MAX_SENT_ITEMS)
    return refuseValue(value, `it has more than ${MAX_SENT_ITEMS} parts, which is too many for its complex schema`);
  return chars > MAX_SENT_CHARS ? refuseValue(value, `it has more than ${MAX_SENT_CHARS} characters`) : undefined;
}

function toResult(result: JobResult, value: unknown): CheckResult {
  if (result.ok === "too much") return refuseValue(value, result.reason);
  if (result.ok === true) return { ok: true, value: "value" in result ? result.value : value };
  return result.ok === false ? result : { ok: true, value };
}

/**
 * Returns the result for a value that cannot be sent to a thread, for example because a user's program put a function
 * into it.
 */
function unsent(error: unknown): JobResult {
  if (error instanceof RangeError) return { ok: "too much", reason: "it is nested too deeply" };
  if (!(error instanceof DOMException)) throw error;
  return { ok: "too much", reason: `it is no JSON (${messageOf(error)})` };
}

function jsonOf(schema: JsonObject): string | { readonly problem: string } {
  try {
    const text = stringifyExact(schema) ?? "{}";
    return text.length > MAX_SCHEMA_CHARS ? { problem: `it is larger than ${MAX_SCHEMA_CHARS} characters` } : text;
  } catch (error) {
    return {
      problem: error instanceof RangeError ? "it is nested too deeply" : "it refers to itself, so it is no JSON",
    };
  }
}
