import type { Principal } from "../calls/call.ts";
import type { JsonObject } from "../json/json.ts";

/** One message of a person, with all that is needed to answer it. */
export interface ChatTurn {
  readonly message: string;
  /** What was said before, as the `history` of the reply before it. @default none: a new conversation */
  readonly history?: readonly JsonObject[];
  /** Model calls that the answer may take. @default as configured */
  readonly maxIterations?: number;
  /** Tools are called in this caller's name, with its rights. */
  readonly principal: Principal;
  /** Aborted when the caller goes: the model and the tools end. */
  readonly signal: AbortSignal;
  /**
   * What happens on the way, each with its `type`: pieces of text, steps, tool calls and their results. Never throws.
   */
  onEvent?(event: ChatEvent): void;
}

export interface ChatEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface ChatReply {
  readonly text: string;
  /** `final`, `clarify`, `max_iterations`, `max_tool_calls`, `max_tokens`, `timeout`, `cancelled` or `error`. */
  readonly stopReason: string;
  readonly steps: readonly unknown[];
  readonly usage: unknown;
  /** With `error`: what the model's provider said. */
  readonly error?: unknown;
  /** The conversation so far, to be sent along with the next message. */
  readonly history: readonly JsonObject[];
}

/** A language model that answers with the hub's tools. Nothing is kept between two turns. */
export interface Chat {
  /**
   * Rejects with a `FailError` when no answer could be begun: no model is configured, its key is missing, the history
   * is none.
   */
  reply(turn: ChatTurn): Promise<ChatReply>;
}
