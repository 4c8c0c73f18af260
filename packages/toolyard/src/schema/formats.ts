import type { Format } from "ajv";
import { PatternCostError } from "./pattern.ts";
import { stepsLeft } from "./steps-left.ts";

/**
 * Format as ajv-formats defines it: a pattern or a function, with or without a type, or `true`, which accepts every
 * value.
 */
type FormatDefinition = Format | true;

/** Maximum length of a text that is checked. The published patterns may take quadratic time. */
const MAX_FORMAT_CHARS = 2048;

/** Formats whose values may be long. A text above the limit is accepted unchecked. For other formats it is invalid. */
const LONG = new Set([
  "uri",
  "uri-reference",
  "uri-template",
  "iri",
  "iri-reference",
  "url",
  "json-pointer",
  "json-pointer-uri-fragment",
  "relative-json-pointer",
  "byte",
  "regex",
]);

/**
 * Square of the text length that costs one step of 20 ns in the worst case, for formats that take quadratic time. All
 * other formats take linear time.
 */
const SQUARED_PER_STEP: Readonly<Record<string, number>> = { url: 1, "uri-reference": 4, uri: 10 };
const STEPS_PER_CHAR = 8;

/**
 * Returns the formats of ajv-formats, each limited to bounded time. They throw a `PatternCostError` when the steps of
 * the check are used up.
 */
export function boundFormats(formats: Readonly<Record<string, FormatDefinition>>): Record<string, Format> {
  return Object.fromEntries(Object.entries(formats).map(([name, format]) => [name, bound(name, format)]));
}

function bound(name: string, format: FormatDefinition): Format {
  const test = testOf(format);
  if (test === undefined) return format as Format;
  const isLong = LONG.has(name);
  const squaredPerStep = SQUARED_PER_STEP[name];
  return (text: string) => {
    const { length } = text;
    if (length > MAX_FORMAT_CHARS) return isLong;
    stepsLeft.formats -= length * STEPS_PER_CHAR + (squaredPerStep === undefined ? 0 : length ** 2 / squaredPerStep);
    if (stepsLeft.formats < 0) throw new PatternCostError();
    return test(text);
  };
}

function testOf(format: FormatDefinition): ((text: string) => boolean) | undefined {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === "function") return format as (text: string) => boolean;
  if (
    typeof format !== "object" ||
    ("type" in format && format.type === "number") ||
    ("async" in format && format.async)
  )
    return undefined;
  return testOf(format.validate as FormatDefinition);
}
