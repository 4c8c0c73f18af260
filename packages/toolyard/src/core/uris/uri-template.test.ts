import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMs } from "../../../../../test/fixtures/cpu-time.ts";
import { UriTemplate } from "./uri-template.ts";

function match(template: string, uri: string) {
  return new UriTemplate(template).match(uri);
}

test.each([
  ["docs://readme", "docs://readme", {}],
  ["docs://{name}", "docs://readme", { name: "readme" }],
  ["test://template/{id}/data", "test://template/123/data", { id: "123" }],
  ["docs://{name}", "docs://two%20words", { name: "two words" }],
  ["docs://{name}", "docs://100%", { name: "100%" }],
  ["file:///{+path}", "file:///a/b/c.txt", { path: "a/b/c.txt" }],
  ["{+base}/{x}", "http://h/a/b", { base: "http://h/a", x: "b" }],
  ["x://{a}.{b}", "x://1.2.3", { a: "1.2", b: "3" }],
  ["x://{a,b}", "x://1,2", { a: "1", b: "2" }],
  ["x://s{?q,page}", "x://s", {}],
  ["x://s{?q,page}", "x://s?page=2&q=a%26b", { q: "a&b", page: "2" }],
  ["x://s?fixed=1{&q}", "x://s?fixed=1&q=v", { q: "v" }],
  ["x://s{/kind}", "x://s/item", { kind: "item" }],
  ["x://s{/kind,id}", "x://s/item/7", { kind: "item", id: "7" }],
  ["x://s{#part}", "x://s#top/here", { part: "top/here" }],
  ["x://s{.ext}", "x://s.json", { ext: "json" }],
  ["x://{list*}", "x://a,b", { list: "a,b" }],
  ["x://{short:3}", "x://abc", { short: "abc" }],
  ["x://open{brace", "x://open{brace", {}],
  ["notes://café/{x}", "notes://café/1", { x: "1" }],
  ["notes://café/{x}", "notes://caf%C3%A9/1", { x: "1" }],
  ["notes://café/{x}", "notes://caf%c3%a9/é", { x: "é" }],
  ["notes://caf%C3%A9/{x}", "notes://café/%C3%A9", { x: "é" }],
  ["notes://my notes/{x}", "notes://my%20notes/a%20b", { x: "a b" }],
  ["notes://my notes/{x}", "notes://my notes/a b", { x: "a b" }],
  ["notes://a|b/日本/{x}", "notes://a%7Cb/%E6%97%A5%E6%9C%AC/x", { x: "x" }],
  ["notes://😀/{+x}", "notes://%F0%9F%98%80/a/ü?q", { x: "a/ü?q" }],
])("`%s` matches `%s`", (template, uri, variables) => {
  expect(match(template, uri)).toEqual(variables);
});

test.each([
  ["docs://readme", "docs://readme2"],
  ["docs://{name}", "docs://"],
  ["docs://{name}", "docs://a/b"],
  ["docs://{name}", "docs://a?b"],
  ["test://template/{id}/data", "test://template/123/date"],
  ["x://s{/kind}", "x://s/item/7"],
  ["x://s{?q}", "x://sq=1"],
  ["", "x://s"],
  ["notes://café/{x}", "notes://cafe/1"],
  ["notes://café/{x}", "notes://caf%C3/1"],
  ["notes://a b/{x}", "notes://a+b/1"],
  ["notes://a%2Fb/{x}", "notes://a/b/1"],
  ["notes://\ud800/{x}", "notes://%ED%A0%80/1"],
])("`%s` does not match `%s`", (template, uri) => {
  expect(match(template, uri)).toBeUndefined();
});

test("matching an expansion returns the values of the variables", () => {
  const value = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(value, value, (a, b) => {
      const uri = `x://${encodeURIComponent(a)}/y/${encodeURIComponent(b)}`;
      expect(match("x://{a}/y/{b}", uri)).toEqual({ a, b });
    }),
  );
});

test("never throws, for any template and URI", () => {
  const messy = fc
    .array(fc.constantFrom("{", "}", "a", "/", "?", "&", "=", "+", "#", ",", "*", "%", ":3"))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(messy, messy, (template, uri) => {
      expect(() => match(template, uri)).not.toThrow();
    }),
  );
});

test("S18: matches consecutive expressions on a long URI quickly", () => {
  const began = cpuMs();
  expect(match(`x://${"{+a}-".repeat(40)}!`, `x://${"a-".repeat(4000)}`)).toBeUndefined();
  expect(cpuMs() - began).toBeLessThan(1500);
});

test("a URI over the limit matches nothing", () => {
  expect(match("x://{+a}", `x://${"a".repeat(9000)}`)).toBeUndefined();
});
