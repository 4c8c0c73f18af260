// The part of the contract of `/api/admin` about the chat and code. The page imports this file, so it imports only
// types of the contract.
import type { JsonValues } from "./api-types.ts";

/**
 * Body of `POST chat`. With `Accept: text/event-stream`: events `step`, `text`, `reasoning`, `call`, `result`, then
 * `reply` or `error`.
 */
export interface ChatMessage {
  readonly message: string;
  /** `history` of the last reply. @default a new conversation */
  readonly history?: readonly JsonValues[];
  /** Maximum number of steps. @default `max_iterations` of the agent */
  readonly maxIterations?: number;
}

/** Answer of `POST chat`. */
export interface AgentAnswer {
  readonly text: string;
  readonly stopReason: string;
  /** Questions to the model, each with its calls of tools. */
  readonly steps: readonly JsonValues[];
  readonly usage: { readonly inputTokens?: number; readonly outputTokens?: number; readonly totalTokens?: number };
  /** Error of the model's provider. */
  readonly error?: { readonly message: string; readonly status?: number; readonly retryable: boolean };
  readonly history: readonly JsonValues[];
}

/** Event `call`: the model calls a tool. */
export interface ChatCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: JsonValues;
}

/** Event `result`: the tool has answered. */
export interface ChatCallResult {
  readonly id: string;
  readonly tool: string;
  readonly ok: boolean;
  readonly kind?: string;
  readonly value: unknown;
  readonly durationMs: number;
}

/** `GET code/tools?language=&prefix=`: `{tools: CodeTool[]}`, tools that code can call, for completion. */
export interface CodeTool {
  readonly name: string;
  /** Expression in the language, such as `tools.weather.forecast`. */
  readonly path: string;
  readonly signature: string;
  readonly description: string;
  readonly parameters: readonly CodeParameter[];
}

export interface CodeParameter {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}
