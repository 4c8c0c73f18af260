import type { Agent } from "../../agent/agent.ts";
import { resolveAgent, type AgentConfig } from "../../agent/options.ts";
import type { AgentEvent, AgentState } from "../../agent/outcome.ts";
import type { Chat, ChatReply, ChatTurn } from "../../core/ports/chat.ts";
import { FailError, OptionError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { assertKey, parseModelName } from "../../models/model-name.ts";
import { resolveModels, type ModelsConfig, type ModelsOptions } from "../../models/options.ts";
import type { MadeHub } from "../../core/services.ts";
import { toolyardOf, type Toolyard } from "../../kernel/toolyard.ts";
import type { EnvironmentVariables } from "../../core/environment-variables.ts";

/** Sections of the configuration that the agent reads. */
export interface ChatReads {
  readonly agent?: AgentConfig;
  readonly models?: ModelsConfig;
}

export interface ChatParts {
  readonly getHub: () => MadeHub;
  /** Returns the current configuration. */
  readonly config: () => ChatReads;
  readonly logger: Logger;
}

/** Maximum number of concurrent answers, for all callers together: each may take minutes and costs model tokens. */
const MAX_TURNS = 32;
const RETRY_MS = 1000;

/**
 * Agent behind the endpoints. Each message gets a separate agent with the current `[agent]` and `[models]`, which calls
 * tools with the rights of the message's caller. No model is loaded before the first message.
 */
export class LiveChat implements Chat {
  readonly #parts: ChatParts;
  readonly #variables: EnvironmentVariables;
  #turns = 0;

  /** `variables` contain the vendors' API keys. */
  constructor(parts: ChatParts, variables: EnvironmentVariables) {
    this.#parts = parts;
    this.#variables = variables;
  }

  async reply(turn: ChatTurn): Promise<ChatReply> {
    if (this.#turns >= MAX_TURNS)
      throw new FailError(
        fail("limited", `${MAX_TURNS} answers are in progress, which is the limit. Try again in a moment.`, {
          retryAfterMs: RETRY_MS,
        }),
      );
    this.#turns += 1;
    try {
      return await this.#reply(turn);
    } catch (error) {
      throw error instanceof OptionError
        ? new FailError(fail("unavailable", error.message, { retryable: false, cause: error }))
        : error;
    } finally {
      this.#turns -= 1;
    }
  }

  async #reply({
    message,
    history = [],
    maxIterations,
    principal,
    signal,
    onEvent,
    meta,
  }: ChatTurn): Promise<ChatReply> {
    const { agent: settings, models } = this.#parts.config();
    const { name, options } = modelOf(resolveModels(models, this.#variables));
    const [{ Agent: Class }, { loadLanguageModel }] = await Promise.all([
      import("../../agent/agent.ts"),
      import("../../models/language-model.ts"),
    ]);
    const toolyard = this.#guest(principal);
    const agent = new Class({
      hub: () => Promise.resolve(toolyard),
      model: () => loadLanguageModel(name, options),
      options: resolveAgent(settings),
      logger: this.#parts.logger,
    });
    // The event `outcome` is omitted, because it would repeat the reply that this function returns.
    const heard = onEvent && ((event: AgentEvent): void => (event.type === "outcome" ? undefined : onEvent(event)));
    try {
      await restore(agent, history);
      const outcome = await agent.chat(message, {
        signal,
        ...(maxIterations === undefined ? {} : { maxIterations }),
        ...(heard ? { onEvent: heard } : {}),
        ...(meta && { meta }),
      });
      return { ...outcome, history: agent.save().messages as unknown as readonly JsonObject[] };
    } finally {
      // Closing releases the connections that sources keep for this caller.
      await toolyard.close();
    }
  }

  /** Returns a hub whose calls have the rights of one caller. Closing it ends only that caller's connections. */
  #guest(principal: ChatTurn["principal"]): Toolyard {
    const { port, tools } = this.#parts.getHub();
    return toolyardOf({ port, tools, close: () => Promise.resolve() }, { endpoint: "rest", principal });
  }
}

async function restore(agent: Agent, history: readonly JsonObject[]): Promise<void> {
  if (history.length === 0) return;
  try {
    await agent.restore({ version: 1, messages: history } as unknown as AgentState);
  } catch (error) {
    if (error instanceof OptionError)
      throw new FailError(
        fail("invalid_params", "`history` must be the `history` of the previous reply.", { cause: error }),
      );
    throw error;
  }
}

function modelOf(options: ModelsOptions): { readonly name: string; readonly options: ModelsOptions } {
  const { language: name } = options;
  if (name === undefined)
    throw new OptionError(
      "No agent is available: no language model is configured. Set `language` in [models] of this hub.",
    );
  assertKey(parseModelName(name, options.providers).provider);
  return { name, options };
}
