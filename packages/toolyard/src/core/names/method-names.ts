/**
 * Method names that a tool must not take, since a connection that speaks several dialects could not tell the two apart
 * (C1). A name is reserved by itself, or by what it begins with.
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
  // JSON-RPC 2.0 keeps these for itself.
  "rpc.",
] as const;

export function isReservedMethod(name: string): boolean {
  return RESERVED.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
