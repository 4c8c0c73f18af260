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

// Ajv is loaded by the first check, because loading takes 40 ms and some megabytes. That check is synchronous, so
// `require` is used.
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
  /** True: reports all errors with schema and value, not only the first error. */
  readonly explain: boolean;
  readonly withMetaSchema: boolean;
  readonly optimise: boolean;
  /** True: the numbers of a `RoundedValue` are compared exactly. */
  readonly exact?: boolean;
  /** Maximum number of nodes of all patterns together; above it, compiling throws a `PatternCostError`. */
  readonly maxPatternNodes: number;
}

export interface EngineSchema {
  readonly validate: ValidateFunction;
  /** Parts of the schema that are not checked, with the reason. */
  readonly warnings: readonly string[];
}

/**
 * Compiles a schema in a new Ajv instance: instances retain every schema, and schemas from upstreams must not
 * accumulate. Nothing is fetched; throws for a reference outside the schema.
 */
export function compileWithAjv(job: Compilation): EngineSchema {
  const warnings: string[] = [];
  const Ajv = (require(MODULES[job.dialect]) as { readonly default: typeof AjvClass }).default;
  const ajv = new Ajv(optionsFor(job, warnings));
  // The keyword is removed, because draft-04's `id` occurs inside many schemas and has no effect on validation.
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

/** Loads Ajv before the first compilation needs it. */
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
    // Inherited members such as `toString` and `constructor` do not count, because callers did not send them.
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
 * Compiles a pattern. A pattern that cannot be matched in bounded time accepts every text and is reported; the tool
 * itself can still check the text.
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
