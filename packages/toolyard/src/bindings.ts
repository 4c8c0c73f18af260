export {
  LollmsMCPBinding,
  type ClientInstance,
  type DiscoverToolsOptions,
  type ExecuteToolOptions,
  type ToolDefinition,
  type ToolFailure,
  type ToolResult,
  type ToolSuccess,
} from "./compat/bindings/binding.ts";
export {
  LollmsMCPBindingManager,
  type BindingClass,
  type BindingManagerOptions,
} from "./compat/bindings/binding-manager.ts";
export type { BindingProblem } from "./compat/bindings/hub-binding.ts";
export type { GenerateText, LlmBinding, TextOptions, TtiBinding } from "./compat/bindings/client-models.ts";
export { HubMCPBinding, type HubMCPOptions } from "./compat/bindings/hub-mcp.ts";
export { LocalMCPBinding, type LocalMCPOptions } from "./compat/bindings/local-mcp.ts";
export {
  RemoteMCPBinding,
  type AuthConfig,
  type OAuthConfig,
  type RemoteMCPOptions,
  type RemoteServer,
} from "./compat/bindings/remote-mcp.ts";
export { StandardMCPBinding, type StandardMCPOptions, type StandardServer } from "./compat/bindings/standard-mcp.ts";
