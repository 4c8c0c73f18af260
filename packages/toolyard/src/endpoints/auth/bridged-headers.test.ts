import { expect, test } from "vitest";
import { bridgedHeaders } from "./bridged-headers.ts";
import { pageHeaders } from "./pages.ts";

const HTML = "text/html; charset=utf-8";
const POLICY = pageHeaders()["content-security-policy"];

/** Returns the values of one header. */
function valuesOf(pairs: readonly string[], name: string): readonly string[] {
  return pairs.filter((_, at) => at % 2 === 1 && pairs[at - 1] === name);
}

test.each([
  ["without a policy", {}],
  ["with a policy of the library", { "content-security-policy": "default-src *" }],
])("adds the hub's security policy once to a page %s", (_, more) => {
  const pairs = bridgedHeaders({ "content-type": HTML, ...more });
  expect(valuesOf(pairs, "content-security-policy")).toEqual([POLICY]);
  expect(valuesOf(pairs, "x-frame-options")).toEqual(["DENY"]);
  expect(valuesOf(pairs, "content-type")).toEqual([HTML]);
});

test("keeps the cache rule of a page, and each of its cookies", () => {
  const pairs = bridgedHeaders({ "content-type": HTML, "cache-control": "no-cache", "set-cookie": ["a=1", "b=2"] });
  expect(valuesOf(pairs, "cache-control")).toEqual(["no-cache"]);
  expect(valuesOf(pairs, "set-cookie")).toEqual(["a=1", "b=2"]);
});

test("adds no headers to JSON, and omits the headers that the listener writes", () => {
  const headers = {
    "content-type": "application/json",
    "access-control-allow-origin": "*",
    vary: "Origin",
    "content-length": 2,
    connection: "close",
    location: undefined,
  };
  expect(bridgedHeaders(headers)).toEqual(["content-type", "application/json"]);
});
