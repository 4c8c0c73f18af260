export { Agent, type ChatOptions, type Question } from "./agent/agent.ts";
export type { AgentHub } from "./agent/agent-hub.ts";
export type { AgentStream } from "./agent/event-stream.ts";
export type { AgentConfig, AgentMode, AgentStrategy, Attachments, TurnLimits } from "./agent/options.ts";
export type {
  AgentCall,
  AgentEvent,
  AgentOutcome,
  AgentState,
  AgentStep,
  AgentUsage,
  StopReason,
} from "./agent/outcome.ts";
export type { Locale } from "./agent/texts.ts";
export { createAgent, type CreateAgentOptions } from "./compat/agent/create-agent.ts";
export type { HubChoice, ToolCaller } from "./compat/agent/agent-hub.ts";
export type { ModelsConfig } from "./models/options.ts";
export { FailError, OptionError } from "./core/errors.ts";
export {
  fromAnthropicToolCall,
  fromGoogleToolCall,
  fromMistralToolCall,
  fromOpenAIToolCall,
  toAnthropicTools,
  toGoogleTools,
  toMistralTools,
  toOpenAITools,
  toResultText,
  type AnthropicTool,
  type GoogleTool,
  type HubCall,
  type ListedTool,
  type OpenAITool,
} from "./agent/tool-formats/formats.ts";
export {
  toAiSdkTools,
  type AiSdkSchema,
  type AiSdkTool,
  type AiSdkTools,
  type AiSdkToolsOptions,
} from "./compat/agent/ai-sdk-tools.ts";
export { LLMAgent, type LLMAgentOptions } from "./compat/agent/llm-agent.ts";
export { LLMWithMCPTools } from "./compat/agent/llm-with-mcp-tools.ts";
export type { LLMClient } from "./compat/agent/official-client.ts";
