import type { Ajv, KeywordDefinition } from "ajv";
import type { DataValidateFunction, DataValidationCxt } from "ajv/dist/types/index.js";
import { isUnique } from "../unique.ts";
import type { RoundedValue } from "./rounded-value.ts";
import { isMultiple, sameJson, type JsonNumber } from "./exact-numbers.ts";

/** Keywords that compare a value with numbers of the schema. Every digit of these numbers counts. */
export const NUMERIC_KEYWORDS: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "enum",
  "const",
]);

/**
 * The value that is being checked. It is a module variable, because Ajv's functions have no parameter for it. They are
 * synchronous.
 */
let current: RoundedValue | undefined;

/** Sets the value for the next call of a function that was compiled with `addExactKeywords`. */
export function compareExactly(value: RoundedValue | undefined): void {
  current = value;
}

/**
 * Replaces Ajv's keywords that compare numbers with keywords that compare the integers of a `RoundedValue` exactly.
 */
export function addExactKeywords(ajv: Ajv): void {
  const add = (definition: KeywordDefinition & { readonly keyword: string }): void => {
    ajv.removeKeyword(definition.keyword);
    ajv.addKeyword(definition);
  };
  for (const [keyword, { sign, holds }] of Object.entries(LIMITS))
    add(
      rule(keyword, { type: "number" }, (limit, data) =>
        holds(data as JsonNumber, limit as JsonNumber) ? "" : `must be ${sign} ${String(limit)}`,
      ),
    );
  add(
    rule("multipleOf", { type: "number" }, (step, data) =>
      isMultiple(data as JsonNumber, step as JsonNumber) ? "" : `must be multiple of ${String(step)}`,
    ),
  );
  add(rule("const", {}, (wanted, data) => (sameJson(wanted, data) ? "" : "must be equal to constant")));
  add(rule("enum", {}, (values, data) => (isAmong(data, values) ? "" : "must be equal to one of the allowed values")));
  add(
    rule("uniqueItems", { type: "array" }, (wanted, items) =>
      wanted !== true || isUnique(items as readonly unknown[]) ? "" : "must NOT have duplicate items",
    ),
  );
}

interface Limit {
  readonly sign: string;
  holds(data: JsonNumber, limit: JsonNumber): boolean;
}

/** Comparisons of the keywords that limit a number. JavaScript compares a `bigint` with a `number` exactly. */
const LIMITS: Readonly<Record<string, Limit>> = {
  minimum: { sign: ">=", holds: (data, limit) => data >= limit },
  maximum: { sign: "<=", holds: (data, limit) => data <= limit },
  exclusiveMinimum: { sign: ">", holds: (data, limit) => data > limit },
  exclusiveMaximum: { sign: "<", holds: (data, limit) => data < limit },
};

type Complaint = (schema: unknown, data: unknown) => string;

/** Defines a keyword. `complaint` returns the error message, or an empty string. */
function rule(
  keyword: string,
  restriction: { readonly type?: "number" | "array" },
  complaint: Complaint,
): KeywordDefinition & { readonly keyword: string } {
  const compile = (schema: unknown): DataValidateFunction => {
    const validate: DataValidateFunction = (data: unknown, place?: DataValidationCxt) => {
      const exact = current?.exact(data, place?.parentData, place?.parentDataProperty ?? "") ?? data;
      const message = complaint(schema, exact);
      if (message === "") return true;
      validate.errors = [{ keyword, message, params: {} }];
      return false;
    };
    return validate;
  };
  return { keyword, ...restriction, compile } as KeywordDefinition & { readonly keyword: string };
}

function isAmong(data: unknown, values: unknown): boolean {
  return Array.isArray(values) && values.some((value) => sameJson(value, data));
}
