import { createRequire } from "node:module";
import type { Ajv as AjvClass, Options, ValidateFunction } from "ajv";
import type { JsonObject } from "../core/json/json.ts";
import { addExactKeywords } from "./exact/exact-keywords.ts";
import { roundSchema } from "./exact/rounded-schema.ts";
import { boundFormats } from "./formats.ts";
import { LinearPattern, PatternCostError } from "./pattern.ts";
import { PatternError } from "./pattern-error.ts";
import { isUnique } from "./unique.ts";
import { firstChars } from "../core/text/truncate.ts";

// Ajv costs 40 ms and some megabytes, so it is loaded by the first check, which is not asynchronous.
const require = createRequire(import.meta.url);

export type SchemaDialect = "2020-12" | "2019-09" | "draft-07";

const MODULES: Readonly<Record<SchemaDialect, string>> = {
  "2020-12": "ajv/dist/2020.js",
  "2019-09": "ajv/dist/2019.js",
  "draft-07": "ajv",
};

export interface Compilation {
  readonly dialect: SchemaDialect;
  readonly schema: JsonObject;
  readonly fillDefaults: boolean;
  /** All errors with what they were found in, rather than the first one alone. */
  readonly explain: boolean;
  readonly withMetaSchema: boolean;
  readonly optimise: boolean;
  /** The numbers of a `RoundedValue` are compared exactly. */
  readonly exact?: boolean;
  /** Nodes of all patterns together; above them, compiling throws a `PatternCostError`. */
  readonly maxPatternNodes: number;
}

export interface EngineSchema {
  readonly validate: ValidateFunction;
  /** Parts of the schema that are not checked, with the reason. */
  readonly warnings: readonly string[];
}

/**
 * Compiles in a new instance: instances retain every schema, and schemas from upstreams must not accumulate. Nothing is
 * fetched; a reference out of the schema throws.
 */
export function compileWithAjv(job: Compilation): EngineSchema {
  const warnings: string[] = [];
  const Ajv = (require(MODULES[job.dialect]) as { readonly default: typeof AjvClass }).default;
  const ajv = new Ajv(optionsFor(job, warnings));
  // Draft-04's `id` is met inside many schemas and means nothing to a check.
  ajv.removeKeyword("id");
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (wanted: boolean, items: unknown[]) => !wanted || isUnique(items),
  });
  if (job.exact) addExactKeywords(ajv);
  return { validate: ajv.compile(roundSchema(job.schema, job.exact === true)), warnings };
}

/** Loads what the first compilation would wait for. */
export function loadEngine(): void {
  require(MODULES["2020-12"]);
  allFormats();
}

function optionsFor(job: Compilation, warnings: string[]): Options {
  let nodesLeft = job.maxPatternNodes;
  const regExp = (source: string): CompiledPattern => {
    const pattern = toPattern(source, warnings);
    nodesLeft -= pattern instanceof LinearPattern ? pattern.size : 0;
    if (nodesLeft < 0) throw new PatternCostError();
    return pattern;
  };
  return {
    strict: false,
    logger: false,
    validateSchema: false,
    meta: job.withMetaSchema,
    // `toString` and `constructor` are inherited by every object and given by none.
    ownProperties: true,
    multipleOfPrecision: 9,
    allErrors: job.explain,
    verbose: job.explain,
    useDefaults: job.fillDefaults,
    code: { regExp: Object.assign(regExp, { code: "toPattern" }), optimize: job.optimise },
    formats: allFormats(),
  };
}

let formats: Options["formats"];

function allFormats(): NonNullable<Options["formats"]> {
  formats ??= boundFormats(
    (require("ajv-formats/dist/formats.js") as { readonly fullFormats: Parameters<typeof boundFormats>[0] })
      .fullFormats,
  );
  return formats;
}

interface CompiledPattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * A pattern that cannot be checked in bounded time accepts everything and is reported: the tool behind it still can.
 */
function toPattern(source: string, warnings: string[]): CompiledPattern {
  try {
    return new LinearPattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    warnings.push(`The pattern ${JSON.stringify(firstChars(source, 100))} is not checked: it has ${error.message}.`);
    return { test: () => true, toString: () => source };
  }
}
