import type { ToolMode } from "../core/calls/call.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import type { ToolRecord } from "../core/sources/records.ts";
import { NamedTable, type TableOptions } from "./named-table.ts";
import { changedRow } from "./renamed-row.ts";
import type { PreparedTool, SourcePart } from "./source-part.ts";
import { withUiResource } from "../core/uris/ui-resource.ts";

export type ToolTarget = Extract<CallTarget, { type: "tool" }>;
export type ToolTable = NamedTable<ToolRecord, PreparedTool>;

/**
 * Creates the table. `parts` must be in order of precedence. `shownUri` returns a source's own URI as callers see it.
 */
export function createToolTable(
  parts: readonly SourcePart[],
  options: TableOptions<ToolRecord>,
  shownUri: (sourceId: string, uri: string) => string,
): ToolTable {
  const tools = parts.flatMap(({ source, tools: own }) => {
    const shown = (uri: string): string => shownUri(source.id, uri);
    return own.map((tool) => withShownUi(tool, shown));
  });
  return new NamedTable<ToolRecord, PreparedTool>("tool", tools, options);
}

function withShownUi(tool: PreparedTool, shownUri: (uri: string) => string): PreparedTool {
  const entry = withUiResource(tool.entry, shownUri);
  return entry === tool.entry ? tool : changedRow(tool, tool.key, () => ({ entry }));
}

/**
 * Returns the permitted tools that a mode lists (T21 to T28). `normal`: the native tools, and the discovery tools if
 * there are other tools to find. `discovery`: only the discovery tools. `all`: all tools.
 */
export function listedTools(permitted: readonly PreparedTool[], mode: ToolMode): readonly PreparedTool[] {
  if (mode === "all") return permitted;
  if (mode === "discovery") return permitted.filter(isDiscovery);
  const hasHidden = permitted.some((tool) => tool.record.visibility === "ondemand" && tool.record.role === undefined);
  return permitted.filter((tool) => (isDiscovery(tool) ? hasHidden : tool.record.visibility === "native"));
}

function isDiscovery(tool: PreparedTool): boolean {
  return tool.record.role === "discovery";
}
