import { expect, test } from "vitest";
import { parseJsonObject } from "./json-object-text.ts";

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

test.each([
  ["{}", {}],
  [' {"a": [1]} ', { a: [1] }],
  [nested(20), JSON.parse(nested(20)) as unknown],
])("parses %s", (text, value) => {
  expect(parseJsonObject(text)).toEqual(value);
});

test.each(["", "[]", "null", '"text"', "1", "{", "<html>", nested(21)])("returns undefined for the text %s", (text) => {
  expect(parseJsonObject(text)).toBeUndefined();
});
