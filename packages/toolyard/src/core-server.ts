export {
  MCPError,
  MCPInvalidParamsError,
  MCPResourceNotFoundError,
  MCPSDKNotFoundError,
  MCPToolExecutionError,
  MCPToolNotFoundError,
} from "./compat/core/errors.ts";
export { MCPHTTPServer, startHttpServer, startHttpServer as start_http_server } from "./compat/core/http-server.ts";
export {
  closeMcpInstance,
  closeMcpInstance as close_mcp_instance,
  getMcpInstance,
  getMcpInstance as get_mcp_instance,
  initialize,
  type CoreInitialization,
  type InitializeOptions,
} from "./compat/core/initialize.ts";
export { MCP, type Capabilities } from "./compat/core/mcp.ts";
export { MCPResource, MCPTool } from "./compat/core/records.ts";
export type { MCPOptions } from "./compat/core/settings.ts";
export {
  StdioServer,
  startStdioServer,
  startStdioServer as start_stdio_server,
  type CoreStdioOptions,
} from "./compat/core/stdio-server.ts";
export type {
  ModuleHub,
  RegisterTools,
  ResourceOptions,
  ResourceRetriever,
  ToolContext,
  ToolHandler,
  ToolOptions,
  ToolRegistration,
} from "./providers/modules/api.ts";
