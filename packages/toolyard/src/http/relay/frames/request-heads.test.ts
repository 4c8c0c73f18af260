import { expect, test } from "vitest";
import { PrincipalReader } from "../../adapters/workers/principal-text.ts";
import { HeadReader } from "./request-heads.ts";

const textOf = (headers: object): string => JSON.stringify({ path: "/mcp", headers, principal: '{"id":"a"}' });

test.each([
  ["caches", "an ordinary request", { accept: "*/*" }],
  ["does not cache", "a traced request", { accept: "*/*", traceparent: "00-1-2-01" }],
  ["does not cache", "a request with long headers", { "mcp-name": "x".repeat(5000) }],
])("the reader %s the head of %s", (how, _, headers) => {
  const heads = new HeadReader(new PrincipalReader());
  const [first, second] = [heads.read(textOf(headers)), heads.read(textOf(headers))];
  expect(second).toEqual(first);
  expect(second === first).toBe(how === "caches");
  expect(second.principal).toBe(first.principal);
});
