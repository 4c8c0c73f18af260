import { OptionError } from "../../core/errors.ts";
import type { LoadedLanguageModel } from "../../models/given-model.ts";
import { loadLanguageModel } from "../../models/language-model.ts";
import { assertKey, parseModelName } from "../../models/model-name.ts";
import { resolveModels } from "../../models/options.ts";
import type { AnthropicTool, OpenAITool } from "../../agent/tool-formats/formats.ts";
import type { ModelMessage } from "../../agent/messages.ts";
import type { ToolCaller } from "./agent-hub.ts";
import { LLMWithMCPTools } from "./llm-with-mcp-tools.ts";
import type { LLMClient } from "./official-client.ts";

/** Maximum number of model requests, as in the example of the specified interface. */
const MAX_ITERATIONS = 10;
const MODEL = "mistral-large-latest";

export interface LLMAgentOptions {
  /** Model client of the program, as for `LLMWithMCPTools`. @default Mistral, with the key in `MISTRAL_API_KEY` */
  readonly llmClient?: LLMClient;
  /**
   * Name of the model. @default "mistral-large-latest"; with `llmClient`, the default model of its vendor in
   * `LLMWithMCPTools`
   */
  readonly model?: string;
}

/**
 * The agent class of the specified library. `initialize()` reads the tools of a started MCP client; `chat(question)`
 * answers with these tools, with at most ten model requests.
 */
export class LLMAgent {
  readonly #loop: LLMWithMCPTools;
  #tools: readonly (OpenAITool | AnthropicTool)[] | undefined;

  /** @throws OptionError for a missing key or an unsupported client */
  constructor(mcpClient: ToolCaller, options: LLMAgentOptions = {}) {
    const { llmClient, model } = options;
    this.#loop =
      llmClient === undefined
        ? new LLMWithMCPTools(mistral(model ?? MODEL), mcpClient)
        : new LLMWithMCPTools(llmClient, mcpClient, model);
  }

  /** Tools in the format of the model's vendor; `undefined` before `initialize()`. */
  get tools(): readonly (OpenAITool | AnthropicTool)[] | undefined {
    return this.#tools;
  }

  /** The conversation so far. */
  get messages(): readonly ModelMessage[] {
    return this.#loop.messages;
  }

  /** Reads the tools from the MCP client. */
  async initialize(): Promise<void> {
    this.#tools = await this.#loop.initialize();
  }

  /** Answers a question, like `LLMWithMCPTools.chat`. */
  async chat(userMessage: string, maxIterations = MAX_ITERATIONS): Promise<string> {
    return this.#loop.chat(userMessage, maxIterations);
  }
}

/** Returns a loader of a Mistral model that loads at the first question. Throws immediately if the key is missing. */
function mistral(model: string): LoadedLanguageModel {
  const options = resolveModels(undefined, process.env);
  const name = `mistral/${model}`;
  try {
    assertKey(parseModelName(name, options.providers).provider);
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new OptionError(`${error.message} Or pass your own client: new LLMAgent(mcpClient, { llmClient }).`, {
      cause: error,
    });
  }
  let loading: Promise<LoadedLanguageModel> | undefined;
  const load = (): Promise<LoadedLanguageModel> => (loading ??= loadLanguageModel(name, options));
  const lazy = {
    specificationVersion: "v3" as const,
    provider: "mistral.chat",
    modelId: model,
    supportedUrls: {},
    doGenerate: async (asked: never) => (await load()).doGenerate(asked),
    doStream: async (asked: never) => (await load()).doStream(asked),
  };
  return lazy;
}
