import { expect, test } from "vitest";
import { toolModeOfMeta, toolModeOfRequest } from "./tool-mode.ts";

test.each([
  [{ "x-mcp-tool-mode": "discovery" }, "", "discovery"],
  [{ "x-mcp-tool-mode": " DisCovery " }, "", "discovery"],
  [{ "x-mcp-tool-mode": "show_all" }, "", "all"],
  [{ "x-mcp-tool-mode": "nonsense" }, "tool_mode=discovery", "normal"],
  [{ "x-mcp-show-all": "true" }, "", "all"],
  [{ "x-mcp-show-all": "false" }, "tool_mode=discovery", "discovery"],
  [{}, "tool_mode=DISCOVERY", "discovery"],
  [{}, "tool_mode=", "normal"],
  [{}, "show_all=1", "all"],
  [{}, "", undefined],
])("C31: headers %j and query %j select %s", (headers, query, mode) => {
  const lines = new Map(Object.entries(headers));
  const exchange = { header: (name: string) => lines.get(name), query: new URLSearchParams(query) };
  expect(toolModeOfRequest(exchange)).toBe(mode);
});

test.each([
  [{ "toolyard/toolMode": "discovery" }, "discovery"],
  [{ tool_mode: "all" }, "all"],
  [{ tool_mode: 5 }, undefined],
  [{}, undefined],
])("C32: _meta %j selects %s", (meta, mode) => {
  expect(toolModeOfMeta(meta)).toBe(mode);
});
