import type { Principal } from "../calls/call.ts";
import type { JsonObject } from "../json/json.ts";

/** One message of a user, with everything that is needed to answer it. */
export interface ChatTurn {
  readonly message: string;
  /** The earlier conversation: `history` of the previous reply. @default none: a new conversation */
  readonly history?: readonly JsonObject[];
  /** Most model calls for the answer. @default as configured */
  readonly maxIterations?: number;
  /** Tools are called on behalf of this caller, with its rights. */
  readonly principal: Principal;
  /** Aborted when the caller disconnects: the model and the tools end. */
  readonly signal: AbortSignal;
  /** Receives events, each with its `type`: pieces of text, steps, tool calls and their results. Must not throw. */
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
  /** With `error`: the message of the model's provider. */
  readonly error?: unknown;
  /** The conversation so far, to be sent with the next message. */
  readonly history: readonly JsonObject[];
}

/** A language model that answers with the hub's tools. It keeps no state between two turns. */
export interface Chat {
  /**
   * Rejects with a `FailError` if no answer could be started: no model is configured, its key is missing, the history
   * is invalid.
   */
  reply(turn: ChatTurn): Promise<ChatReply>;
}
