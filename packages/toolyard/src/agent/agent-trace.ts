import type { JsonObject } from "../core/json/json.ts";
import type { Span, Tracing } from "../core/ports/tracing.ts";
import type { LoadedLanguageModel } from "../models/given-model.ts";
import type { AgentOutcome } from "./outcome.ts";
import type { ModelReply } from "./reply.ts";

/** Names of vendors in the conventions for GenAI, if they differ from those of the AI SDK. */
const VENDORS: Readonly<Record<string, string>> = { mistral: "mistral_ai", google: "gcp.gemini", xai: "x_ai" };

export interface AgentTraceParts {
  readonly tracing: Tracing;
  readonly model: LoadedLanguageModel;
  /** `_meta` of the question, with the caller's trace context. */
  readonly meta: JsonObject;
}

/** Spans of one answer of the agent: the answer, its steps, and the requests to the model. */
export class AgentTrace {
  readonly #parts: AgentTraceParts;
  readonly #answer: Span;
  #step: Span | undefined;

  private constructor(parts: AgentTraceParts, answer: Span) {
    this.#parts = parts;
    this.#answer = answer;
  }

  /** Starts the span of an answer. Returns `undefined` if the trace is not sampled. */
  static start(parts: AgentTraceParts): AgentTrace | undefined {
    const answer = parts.tracing.start("invoke_agent", "internal", parts.meta);
    if (!answer) return undefined;
    answer.set("operation", "invoke_agent");
    setModel(answer, parts.model);
    return new AgentTrace(parts, answer);
  }

  /** `_meta` for tool calls, with the trace context of the current step. */
  get meta(): JsonObject {
    return (this.#step ?? this.#answer).meta;
  }

  startStep(step: number): void {
    this.#step = this.#parts.tracing.start(`agent step ${step}`, "internal", this.#answer.meta);
    this.#step?.set("agentStep", step);
  }

  endStep(error?: string): void {
    this.#step?.end(error);
    this.#step = undefined;
  }

  /** Runs a request to the model in its own span. */
  async ask(request: () => Promise<ModelReply>): Promise<ModelReply> {
    const { tracing, model } = this.#parts;
    const span = tracing.start(`chat ${model.modelId}`, "client", this.meta);
    span?.set("operation", "chat");
    if (span) setModel(span, model);
    try {
      const reply = await request();
      const { usage, finish } = reply;
      span?.set("inputTokens", usage.inputTokens);
      span?.set("outputTokens", usage.outputTokens);
      if (finish !== undefined) span?.set("finishReason", finish);
      span?.end();
      return reply;
    } catch (error) {
      span?.end("model_error");
      throw error;
    }
  }

  end({ stopReason, usage }: AgentOutcome): void {
    this.endStep(stopReason);
    this.#answer.set("stopReason", stopReason);
    this.#answer.set("inputTokens", usage.inputTokens);
    this.#answer.set("outputTokens", usage.outputTokens);
    const isFailed = stopReason === "error" || stopReason === "timeout" || stopReason === "cancelled";
    this.#answer.end(isFailed ? stopReason : undefined);
  }
}

function setModel(span: Span, { provider, modelId }: LoadedLanguageModel): void {
  const vendor = provider.split(".", 1)[0]!;
  span.set("provider", VENDORS[vendor] ?? vendor);
  span.set("model", modelId);
}
