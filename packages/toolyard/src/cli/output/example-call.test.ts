import { expect, test } from "vitest";
import { chooseExample, exampleArguments, exampleWords } from "./example-call.ts";

const tool = (name: string, properties: object = {}, more: object = {}) => ({
  isLocal: true,
  entry: { name, inputSchema: { type: "object", properties, required: Object.keys(properties) }, ...more },
});
const NUMBER = { type: "number" };
const TEXT = { type: "string" };

test("gives numbers without limits different values, and respects minimum and default of the schema", () => {
  const properties = { a: NUMBER, b: NUMBER, c: { type: "integer", minimum: 7 }, d: { type: "number", default: 1 } };
  expect(exampleArguments({ properties, required: ["a", "b", "c", "d"] })).toEqual({ a: 2, b: 3, c: 7, d: 1 });
  expect(exampleArguments({ properties: { a: NUMBER }, required: ["a"] })).toEqual({ a: 1 });
  expect(exampleWords({})).toEqual([]);
});

test("prefers a local tool with meaningful arguments", () => {
  const add = tool("add", { op: { enum: ["plus", "minus"] }, a: NUMBER, b: NUMBER });
  const others = [
    tool("now"),
    tool("echo", { text: TEXT }),
    { ...tool("far", { n: NUMBER, m: NUMBER }), isLocal: false },
  ];
  expect(chooseExample([...others, add])).toBe(add.entry);
  expect(chooseExample([add, ...others])).toBe(add.entry);
});

test.each([
  tool("send_mail", { count: NUMBER }),
  tool("notes.delete"),
  tool("wait"),
  tool("x", {}, { annotations: { readOnlyHint: false } }),
  tool("y", {}, { annotations: { destructiveHint: true } }),
  tool("z", { list: { type: "array", items: TEXT } }),
  tool("q", Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, NUMBER]))),
])("does not suggest $entry.name, which may have effects or needs many arguments", (one) => {
  expect(chooseExample([one])).toBeUndefined();
  const harmless = tool("list_settings");
  expect(chooseExample([one, harmless])).toBe(harmless.entry);
});

test("returns no example without tools", () => {
  expect(chooseExample([])).toBeUndefined();
});
