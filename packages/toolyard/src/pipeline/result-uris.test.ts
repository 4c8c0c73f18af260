import { expect, test } from "vitest";
import { withShownUris } from "./result-uris.ts";

const prefixed = (uri: string): string => `s+${uri}`;

test.each(["tools/call", "resources/read", "prompts/get"] as const)(
  "returns a result of %s that requests input unchanged",
  (method) => {
    const result = { resultType: "input_required", inputRequests: {}, requestState: "s" };
    expect(withShownUris(method, result, prefixed)).toBe(result);
  },
);

test("replaces the URI of a resource link", () => {
  const result = { content: [{ type: "resource_link", uri: "file:///a", name: "a" }] };
  expect(withShownUris("tools/call", result, prefixed)).toEqual({
    content: [{ type: "resource_link", uri: "s+file:///a", name: "a" }],
  });
});
