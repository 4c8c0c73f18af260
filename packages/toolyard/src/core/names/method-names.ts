/**
 * Method names that a tool must not have, since a connection with several dialects could not distinguish them (C1). An
 * entry is a whole name or the start of one.
 */
const RESERVED = new Set([
  "initialize",
  "ping",
  "get_mcp_server_capabilities",
  "mcp.capabilities",
  "mcp.tool.execute",
  "mcp.resource.get",
]);
const PREFIXES = [
  "notifications/",
  "resource/",
  "resources/",
  "tools/",
  "prompts/",
  "completion/",
  "logging/",
  "sampling/",
  "elicitation/",
  "roots/",
  "tasks/",
  "server/",
  "subscriptions/",
  "mcp/",
  // Reserved by JSON-RPC 2.0.
  "rpc.",
] as const;

export function isReservedMethod(name: string): boolean {
  return RESERVED.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
