import type { Format } from "ajv";

/** What ajv-formats hands out: a pattern, a function, one of both with a type, or `true` for "anything". */
type Given = Format | true;

/**
 * Published formats are judged by patterns whose cost may grow with the square of the length, so longer text is not
 * shown to them.
 */
const MAX_FORMAT_CHARS = 2048;

/** Formats whose values may be long by nature; there longer text passes unchecked. In the others it is wrong. */
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

/** The formats of ajv-formats, each in bounded time. */
export function boundFormats(formats: Readonly<Record<string, Given>>): Record<string, Format> {
  return Object.fromEntries(Object.entries(formats).map(([name, format]) => [name, bound(name, format)]));
}

function bound(name: string, format: Given): Format {
  const test = testOf(format);
  if (test === undefined) return format as Format;
  const isLong = LONG.has(name);
  return (text: string) => (text.length > MAX_FORMAT_CHARS ? isLong : test(text));
}

function testOf(format: Given): ((text: string) => boolean) | undefined {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === "function") return format as (text: string) => boolean;
  if (
    typeof format !== "object" ||
    ("type" in format && format.type === "number") ||
    ("async" in format && format.async)
  )
    return undefined;
  return testOf(format.validate as Given);
}
