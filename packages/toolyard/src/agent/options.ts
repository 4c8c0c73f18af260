import { durationOption } from "../core/text/duration.ts";
import { bytesOption } from "../core/text/bytes.ts";
import { MAX_TIMER_MS } from "../core/calls/deadline.ts";
import { Type, type Static } from "../core/options/option-schema.ts";
import { ABOVE_ZERO, readOptions } from "../core/options/option-values.ts";
import type { Locale } from "./texts.ts";

const AGENT_OPTION_SCHEMAS = {
  instructions: Type.Optional(
    Type.String({
      description: "System prompt of the model. Default: a few general sentences.",
    }),
  ),
  locale: Type.Optional(Type.Enum(["en", "fr"], { description: "Language of the agent's own texts.", default: "en" })),
  max_iterations: Type.Optional(
    Type.Integer({
      description: "Maximum number of model requests for one answer.",
      default: 5,
      minimum: 1,
      maximum: 1000,
    }),
  ),
  max_tool_calls: Type.Optional(
    Type.Integer({
      description: "Maximum number of tool calls for one answer.",
      default: 50,
      minimum: 0,
      maximum: 10_000,
    }),
  ),
  max_tokens: Type.Optional(
    Type.Integer({
      description: "Maximum number of input and output tokens for one answer, over all model requests; 0: no limit.",
      default: 0,
      minimum: 0,
    }),
  ),
  max_reply_tokens: Type.Optional(
    Type.Integer({
      description: "Maximum number of output tokens of one reply; 0: the model's own limit.",
      default: 0,
      minimum: 0,
    }),
  ),
  timeout: Type.Optional(
    durationOption({ description: "Time limit for one answer, including tool calls.", default: "10m" }, ABOVE_ZERO),
  ),
  max_parallel_calls: Type.Optional(
    Type.Integer({
      description: "Maximum number of concurrent tool calls of one reply.",
      default: 8,
      minimum: 1,
      maximum: 256,
    }),
  ),
  max_retries: Type.Optional(
    Type.Integer({
      description: "Number of retries of a model request if the provider is busy or unreachable.",
      default: 2,
      minimum: 0,
      maximum: 10,
    }),
  ),
  max_result_bytes: Type.Optional(
    bytesOption({
      description: "Maximum text of one tool result for the model; longer results are truncated and marked.",
      default: "100KiB",
    }),
  ),
  max_history_messages: Type.Optional(
    Type.Integer({
      description:
        "Maximum number of messages that are kept. Above it, the oldest questions are removed with their answers.",
      default: 400,
      minimum: 2,
    }),
  ),
  final_answer: Type.Optional(
    Type.Boolean({
      description:
        "When a limit of iterations, tool calls or tokens is reached, sends one last request without tools, so " +
        "that the model answers from the results so far.",
      default: false,
    }),
  ),
  mode: Type.Optional(
    Type.Enum(["auto", "all", "discovery"], {
      description:
        "Tools that the model receives. `all`: every tool. `discovery`: two tools, one that searches and one " +
        "that calls. " +
        "`auto`: by the size of the catalogue.",
      default: "auto",
    }),
  ),
  max_listed_tools: Type.Optional(
    Type.Integer({
      description: "With `auto`: number of tools above which discovery is used.",
      default: 64,
      minimum: 1,
    }),
  ),
  max_listed_bytes: Type.Optional(
    bytesOption({ description: "With `auto`: size of the tool list above which discovery is used.", default: "64KiB" }),
  ),
  strategy: Type.Optional(
    Type.Enum(["auto", "native", "json"], {
      description:
        "Way in which the model requests tools. `native`: the provider's tool calling. `json`: decisions in " +
        "JSON. `auto`: " +
        "`native`, then `json` if the provider reports that the model does not support tool calling.",
      default: "auto",
    }),
  ),
  max_json_retries: Type.Optional(
    Type.Integer({
      description: "With `json`: number of consecutive retries after a reply that is not a valid decision.",
      default: 1,
      minimum: 0,
      maximum: 10,
    }),
  ),
  attachments: Type.Optional(
    Type.Enum(["auto", "always", "never"], {
      description:
        "Selects the models that receive images and files in tool results. " +
        "`auto`: models of OpenAI, Anthropic and Google; " +
        "`always`: all models, in a message after the results if the provider does not accept them in results.",
      default: "auto",
    }),
  ),
  hints: Type.Optional(
    Type.Record(Type.String({ minLength: 1 }), {
      description: "Hints for the model on when and how to use a tool, by tool name.",
      default: {},
      examples: [{ get_joke: "Use it when the user asks for a joke." }],
    }),
  ),
} as const;

/** Schema of `[agent]` in the configuration. */
export const AgentSchema = Type.Object(AGENT_OPTION_SCHEMAS, {
  description: "The agent: a model that uses the tools.",
});
export type AgentConfig = Static<typeof AgentSchema>;

export type AgentMode = "auto" | "all" | "discovery";
export type AgentStrategy = "auto" | "native" | "json";
export type Attachments = "auto" | "always" | "never";

/** Limits of one answer. */
export interface TurnLimits {
  readonly maxIterations: number;
  readonly maxToolCalls: number;
  /** Maximum number of tokens; Infinity means no limit. */
  readonly maxTokens: number;
  readonly timeoutMs: number;
}

export interface AgentOptions extends TurnLimits {
  readonly instructions?: string;
  readonly locale: Locale;
  /** Maximum number of tokens of one reply. Absent: the model's own limit. */
  readonly maxReplyTokens?: number;
  readonly maxParallelCalls: number;
  readonly maxRetries: number;
  readonly maxResultBytes: number;
  readonly maxHistoryMessages: number;
  readonly finalAnswer: boolean;
  readonly mode: AgentMode;
  readonly maxListedTools: number;
  readonly maxListedBytes: number;
  readonly strategy: AgentStrategy;
  readonly maxJsonRetries: number;
  readonly attachments: Attachments;
  readonly hints: Readonly<Record<string, string>>;
}

/**
 * Applies the defaults. Throws an `OptionError` for values out of range, because programs may pass unchecked options.
 */
export function resolveAgent(raw: AgentConfig = {}): AgentOptions {
  const options = readOptions(AgentSchema, raw, "agent.");
  const { instructions, max_reply_tokens: maxReplyTokens } = options;
  return Object.freeze({
    ...(instructions !== undefined && { instructions }),
    locale: options.locale,
    maxIterations: options.max_iterations,
    maxToolCalls: options.max_tool_calls,
    maxTokens: options.max_tokens || Infinity,
    ...(maxReplyTokens > 0 && { maxReplyTokens }),
    // A timer supports at most 2^31 milliseconds.
    timeoutMs: Math.min(options.timeout, MAX_TIMER_MS),
    maxParallelCalls: options.max_parallel_calls,
    maxRetries: options.max_retries,
    maxResultBytes: options.max_result_bytes,
    maxHistoryMessages: options.max_history_messages,
    finalAnswer: options.final_answer,
    mode: options.mode,
    maxListedTools: options.max_listed_tools,
    maxListedBytes: options.max_listed_bytes,
    strategy: options.strategy,
    maxJsonRetries: options.max_json_retries,
    attachments: options.attachments,
    hints: options.hints,
  });
}
