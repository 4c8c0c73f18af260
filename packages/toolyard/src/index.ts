export { createHub, type CreateHubOptions, type LibraryHub, type ServerSettings } from "./hub/create-hub.ts";
export type { HubTask, ProgramTasks, StartTaskOptions } from "./hub/library-tasks.ts";
export type { TaskSnapshot, TaskStatus } from "./core/ports/tasks.ts";
export type { CallOptions, ListOptions, Toolyard } from "./kernel/toolyard.ts";
export type { ServedHub, ServedHttp } from "./hub/serve/serve.ts";
export type { ServedFetch } from "./hub/serve/fetch.ts";
export type { NodeHandler } from "./hub/serve/node.ts";
export type { FetchHandler } from "./http/adapters/fetch/listener.ts";
export { dataFolder } from "./core/data-folder.ts";
export type { HubConfig } from "./hub/schema.ts";
export type { ServerRequest, CallNotification, ToolMode } from "./core/calls/call.ts";
export { ConfigError, FailError, OptionError } from "./core/errors.ts";
export type { RenderedList, ServerFacts, SourceReport } from "./core/ports/hub-port.ts";
export type { JsonObject } from "./core/json/json.ts";
export { KINDS, type FailKind, type KindRow } from "./core/calls/kinds.ts";
export type { Fail, Ok, Outcome } from "./core/calls/outcome.ts";
export type {
  AudioBlock,
  CompletionResult,
  ContentBlock,
  ImageBlock,
  ListedPrompt,
  ListedPromptArgument,
  ListedResource,
  ListedTemplate,
  ListedTool,
  PromptMessage,
  PromptResult,
  ReadResult,
  ResourceBlock,
  ResourceContents,
  ResourceLinkBlock,
  TextBlock,
  ToolAnnotations,
  ToolResult,
} from "./core/calls/results.ts";
export type { Logger, SearchAnswer, SearchHit } from "./core/ports/ports.ts";
export { VERSION } from "./core/version.ts";
export { downloadPublic, type Download, type DownloadOptions } from "./outbound/download.ts";
export { createHttpSource, type HttpQuery, type HttpSource, type HttpSourceOptions } from "./outbound/http-source.ts";
export { ToolCallError } from "./providers/modules/context.ts";
export type {
  Completer,
  ContextLogLevel,
  ModuleHub,
  ModuleSchema,
  PromptArgument,
  PromptHandler,
  PromptOptions,
  RegisterTools,
  Registration,
  ResourceOptions,
  ResourceRetriever,
  RegisterTool,
  ToolContext,
  ToolHandler,
  ToolOptions,
  ToolRegistration,
} from "./providers/modules/api.ts";
export type { ToolArguments } from "./providers/modules/arguments.ts";
export type { ModuleObject } from "./providers/modules/module-object.ts";
export { createWebSearch } from "./websearch/create-web-search.ts";
export type { WebSearchConfig } from "./websearch/options.ts";
export type { WebHit } from "./websearch/web-hit.ts";
export type { WebSearch, WebSearchAnswer, WebSearchRequest } from "./websearch/web-search.ts";
