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
 * Options of `createAgent`. Where one is absent, `[agent]` and `[models]` of the hub's configuration hold, then the
 * default.
 */
export interface CreateAgentOptions {
  /**
   * `provider/model`, such as `"mistral/mistral-large-latest"`, or a language model of the AI SDK. @default `[models]
   * language`
   */
  readonly model?: string | LoadedLanguageModel;
  /**
   * A hub in process, the URL of an MCP server, settings of one (`{url, token, …}`, `{command, …}`), or an `MCPClient`
   * or `MCPManager`.
   */
  readonly hub: HubChoice;
  /** Who offers models, in the keys of `[models]`. @default `[models]` of the hub's configuration */
  readonly models?: ModelsConfig;
  /** Where the vendors' variables (`OPENAI_API_KEY`, …) are looked up. @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Most questions to the model for one answer. @default 5 */
  readonly maxIterations?: number;
  /** Most tool calls for one answer. @default 50 */
  readonly maxToolCalls?: number;
  /** Most tokens for one answer, read and written; 0: no bound. @default 0 */
  readonly maxTokens?: number;
  /** Most tokens of one reply; 0: the model's own bound. @default 0 */
  readonly maxReplyTokens?: number;
  /** Longest time for one answer: milliseconds, or text such as `"2m"`. @default "10m" */
  readonly timeout?: number | string;
  /** Tool calls of one reply that run at the same time. @default 8 */
  readonly maxParallelCalls?: number;
  /** How often a question to the model is asked again when its provider is busy or away. @default 2 */
  readonly maxRetries?: number;
  /** Longest text of one tool result that the model gets, in bytes or text such as `"1MB"`. @default "100KiB" */
  readonly maxResultBytes?: number | string;
  /** Messages that the conversation keeps. @default 400 */
  readonly maxHistoryMessages?: number;
  /** At a limit, ask the model once more, without tools. @default false */
  readonly finalAnswer?: boolean;
  /** All tools, or the two of discovery. @default "auto": by the size of the catalogue */
  readonly mode?: AgentMode;
  /** With mode `auto`: more tools than this are given by discovery. @default 64 */
  readonly maxListedTools?: number;
  /** With mode `auto`: a longer list of tools is given by discovery. @default "64KiB" */
  readonly maxListedBytes?: number | string;
  /**
   * Tool calling, or decisions in JSON. @default "auto": tool calling, unless the provider says that the model has none
   */
  readonly strategy?: AgentStrategy;
  /** With decisions in JSON: how often in a row a reply that is none is asked for again. @default 1 */
  readonly maxJsonRetries?: number;
  /** Whether images and files in results go to the model. @default "auto": where it takes them */
  readonly attachments?: Attachments;
  /** What the model is told first. @default a few general sentences */
  readonly instructions?: string;
  /** Language of the agent's own texts. @default "en" */
  readonly locale?: Locale;
  /** Sentences for the model on single tools, by the tool's name. @default {} */
  readonly hints?: Readonly<Record<string, string>>;
  /** Hears of listeners that fail. @default nobody */
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
 * Makes an agent: a model that answers with the tools of a hub. Nothing is loaded or connected before the first
 * question; `close()` ends what the agent itself opened. Throws an `OptionError` for an option that cannot be used, a
 * missing key among them.
 *
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

// What can be said of a model's name and key without a request is said at once.
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
      'No model is named. Give `model`, such as "mistral/mistral-large-latest", or set `language` in [models].',
    );
  assertKey(parseModelName(name, options.providers).provider);
  let loading: Promise<LoadedLanguageModel> | undefined;
  return () => (loading ??= loadLanguageModel(name, options));
}
