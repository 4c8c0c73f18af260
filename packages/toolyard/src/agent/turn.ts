import { FailError } from "../core/errors.ts";
import type { AgentHub } from "./agent-hub.ts";
import type { AgentTrace } from "./agent-trace.ts";
import type { ModelMessage, UserModelMessage } from "./messages.ts";
import { describeModelError } from "./model-error.ts";
import type { TurnLimits } from "./options.ts";
import {
  addUsage,
  NO_USAGE,
  type AgentCall,
  type AgentEvent,
  type AgentOutcome,
  type AgentStep,
  type AgentUsage,
  type StopReason,
} from "./outcome.ts";
import type { ModelReply, Strategy } from "./reply.ts";
import { runCalls } from "./run-calls.ts";
import type { AgentTexts } from "./texts.ts";
import type { OutputRules } from "./tool-output.ts";
import type { Toolset } from "./toolset.ts";
import { orAborted } from "../core/timing/wait.ts";

export interface TurnParts {
  readonly strategy: Strategy;
  readonly hub: AgentHub;
  readonly toolset: Toolset;
  readonly system: string;
  readonly texts: AgentTexts;
  readonly limits: Omit<TurnLimits, "timeoutMs">;
  readonly finalAnswer: boolean;
  readonly maxParallelCalls: number;
  readonly output: OutputRules;
  /** Signal that aborts with a `FailError` of kind `timeout` or `cancelled`. */
  readonly signal: AbortSignal;
  /** Returns the remaining time for the answer, in milliseconds. */
  readonly remainingMs: () => number;
  readonly emit: (event: AgentEvent) => void;
  /** True if a listener receives events. Replies are then streamed. */
  readonly isHeard: boolean;
  /** Absent: the answer is not recorded. */
  readonly trace: AgentTrace | undefined;
}

export interface TurnDone {
  readonly outcome: AgentOutcome;
  /** Messages that the turn adds to the conversation, from the question to the answer. Empty if there is no answer. */
  readonly messages: readonly ModelMessage[];
}

/**
 * Sends requests to the model and makes its calls until there is an answer or a limit is reached. Each step is one
 * request.
 */
export class Turn {
  readonly #parts: TurnParts;
  readonly #before: readonly ModelMessage[];
  readonly #messages: ModelMessage[];
  readonly #steps: AgentStep[] = [];
  #usage: AgentUsage = NO_USAGE;
  #calls = 0;

  constructor(parts: TurnParts, before: readonly ModelMessage[], question: UserModelMessage) {
    this.#parts = parts;
    this.#before = before;
    this.#messages = [question];
  }

  async run(): Promise<TurnDone> {
    const done = await this.#run();
    this.#parts.trace?.end(done.outcome);
    return done;
  }

  async #run(): Promise<TurnDone> {
    const { maxIterations } = this.#parts.limits;
    try {
      while (this.#steps.length < maxIterations) {
        const stop = await this.#step();
        if (stop) return await this.#stop(stop);
      }
      return await this.#stop({ reason: "max_iterations" });
    } catch (error) {
      return this.#fail(error);
    }
  }

  async #step(): Promise<Stop | undefined> {
    const { emit, signal, strategy, trace } = this.#parts;
    const startedAt = performance.now();
    trace?.startStep(this.#steps.length + 1);
    emit({ type: "step", step: this.#steps.length + 1 });
    const reply = await this.#ask(true);
    const calls = reply.calls.length === 0 ? [] : await this.#call(reply, strategy);
    this.#steps.push({
      step: this.#steps.length + 1,
      text: reply.text,
      calls,
      usage: reply.usage,
      durationMs: performance.now() - startedAt,
    });
    signal.throwIfAborted();
    trace?.endStep();
    if (reply.repair !== undefined) this.#messages.push({ role: "user", content: reply.repair });
    return this.#verdict(reply);
  }

  #verdict(reply: ModelReply): Stop | undefined {
    const { maxToolCalls, maxTokens } = this.#parts.limits;
    if (reply.isQuestion) return { reason: "clarify", text: reply.text };
    if (reply.calls.length === 0 && reply.repair === undefined) return endOf(reply);
    if (this.#calls > maxToolCalls) return { reason: "max_tool_calls" };
    return this.#usage.totalTokens >= maxTokens ? { reason: "max_tokens" } : undefined;
  }

  async #ask(mayCall: boolean): Promise<ModelReply> {
    const { strategy, system, toolset, texts, signal, emit, isHeard, trace } = this.#parts;
    signal.throwIfAborted();
    const request = (): Promise<ModelReply> =>
      orAborted(
        strategy.ask({
          system: mayCall ? system : `${system}\n\n${texts.answerNow}`,
          messages: [...this.#before, ...this.#messages],
          tools: toolset.tools,
          mayCall,
          signal,
          ...(isHeard ? { emit } : {}),
        }),
        signal,
      );
    const reply = await (trace ? trace.ask(request) : request());
    this.#usage = addUsage(this.#usage, reply.usage);
    if (mayCall) this.#messages.push(...reply.messages);
    return reply;
  }

  async #call(reply: ModelReply, strategy: Strategy): Promise<readonly AgentCall[]> {
    const { limits, maxParallelCalls: maxParallel, ...rest } = this.#parts;
    const maxCalls = Math.max(0, limits.maxToolCalls - this.#calls);
    const { answered, calls } = await runCalls(reply.calls, { ...rest, maxParallel, maxCalls, meta: rest.trace?.meta });
    this.#calls += calls.length;
    this.#messages.push(...strategy.toMessages(answered));
    return calls;
  }

  async #stop({ reason, text, error }: Stop): Promise<TurnDone> {
    if (text !== undefined || error !== undefined)
      return this.#end(reason, text ?? this.#parts.texts.error(error?.message ?? ""), error);
    const isLimit = reason === "max_iterations" || reason === "max_tool_calls" || reason === "max_tokens";
    const answer = isLimit && this.#parts.finalAnswer ? await this.#lastAnswer() : "";
    return this.#end(reason, answer === "" ? textOf(reason, this.#parts.texts) : answer);
  }

  // The stop reason is the reached limit, even if this last request fails.
  async #lastAnswer(): Promise<string> {
    try {
      return (await this.#ask(false)).text;
    } catch (error) {
      if (this.#parts.signal.aborted) throw error;
      return "";
    }
  }

  #fail(thrown: unknown): TurnDone {
    const { signal, texts } = this.#parts;
    const reason: unknown = signal.aborted ? signal.reason : undefined;
    if (signal.aborted) {
      const isTimeout = reason instanceof FailError && reason.failure.kind === "timeout";
      return this.#end(isTimeout ? "timeout" : "cancelled", isTimeout ? texts.timeout : texts.cancelled);
    }
    const error = describeModelError(thrown);
    return this.#end("error", texts.error(error.message), error);
  }

  #end(stopReason: StopReason, text: string, error?: AgentOutcome["error"]): TurnDone {
    const outcome: AgentOutcome = {
      text,
      stopReason,
      steps: this.#steps,
      usage: this.#usage,
      ...(error ? { error } : {}),
    };
    // If the provider fails before any tool call, the question is not added to the history, so that the caller can
    // repeat it.
    if (stopReason === "error" && this.#steps.every(({ calls }) => calls.length === 0))
      return { outcome, messages: [] };
    const messages = this.#messages.filter((message) => !isBlank(message));
    const isAnswered = messages.at(-1)?.role === "assistant";
    // Some vendors refuse a question directly after a tool's result, so every turn ends with a text of the assistant.
    return { outcome, messages: isAnswered ? messages : [...messages, { role: "assistant", content: text }] };
  }
}

interface Stop {
  readonly reason: StopReason;
  /** Text of the outcome. @default the text for the stop reason */
  readonly text?: string;
  readonly error?: NonNullable<AgentOutcome["error"]>;
}

function endOf({ text, isCut, finish = "stop" }: ModelReply): Stop {
  if (isCut) return { reason: "max_tokens", ...(text === "" ? {} : { text }) };
  if (text.trim() !== "") return { reason: "final", text };
  const message = finish === "content-filter" ? "it declined to answer" : `its reply is empty (${finish})`;
  return { reason: "error", error: { message, retryable: finish !== "content-filter" } };
}

// Some vendors refuse an empty assistant message in the history.
function isBlank({ role, content }: ModelMessage): boolean {
  if (role !== "assistant") return false;
  return typeof content === "string"
    ? content.trim() === ""
    : content.every((part) => part.type === "text" && part.text.trim() === "");
}

function textOf(reason: StopReason, texts: AgentTexts): string {
  if (reason === "max_iterations") return texts.maxIterations;
  return reason === "max_tool_calls" ? texts.maxToolCalls : texts.maxTokens;
}
