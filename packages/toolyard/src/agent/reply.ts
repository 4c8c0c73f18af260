import type { AssistantModelMessage, ModelMessage } from "./messages.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { AgentEvent, AgentUsage } from "./outcome.ts";
import type { ModelTool } from "./toolset.ts";
import type { ModelOutput } from "./tool-output.ts";

/** A tool call that a model wrote. */
export interface WantedCall {
  readonly id: string;
  /** Name of the tool, as the model wrote it. */
  readonly name: string;
  /** Arguments. Absent: they were not a JSON object. */
  readonly arguments?: JsonObject;
  /** Text of malformed arguments. */
  readonly received?: string;
}

/** Result of one request to the model. */
export interface ModelReply {
  readonly text: string;
  readonly calls: readonly WantedCall[];
  readonly usage: AgentUsage;
  /** True if the model stopped at its token limit. */
  readonly isCut: boolean;
  /** Reason why the model stopped, in the AI SDK's terms. */
  readonly finish?: string;
  /** Messages that are added to the history unchanged, so that signatures and similar data are preserved. */
  readonly messages: readonly AssistantModelMessage[];
  /** True if the reply is a question to the user instead of an answer. */
  readonly isQuestion?: boolean;
  /** Instruction for the model if the reply is invalid. */
  readonly repair?: string;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** False if the model must answer without tools. */
  readonly mayCall: boolean;
  readonly signal: AbortSignal;
  /** Listener for events. Present: the reply is streamed. */
  readonly emit?: (event: AgentEvent) => void;
}

/** A call, with its result for the model. */
export interface CallAnswer {
  readonly call: WantedCall;
  readonly ok: boolean;
  readonly result: ModelOutput;
}

/**
 * Sends requests to a model in one way of using tools: with the provider's tool calling, or with decisions in JSON.
 */
export interface Strategy {
  /** Sends one request. Throws the errors of the provider's client. */
  ask(question: ModelRequest): Promise<ModelReply>;
  /** Converts the results of one reply's calls to messages, in order. */
  toMessages(answered: readonly CallAnswer[]): readonly ModelMessage[];
}
