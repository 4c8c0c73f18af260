import { stringifyExact } from "../../core/json/exact-json.ts";
import { Agent } from "../../agent/agent.ts";
import type { ModelMessage } from "../../agent/messages.ts";
import { resolveAgent } from "../../agent/options.ts";
import {
  toMistralTools,
  toAnthropicTools,
  type AnthropicTool,
  type ListedTool,
  type OpenAITool,
} from "../../agent/tool-formats/formats.ts";
import { FailError, OptionError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import type { ToolDefinition } from "../client/mcp-client.ts";
import { callerHub, type ToolCaller } from "./agent-hub.ts";
import { clientVendor } from "./client-fetch.ts";
import { toLanguageModel, type LLMClient } from "./official-client.ts";

/**
 * Default number of model requests, as in the specified interface. Its texts are in French, so those of this class are
 * too.
 */
const MAX_ITERATIONS = 5;

/**
 * A language model with the tools of one MCP client: the class of the specified library, based on the agent's loop. The
 * conversation continues over calls of `chat`. The program starts and stops the MCP client.
 */
export class LLMWithMCPTools {
  readonly #agent: Agent;
  readonly #mcpClient: ToolCaller;
  readonly #isAnthropic: boolean;

  /**
   * @param llmClient Instance of the official client of OpenAI, Anthropic or Mistral; a custom client with the same
   * method; or a language model of the AI SDK. Its method is called for each request.
   * @param mcpClient A started `MCPClient`, or another object that lists and calls tools.
   * @param model Name of the model. @default "gpt-5.5", "claude-sonnet-5" or "mistral-large-latest", by the client's
   * vendor
   * @throws OptionError for any other client
   */
  constructor(llmClient: LLMClient, mcpClient: ToolCaller, model?: string) {
    this.#mcpClient = mcpClient;
    const hub = callerHub(mcpClient);
    const language = toLanguageModel(llmClient, model);
    this.#isAnthropic = clientVendor(llmClient) === "anthropic";
    this.#agent = new Agent({
      hub: () => Promise.resolve(hub),
      model: language,
      options: resolveAgent({ locale: "fr", instructions: "", mode: "all", max_tool_calls: 10_000, timeout: "1h" }),
      isAlwaysJson: true,
    });
  }

  /**
   * Sends a question and resolves with the final answer, or "Max iterations atteintes" if there is none after
   * `maxIterations` model requests. Rejects with an `OptionError` unless `maxIterations` is a whole number above 0.
   * Tool failures are returned to the model; a failure of the model's provider rejects with a `FailError`.
   */
  async chat(userMessage: string, maxIterations = MAX_ITERATIONS): Promise<string> {
    if (typeof userMessage !== "string")
      throw new OptionError(`\`userMessage\` must be a text, got ${shown(userMessage)}.`);
    if (!Number.isInteger(maxIterations) || maxIterations < 1)
      throw new OptionError(`\`maxIterations\` must be a whole number above 0, got ${shown(maxIterations)}.`);
    const { text, stopReason, error } = await this.#agent.chat(userMessage, { maxIterations });
    if (stopReason === "error")
      throw new FailError(fail("unavailable", text, { retryable: error?.retryable ?? false }));
    return text;
  }

  /** Reads the tools, so that problems of the client appear before the first question. */
  async initialize(): Promise<readonly (OpenAITool | AnthropicTool)[]> {
    return this.convertMcpToolsToLlmFormat(await this.#mcpClient.listTools());
  }

  /** The conversation so far, as messages of the AI SDK. */
  get messages(): readonly ModelMessage[] {
    return this.#agent.history;
  }

  /** Converts MCP tools to the format of the client's vendor. */
  convertMcpToolsToLlmFormat(
    mcpTools: readonly (ToolDefinition | ListedTool)[],
  ): readonly (OpenAITool | AnthropicTool)[] {
    return this.#isAnthropic ? toAnthropicTools(mcpTools) : toMistralTools(mcpTools);
  }
}

function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : (stringifyExact(value) ?? "nothing");
}
