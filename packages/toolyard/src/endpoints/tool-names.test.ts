import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { toolNamesOfRequest, withToolNames } from "./tool-names.ts";

function names(query: string, header?: string): string | undefined {
  return toolNamesOfRequest({
    query: new URLSearchParams(query),
    header: (name) => (name === "x-mcp-tool-names" ? header : undefined),
  });
}

test.each([
  ["", undefined, undefined],
  ["tool_names=model", undefined, "model"],
  ["tool_names=MCP", undefined, "mcp"],
  ["tool_names=mcp", " Model ", "model"],
  ["tool_names=model", "other", "model"],
  ["tool_names=dots", undefined, undefined],
  ["names=model", undefined, undefined],
])("`?%s` with the header %j selects %s", (query, header, expected) => {
  expect(names(query, header)).toBe(expected);
});

test("adds a form of names to a caller and caches the new object; returns a caller that has the form", () => {
  const named = withToolNames(LOCAL_PRINCIPAL, "model");
  expect(named).toEqual({ ...LOCAL_PRINCIPAL, toolNames: "model" });
  expect(withToolNames(LOCAL_PRINCIPAL, "model")).toBe(named);
  expect(withToolNames(named, "model")).toBe(named);
  expect(withToolNames(LOCAL_PRINCIPAL, "mcp")).toBe(LOCAL_PRINCIPAL);
  expect(withToolNames(named, "mcp").toolNames).toBe("mcp");
});
