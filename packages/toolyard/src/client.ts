export { MCPClient, type CallToolOptions, type ToolDefinition } from "./compat/client/mcp-client.ts";
export type { ClientServer, ClientSettings, ClientTimes } from "./compat/client/client-options.ts";
export { FailError, OptionError } from "./core/errors.ts";
export type { CallNotification } from "./core/calls/call.ts";
