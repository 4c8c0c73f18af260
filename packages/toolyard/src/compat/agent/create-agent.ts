import { Agent } from "../../agent/agent.ts";
import {
  resolveAgent,
  type AgentConfig,
  type AgentMode,
  type AgentStrategy,
  type Attachments,
} from "../../agent/options.ts";
import type { Locale } from "../../agent/texts.ts";
import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { LibraryHub } from "../../hub/create-hub.ts";
import type { Toolyard } from "../../kernel/toolyard.ts";
import type { LoadedLanguageModel } from "../../models/given-model.ts";
import { loadLanguageModel } from "../../models/language-model.ts";
import { assertKey, parseModelName } from "../../models/model-name.ts";
import { resolveModels, type ModelsConfig } from "../../models/options.ts";
import { snakeKeys } from "../option-keys.ts";
import { toAgentHub, type HubChoice } from "./agent-hub.ts";

/**
 * Options of `createAgent`. Default of each: the value in `[agent]` and `[models]` of the hub's configuration, or else
 * the default stated here.
 */
export interface CreateAgentOptions {
  /**
   * Language model: `provider/model`, such as `"mistral/mistral-large-latest"`, or a language model of the AI SDK.
   * @default `[models] language`
   */
  readonly model?: string | LoadedLanguageModel;
  /**
   * Source of tools: a hub in this process, the URL of an MCP server, its settings (`{url, token, …}`, `{command, …}`),
   * or an `MCPClient` or `MCPManager`.
   */
  readonly hub: HubChoice;
  /** Model providers, with the keys of `[models]`. @default `[models]` of the hub's configuration */
  readonly models?: ModelsConfig;
  /** Environment with the vendors' variables (`OPENAI_API_KEY`, …). @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Maximum number of model requests for one answer. @default 5 */
  readonly maxIterations?: number;
  /** Maximum number of tool calls for one answer. @default 50 */
  readonly maxToolCalls?: number;
  /** Maximum number of tokens for one answer, input and output; 0 means no limit. @default 0 */
  readonly maxTokens?: number;
  /** Maximum number of tokens of one reply; 0 means the model's own limit. @default 0 */
  readonly maxReplyTokens?: number;
  /** Time limit for one answer: milliseconds, or text such as `"2m"`. @default "10m" */
  readonly timeout?: number | string;
  /** Maximum number of concurrent tool calls of one reply. @default 8 */
  readonly maxParallelCalls?: number;
  /** Number of retries if a model's provider is busy or unreachable. @default 2 */
  readonly maxRetries?: number;
  /** Maximum size of one tool result for the model: bytes, or text such as `"1MB"`. @default "100KiB" */
  readonly maxResultBytes?: number | string;
  /** Maximum number of messages that the conversation keeps. @default 400 */
  readonly maxHistoryMessages?: number;
  /** True to request a final answer without tools when a limit is reached. @default false */
  readonly finalAnswer?: boolean;
  /**
   * Tools that the model receives: all tools, or the two discovery tools. @default "auto": by the size of the catalogue
   */
  readonly mode?: AgentMode;
  /** With mode `auto`: number of tools above which discovery is used. @default 64 */
  readonly maxListedTools?: number;
  /**
   * With mode `auto`: size of the list of tools above which discovery is used: bytes, or text such as `"64KiB"`.
   * @default "64KiB"
   */
  readonly maxListedBytes?: number | string;
  /**
   * Way in which the model calls tools: tool calling, or decisions in JSON. @default "auto": tool calling, unless the
   * provider reports that the model does not support it
   */
  readonly strategy?: AgentStrategy;
  /** With decisions in JSON: maximum number of consecutive retries after an invalid reply. @default 1 */
  readonly maxJsonRetries?: number;
  /** Rule for images and files in results for the model. @default "auto": sent if the model accepts them */
  readonly attachments?: Attachments;
  /** Instructions for the model. @default a few general sentences */
  readonly instructions?: string;
  /** Language of the agent's own texts. @default "en" */
  readonly locale?: Locale;
  /** Hints for the model on single tools, by tool name. @default {} */
  readonly hints?: Readonly<Record<string, string>>;
  /** Logger for failures of listeners. @default no log */
  readonly logger?: Logger;
}

const OWN_KEYS = ["model", "hub", "models", "variables", "logger"] as const;
const AGENT_KEYS = [
  "instructions",
  "locale",
  "max_iterations",
  "max_tool_calls",
  "max_tokens",
  "max_reply_tokens",
  "timeout",
  "max_parallel_calls",
  "max_retries",
  "max_result_bytes",
  "max_history_messages",
  "final_answer",
  "mode",
  "max_listed_tools",
  "max_listed_bytes",
  "strategy",
  "max_json_retries",
  "attachments",
  "hints",
] as const satisfies readonly (keyof AgentConfig)[];

/**
 * Creates an agent: a model that answers with the tools of a hub. Loads and connects nothing before the first question.
 * `close()` closes what the agent opened. Throws an `OptionError` for an invalid option or a missing key.
 * @example
 * ```ts
 * import { createHub } from "toolyard";
 * import { createAgent } from "toolyard/agent";
 *
 * await using hub = await createHub({ config: "toolyard.toml" });
 * const agent = createAgent({ model: "openai/gpt-5.5", hub });
 * const { text, stopReason } = await agent.chat("What is 2 + 40?");
 * console.log(text, stopReason);
 * ```
 */
export function createAgent(options: CreateAgentOptions): Agent {
  const { hub, model, models, variables = process.env, logger } = options;
  const config = configOf(hub);
  const given = snakeKeys(options, [...OWN_KEYS, ...AGENT_KEYS]);
  for (const key of OWN_KEYS) delete given[key];
  const base = config.agent ?? {};
  const settings = resolveAgent({ ...base, ...given, hints: { ...base.hints, ...options.hints } });
  const source = toAgentHub(hub, logger);
  return new Agent({
    hub: source.open,
    model: modelOf(model, models ?? config.models, variables),
    options: settings,
    close: source.close,
    ...(source.isAlwaysJson ? { isAlwaysJson: true } : {}),
    ...(logger ? { logger } : {}),
  });
}

function configOf(hub: HubChoice): ReturnType<LibraryHub["config"]> {
  return isLibraryHub(hub) ? hub.config() : {};
}

function isLibraryHub(hub: HubChoice): hub is LibraryHub {
  return (
    typeof hub === "object" && "port" in hub && typeof (hub as Partial<LibraryHub> & Toolyard).config === "function"
  );
}

// Returns the loader of a model. Throws immediately if the name is invalid or the key is missing.
function modelOf(
  model: CreateAgentOptions["model"],
  config: ModelsConfig | undefined,
  variables: NonNullable<CreateAgentOptions["variables"]>,
): () => Promise<LoadedLanguageModel> {
  if (typeof model === "object") return () => Promise.resolve(model);
  const options = resolveModels(config, variables);
  const name = model ?? options.language;
  if (name === undefined)
    throw new OptionError(
      'No model is configured. Give `model`, such as "mistral/mistral-large-latest", or set `language` in [models].',
    );
  assertKey(parseModelName(name, options.providers).provider);
  let loading: Promise<LoadedLanguageModel> | undefined;
  return () => (loading ??= loadLanguageModel(name, options));
}
