import { Deadline } from "../core/calls/deadline.ts";
import { messageOf, OptionError } from "../core/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Logger } from "../core/ports/ports.ts";
import { tracingOf, type Tracing } from "../core/ports/tracing.ts";
import type { LoadedLanguageModel } from "../models/given-model.ts";
import type { AgentHub } from "./agent-hub.ts";
import { AgentTrace } from "./agent-trace.ts";
import { createAutoStrategy } from "./auto-strategy.ts";
import { AgentEventStream, type AgentStream } from "./event-stream.ts";
import { History } from "./history.ts";
import { createJsonStrategy } from "./json-strategy.ts";
import type { ModelMessage, UserContent } from "./messages.ts";
import { createNativeStrategy } from "./native-strategy.ts";
import type { AgentOptions, TurnLimits } from "./options.ts";
import type { AgentEvent, AgentOutcome, AgentState } from "./outcome.ts";
import { systemPrompt } from "./prompt.ts";
import type { Strategy } from "./reply.ts";
import { TEXTS } from "./texts.ts";
import type { OutputRules } from "./tool-output.ts";
import { loadToolset, type Toolset } from "./toolset.ts";
import { Turn, type TurnDone } from "./turn.ts";
import { answerAll } from "./unanswered.ts";
import { mediaInMessages, mediaInResults } from "./vendor.ts";
import { PACKAGES } from "../models/packages.ts";

export interface AgentParts {
  /** Opens the hub at the first question. */
  readonly hub: () => Promise<AgentHub>;
  /** Loads the model at the first question. */
  readonly model: () => Promise<LoadedLanguageModel>;
  readonly options: AgentOptions;
  /**
   * True if a plain text result is sent to the model as a JSON string, as the agents of the compatible interfaces do.
   * @default false
   */
  readonly isAlwaysJson?: boolean;
  readonly logger?: Logger;
  /** @default the traces of the hub, if it is in this process and records them */
  readonly tracing?: Tracing | undefined;
  /** Closes resources that were opened only for the agent. */
  readonly close?: () => Promise<void>;
}

/** Options of one question. The limits apply only to it. */
export interface ChatOptions extends Partial<TurnLimits> {
  /** Signal that ends the answer: the model and the running tools stop, and the outcome is `cancelled`. */
  readonly signal?: AbortSignal;
  /** Called with each event; text arrives in pieces. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** `_meta` with the trace context of the question (`traceparent`), for a hub that records traces. */
  readonly meta?: JsonObject;
}

/** A question: text, or the AI SDK's message parts with images and files. */
export type Question = UserContent;

/**
 * A model that uses tools, and the conversation with it. It answers one question at a time.
 * @example
 * ```ts
 * import { createHub } from "toolyard";
 * import { createAgent } from "toolyard/agent";
 *
 * await using hub = await createHub({ config: "toolyard.toml" });
 * const agent = createAgent({ model: "mistral/mistral-large-latest", hub });
 * for await (const event of agent.stream("What is 2 + 40?")) {
 *   if (event.type === "text") process.stdout.write(event.text);
 * }
 * ```
 */
export class Agent implements AsyncDisposable {
  readonly #parts: AgentParts;
  readonly #history: History;
  #strategy: Promise<Strategy> | undefined;
  #toolset: Toolset | undefined;
  #isBusy = false;

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#history = new History(parts.options.maxHistoryMessages);
  }

  /**
   * Sends a question and resolves with the answer. Failures of models and tools, limits and the caller's signal are
   * outcomes. Rejects with an `OptionError` if the model or the hub cannot be used as configured, or if another
   * question is still running.
   */
  async chat(message: Question, { onEvent, ...options }: ChatOptions = {}): Promise<AgentOutcome> {
    if (this.#isBusy)
      throw new OptionError(
        "The agent is still answering. Wait for the answer, or create another agent for another conversation.",
      );
    this.#isBusy = true;
    try {
      const { outcome, messages } = await this.#turn(message, options, onEvent);
      this.#history.add(messages);
      this.#tell({ type: "outcome", outcome }, onEvent);
      return outcome;
    } finally {
      this.#isBusy = false;
    }
  }

  /**
   * Like `chat`, but returns the events for iteration; the last event is the outcome. Leaving the loop early cancels
   * the answer.
   */
  stream(message: Question, { signal, onEvent, ...limits }: ChatOptions = {}): AgentStream {
    return new AgentEventStream((emit, left) => {
      const heard = (event: AgentEvent): void => {
        onEvent?.(event);
        emit(event);
      };
      return this.chat(message, { ...limits, signal: signal ? AbortSignal.any([signal, left]) : left, onEvent: heard });
    });
  }

  /** The conversation so far, as messages of the AI SDK. */
  get history(): readonly ModelMessage[] {
    return this.#history.messages;
  }

  /** Returns the conversation as plain data that can be stored as JSON. */
  save(): AgentState {
    return { version: 1, messages: structuredClone(this.#history.messages) as ModelMessage[] };
  }

  /**
   * Continues a saved conversation, with this or another model. Each tool call without a result gets a result that
   * reports the call as cancelled. Rejects with an `OptionError` if the state is invalid.
   */
  async restore(state: AgentState): Promise<void> {
    const { modelMessageSchema } = await PACKAGES.sdk("the agent");
    const parsed = state?.version === 1 ? modelMessageSchema.array().safeParse(state.messages) : undefined;
    if (!parsed?.success)
      throw new OptionError(
        "This is not a saved conversation. `restore` requires the result of `save`: `{version: 1, messages: […]}`.",
      );
    this.#history.replace(answerAll(structuredClone(parsed.data), TEXTS[this.#parts.options.locale].callCancelled));
  }

  /** Starts a new conversation. */
  clear(): void {
    this.#history.replace([]);
  }

  /**
   * Closes resources that were opened for this agent, such as the connection to a URL. A hub given by the caller stays
   * open.
   */
  async close(): Promise<void> {
    await this.#parts.close?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #turn(
    message: Question,
    { signal, meta = {}, timeoutMs = this.#parts.options.timeoutMs, ...limits }: Omit<ChatOptions, "onEvent">,
    onEvent: ChatOptions["onEvent"],
  ): Promise<TurnDone> {
    const { options } = this.#parts;
    const texts = TEXTS[options.locale];
    const deadline = new Deadline({ idleMs: timeoutMs, totalMs: timeoutMs }, undefined, signal);
    try {
      const [hub, model] = await Promise.all([this.#parts.hub(), this.#parts.model()]);
      const tracing = this.#parts.tracing ?? tracingOf(hub);
      this.#strategy ??= createStrategy(model, options);
      const [strategy, toolset, facts] = await Promise.all([
        this.#strategy,
        loadToolset(hub, options, this.#toolset),
        hub.facts?.(),
      ]);
      this.#toolset = toolset;
      const turn = new Turn(
        {
          strategy,
          hub,
          toolset,
          texts,
          system: promptOf(options, toolset, facts?.instructions),
          limits: {
            maxIterations: options.maxIterations,
            maxToolCalls: options.maxToolCalls,
            maxTokens: options.maxTokens,
            ...limits,
          },
          finalAnswer: options.finalAnswer,
          maxParallelCalls: options.maxParallelCalls,
          output: this.#outputRules(model),
          signal: deadline.signal,
          remainingMs: () => deadline.remainingMs,
          emit: (event) => this.#tell(event, onEvent),
          isHeard: onEvent !== undefined,
          trace: tracing && AgentTrace.start({ tracing, model, meta }),
        },
        this.#history.messages,
        { role: "user", content: message },
      );
      return await turn.run();
    } finally {
      deadline.clear();
    }
  }

  #outputRules(model: LoadedLanguageModel): OutputRules {
    const { options, isAlwaysJson = false } = this.#parts;
    const { attachments, maxResultBytes: maxBytes, locale } = options;
    const nothing = /(?!)/;
    return {
      maxBytes,
      isAlwaysJson,
      texts: TEXTS[locale],
      inResult: attachments === "never" ? nothing : mediaInResults(model),
      inMessage: attachments === "never" ? nothing : mediaInMessages(model, attachments === "always"),
    };
  }

  // An exception of a listener must not leave a tool call without a result.
  #tell(event: AgentEvent, onEvent: ChatOptions["onEvent"]): void {
    try {
      onEvent?.(event);
    } catch (error) {
      this.#parts.logger?.warning("A listener of the agent's events failed.", {
        event: event.type,
        error: messageOf(error),
      });
    }
  }
}

function promptOf(
  { instructions, locale }: AgentOptions,
  toolset: Toolset,
  serverInstructions: string | undefined,
): string {
  return systemPrompt({
    ...(instructions === undefined ? {} : { instructions }),
    ...(serverInstructions === undefined ? {} : { serverInstructions }),
    toolset,
    texts: TEXTS[locale],
  });
}

async function createStrategy(model: LoadedLanguageModel, options: AgentOptions): Promise<Strategy> {
  const sdk = await PACKAGES.sdk("the agent");
  quietWarnings();
  const { maxRetries, maxReplyTokens, locale } = options;
  const settings = {
    model,
    maxRetries,
    texts: TEXTS[locale],
    ...(maxReplyTokens === undefined ? {} : { maxReplyTokens }),
  };
  const native = createNativeStrategy(sdk, settings);
  if (options.strategy === "native") return native;
  const json = createJsonStrategy(sdk, settings, options.maxJsonRetries);
  return options.strategy === "json" ? json : createAutoStrategy(native, json);
}

/**
 * Disables the AI SDK's warnings on the console, because stdout may carry a protocol. If the program set the switch, it
 * stays unchanged.
 */
function quietWarnings(): void {
  globalThis.AI_SDK_LOG_WARNINGS ??= false;
}
