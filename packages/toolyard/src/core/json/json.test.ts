import { expect, test } from "vitest";
import { copyOf, withMember } from "./json.ts";

test("a copy is another object with the same members", () => {
  const object = { a: 1, b: { c: [2] }, d: undefined };
  const copy = copyOf(object);
  copy["e"] = 3;
  expect(copy).toStrictEqual({ ...object, e: 3 });
  expect(object).not.toHaveProperty("e");
});

test("adds a member, or replaces the member of the same name", () => {
  const object = Object.freeze({ a: 1, b: 2 });
  expect(withMember(object, "c", 3)).toStrictEqual({ a: 1, b: 2, c: 3 });
  expect(withMember(object, "a", 0)).toStrictEqual({ a: 0, b: 2 });
});

test("a parsed member `__proto__` stays a member", () => {
  const copy = withMember(JSON.parse('{"__proto__":{"x":1},"a":2}') as Record<string, unknown>, "b", 3);
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"x":1},"a":2,"b":3}');
  expect(copy["x"]).toBeUndefined();
});
