import { expect, test } from "vitest";
import { resourceValue, toolValue } from "./tool-value.ts";

const texts = (...words: string[]) => ({ content: words.map((text) => ({ type: "text", text })) });

test("C12: structured content is the value, for any text", () => {
  expect(toolValue({ ...texts("not this"), structuredContent: { a: 1 } })).toEqual({ a: 1 });
});

test.each([
  ['{"a":[1]}', { a: [1] }],
  ["[1,2]", [1, 2]],
  ["5", 5],
  ["-0.5", -0.5],
  ["true", true],
  ["null", null],
  ['"quoted"', "quoted"],
  ["false", false],
  [' \t\r\n{"a": 1}\n', { a: 1 }],
])("C12: parses the text %s as JSON", (text, value) => {
  expect(toolValue(texts(text))).toEqual(value);
});

test.each([
  "plain words",
  "",
  "truth",
  "nullable",
  "\u00a01",
  "\ufeff{}",
  "+1",
  ".5",
  "007",
  "1.50",
  "12345678901234567890",
  "{broken",
  "NaN",
])("C12: keeps %s as text", (text) => {
  expect(toolValue(texts(text))).toBe(text);
});

test("C12: returns a list for several blocks, the block of an image, and null without content", () => {
  const image = { type: "image", data: "AA==", mimeType: "image/png" };
  expect(toolValue({ content: [{ type: "text", text: "1" }, image] })).toEqual([1, image]);
  expect(toolValue({ content: [image] })).toEqual(image);
  expect(toolValue({ content: [] })).toBe(null);
});

test("C38: parses a JSON resource, keeps text as text, and returns binary content as an object", () => {
  const of = (...contents: object[]) => resourceValue({ contents });
  expect(of({ uri: "a:b", mimeType: "application/json", text: '{"a":1}' })).toEqual({ a: 1 });
  expect(of({ uri: "a:b", mimeType: "application/ld+json; charset=utf-8", text: "[1]" })).toEqual([1]);
  expect(of({ uri: "a:b", mimeType: "text/plain", text: '{"a":1}' })).toBe('{"a":1}');
  expect(of({ uri: "a:b", blob: "AA==" })).toEqual({ uri: "a:b", blob: "AA==" });
  expect(of({ uri: "a:b", text: "x" }, { uri: "a:c", text: "y" })).toEqual(["x", "y"]);
});

test.each([
  ['{"a": 1}', { a: 1 }],
  ["[1, 2]", [1, 2]],
  ['{"results": [], "total_count": 0}', { results: [], total_count: 0 }],
])("R12: parses the JSON text %s that an SDK wrapped as `result`", (text, value) => {
  expect(toolValue({ ...texts(text), structuredContent: { result: text } })).toEqual(value);
});

test.each([
  ["plain text", { ...texts("hello"), structuredContent: { result: "hello" } }],
  ["a number as text", { ...texts("5"), structuredContent: { result: "5" } }],
  ["null as text", { ...texts("null"), structuredContent: { result: "null" } }],
  ["another text in the content", { ...texts('{"result":"{}"}'), structuredContent: { result: "{}" } }],
  ["further members", { ...texts("{}"), structuredContent: { result: "{}", more: 1 } }],
  ["no content", { content: [], structuredContent: { result: "{}" } }],
  ["several blocks", { content: [...texts("{}").content, ...texts("x").content], structuredContent: { result: "{}" } }],
  ["an object as result", { ...texts("{}"), structuredContent: { result: {} } }],
])("R12: keeps structured content with %s", (_what, result) => {
  expect(toolValue(result)).toEqual(result.structuredContent);
});
