import type { Principal, ToolNameStyle } from "../core/calls/call.ts";
import type { HttpExchange } from "../http/exchange.ts";

const HEADER = "x-mcp-tool-names";
const PARAMETER = "tool_names";

/**
 * Returns the form of tool names that one HTTP request selects. The header overrides the query; unknown words are
 * ignored.
 */
export function toolNamesOfRequest(exchange: Pick<HttpExchange, "header" | "query">): ToolNameStyle | undefined {
  return parseToolNames(exchange.header(HEADER)) ?? parseToolNames(exchange.query.get(PARAMETER));
}

function parseToolNames(word: string | null | undefined): ToolNameStyle | undefined {
  const names = word?.trim().toLowerCase();
  return names === "mcp" || names === "model" ? names : undefined;
}

/**
 * Principals with another form of tool names. There is one object per principal, so that a session recognises its
 * caller.
 */
const named = new WeakMap<Principal, Principal>();

/** Returns the caller with this form of tool names. */
export function withToolNames(principal: Principal, toolNames: ToolNameStyle): Principal {
  if (toolNames === (principal.toolNames ?? "mcp")) return principal;
  let other = named.get(principal);
  if (!other) named.set(principal, (other = Object.freeze({ ...principal, toolNames })));
  return other;
}
