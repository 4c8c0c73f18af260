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

/** The seed document speaks French, and so does its agent; its interface has this default. */
const MAX_ITERATIONS = 5;

/**
 * A language model with the tools of one MCP client: the class of the library document, on the agent's loop. The
 * conversation goes on over calls of `chat`. Starting and stopping the MCP client is the program's business.
 */
export class LLMWithMCPTools {
  readonly #agent: Agent;
  readonly #mcpClient: ToolCaller;
  readonly #isAnthropic: boolean;

  /**
   * @param llmClient an instance of the official client of OpenAI, Anthropic or Mistral, which is the one that is
   * called; one of your own with the same method; or a language model of the AI SDK
   * @param mcpClient a started `MCPClient`, or whatever lists and calls tools
   * @param model the model's name @default "gpt-5.5", "claude-sonnet-5" or "mistral-large-latest", by the client's
   * vendor
   * @throws OptionError for a client that is none of these
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
   * Puts a question and gives the final answer, or "Max iterations atteintes" when there is none after `maxIterations`
   * questions to the model. Rejects with an `OptionError` when that is no whole number above 0. Failures of tools go to
   * the model; a failure of the model's provider rejects with a `FailError`.
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

  /** Reads the tools, so that a client that cannot be used is known before the first question. */
  async initialize(): Promise<readonly (OpenAITool | AnthropicTool)[]> {
    return this.convertMcpToolsToLlmFormat(await this.#mcpClient.listTools());
  }

  /** The conversation so far, in the AI SDK's messages. */
  get messages(): readonly ModelMessage[] {
    return this.#agent.history;
  }

  /** MCP's tools in the shape of the client's vendor. */
  convertMcpToolsToLlmFormat(
    mcpTools: readonly (ToolDefinition | ListedTool)[],
  ): readonly (OpenAITool | AnthropicTool)[] {
    return this.#isAnthropic ? toAnthropicTools(mcpTools) : toMistralTools(mcpTools);
  }
}

function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : (stringifyExact(value) ?? "nothing");
}
