import type { Principal, ToolMode } from "../core/calls/call.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { HttpExchange } from "../http/exchange.ts";

/**
 * Reads a tool mode. `discovery` and `show_all` (also `all`) are accepted in any case; every other word means `normal`.
 */
export function parseToolMode(word: string): ToolMode {
  const mode = word.trim().toLowerCase();
  if (mode === "discovery") return "discovery";
  return mode === "show_all" || mode === "all" ? "all" : "normal";
}

/** Returns the tool mode of requests that select no mode: that of the caller's profile, otherwise that of the hub. */
export function defaultModeFor({ profile }: Pick<Principal, "profile">, ofHub: ToolMode): ToolMode {
  return profile?.toolMode ?? ofHub;
}

/** Returns the tool mode that one HTTP request selects, or `undefined`. The header overrides the query. */
export function toolModeOfRequest(exchange: Pick<HttpExchange, "header" | "query">): ToolMode | undefined {
  const header = exchange.header("x-mcp-tool-mode");
  if (header !== undefined) return parseToolMode(header);
  if (isYes(exchange.header("x-mcp-show-all"))) return "all";
  const { query } = exchange;
  const parameter = query.get("tool_mode");
  if (parameter !== null) return parseToolMode(parameter);
  return isYes(query.get("show_all")) ? "all" : undefined;
}

/** Returns the tool mode that `initialize` selects in `_meta`. On stdio, this is the only way to select one. */
export function toolModeOfMeta(meta: JsonObject): ToolMode | undefined {
  const word = meta["toolyard/toolMode"] ?? meta["tool_mode"];
  return typeof word === "string" ? parseToolMode(word) : undefined;
}

function isYes(value: unknown): boolean {
  return typeof value === "string" && /^(1|true|yes)$/i.test(value.trim());
}
