import type { AssistantModelMessage, ModelMessage } from "./messages.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { AgentEvent, AgentUsage } from "./outcome.ts";
import type { ModelTool } from "./toolset.ts";
import type { ModelOutput } from "./tool-output.ts";

/** A tool call that a model wrote. */
export interface WantedCall {
  readonly id: string;
  /** As the model spelt it. */
  readonly name: string;
  /** Absent: the arguments were not a JSON object. */
  readonly arguments?: JsonObject;
  /** With malformed arguments: their text. */
  readonly received?: string;
}

/** Result of one request to the model. */
export interface ModelReply {
  readonly text: string;
  readonly calls: readonly WantedCall[];
  readonly usage: AgentUsage;
  /** The model stopped because it may write no more. */
  readonly isCut: boolean;
  /** Why the model stopped, in the AI SDK's words. */
  readonly finish?: string;
  /** Goes into the history as it is, so that signatures and the like survive. */
  readonly messages: readonly AssistantModelMessage[];
  /** A question back to the user in place of an answer. */
  readonly isQuestion?: boolean;
  /** Not a reply at all; what to tell the model so that it gives one. */
  readonly repair?: string;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** False: the model must answer without tools. */
  readonly mayCall: boolean;
  readonly signal: AbortSignal;
  /** Present: a listener receives events, so the reply is streamed. */
  readonly emit?: (event: AgentEvent) => void;
}

/** A call's result on its way to the model. */
export interface CallAnswer {
  readonly call: WantedCall;
  readonly ok: boolean;
  readonly result: ModelOutput;
}

/** One way to make a model use tools. */
export interface Strategy {
  /** Asks once. Throws what the provider's client throws. */
  ask(question: ModelRequest): Promise<ModelReply>;
  /** The results of one reply's calls, in its order, as messages. */
  toMessages(answered: readonly CallAnswer[]): readonly ModelMessage[];
}
