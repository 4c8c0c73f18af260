export {
  MCPManager,
  type ClientLine,
  type ManagedCallOptions,
  type ManagerClient,
  type ManagerError,
  type ManagerOptions,
} from "./compat/manager/mcp-manager.ts";
export { DEFAULT_REGISTRY, TOOL_ALIASES, type Registry, type RegistryLine } from "./compat/manager/registry.ts";
export type { ToolDefinition } from "./compat/client/mcp-client.ts";
