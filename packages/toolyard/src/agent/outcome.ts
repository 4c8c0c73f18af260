import type { ModelMessage } from "./messages.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import type { JsonObject } from "../core/json/json.ts";

export type StopReason =
  | "final"
  | "clarify"
  | "max_iterations"
  | "max_tool_calls"
  | "max_tokens"
  | "timeout"
  | "cancelled"
  | "error";

/** Tokens as counted by the provider; 0 if it reports none. */
export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** One tool call of one step. */
export interface AgentCall {
  /** Id of the call, as given by the model. */
  readonly id: string;
  /** Name of the tool in the hub, or as the model wrote it if the hub has no such tool. */
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly ok: boolean;
  /** Error code, if the call failed. */
  readonly kind?: FailKind;
  /** Value that the tool returned; for a failure, its message. */
  readonly value: unknown;
  readonly durationMs: number;
}

/** One request to the model, with the tool calls in its reply. */
export interface AgentStep {
  /** Number of the step, from 1. */
  readonly step: number;
  readonly text: string;
  readonly calls: readonly AgentCall[];
  readonly usage: AgentUsage;
  readonly durationMs: number;
}

/** Result of one `chat`. */
export interface AgentOutcome {
  /** The answer, the question to the user (`clarify`), or a sentence that explains why there is no answer. */
  readonly text: string;
  readonly stopReason: StopReason;
  readonly steps: readonly AgentStep[];
  readonly usage: AgentUsage;
  /** Error of the model's provider, if the stop reason is `error`. */
  readonly error?: { readonly message: string; readonly status?: number; readonly retryable: boolean };
}

/** Events during an answer, in order. */
export type AgentEvent =
  | { readonly type: "step"; readonly step: number }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly tool: string; readonly arguments: JsonObject }
  | {
      readonly type: "result";
      readonly id: string;
      readonly tool: string;
      readonly ok: boolean;
      readonly kind?: FailKind;
      readonly value: unknown;
      readonly durationMs: number;
    }
  | { readonly type: "outcome"; readonly outcome: AgentOutcome };

/** A conversation as plain data, for storage in a file or a database. */
export interface AgentState {
  readonly version: 1;
  readonly messages: readonly ModelMessage[];
}

export const NO_USAGE: AgentUsage = Object.freeze({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });

export function addUsage(one: AgentUsage, other: AgentUsage): AgentUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
  };
}
