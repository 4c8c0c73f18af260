import type { Principal, ToolNameStyle } from "../core/calls/call.ts";
import type { HttpExchange } from "../http/exchange.ts";

const HEADER = "x-mcp-tool-names";
const PARAMETER = "tool_names";

/** Returns how one HTTP request wants tools to be named. The header comes before the query; other words are ignored. */
export function toolNamesOfRequest(exchange: Pick<HttpExchange, "header" | "query">): ToolNameStyle | undefined {
  return parseToolNames(exchange.header(HEADER)) ?? parseToolNames(exchange.query.get(PARAMETER));
}

function parseToolNames(word: string | null | undefined): ToolNameStyle | undefined {
  const names = word?.trim().toLowerCase();
  return names === "mcp" || names === "model" ? names : undefined;
}

/** One object for each principal, so that a session sees that its caller is the same. */
const named = new WeakMap<Principal, Principal>();

/** The caller, to whom tools are shown under these names. */
export function withToolNames(principal: Principal, toolNames: ToolNameStyle): Principal {
  if (toolNames === (principal.toolNames ?? "mcp")) return principal;
  let other = named.get(principal);
  if (!other) named.set(principal, (other = Object.freeze({ ...principal, toolNames })));
  return other;
}
