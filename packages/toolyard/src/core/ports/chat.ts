import type { Principal } from "../calls/call.ts";
import type { JsonObject } from "../json/json.ts";

/** One message of a user, with all data that is needed to answer it. */
export interface ChatTurn {
  readonly message: string;
  /** Previous conversation: `history` of the last reply. @default none: a new conversation */
  readonly history?: readonly JsonObject[];
  /** Maximum number of model calls for the answer. @default the configured limit */
  readonly maxIterations?: number;
  /** Caller. The tools are called with its rights. */
  readonly principal: Principal;
  /** Aborted when the caller disconnects. The calls of the model and of tools are then cancelled. */
  readonly signal: AbortSignal;
  /** `_meta` with the trace context of the request. @default none */
  readonly meta?: JsonObject | undefined;
  /**
   * Receives the events of the answer, each with a `type`: pieces of text, steps, tool calls and their results. Must
   * not throw.
   */
  onEvent?(event: ChatEvent): void;
}

export interface ChatEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface ChatReply {
  readonly text: string;
  /**
   * Reason for the end: `final`, `clarify`, `max_iterations`, `max_tool_calls`, `max_tokens`, `timeout`, `cancelled` or
   * `error`.
   */
  readonly stopReason: string;
  readonly steps: readonly unknown[];
  readonly usage: unknown;
  /** With `stopReason` `error`: the message of the model's provider. */
  readonly error?: unknown;
  /** Conversation so far, to be sent with the next message. */
  readonly history: readonly JsonObject[];
}

/** Agent that answers messages with the hub's tools. It keeps no state between two turns. */
export interface Chat {
  /**
   * Answers a message. Rejects with a `FailError` if the answer cannot be started: no model is configured, its API key
   * is missing, or the history is invalid.
   */
  reply(turn: ChatTurn): Promise<ChatReply>;
}
