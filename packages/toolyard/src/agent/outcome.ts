import type { ModelMessage } from "./messages.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import type { JsonObject } from "../core/json/json.ts";

/** Why an answer ended. */
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
  /** The model's own id of the call. */
  readonly id: string;
  /** Name as the hub shows it, or as the model spelt it where the hub has none such. */
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly ok: boolean;
  /** Why it failed. */
  readonly kind?: FailKind;
  /** The tool's value, or of a failure its message. */
  readonly value: unknown;
  readonly durationMs: number;
}

/** One question to the model, with the tools that it asked for. */
export interface AgentStep {
  /** From 1. */
  readonly step: number;
  readonly text: string;
  readonly calls: readonly AgentCall[];
  readonly usage: AgentUsage;
  readonly durationMs: number;
}

/** Result of one `chat`. */
export interface AgentOutcome {
  /** The answer, the question back (`clarify`), or a sentence on why there is none. */
  readonly text: string;
  readonly stopReason: StopReason;
  readonly steps: readonly AgentStep[];
  readonly usage: AgentUsage;
  /** With `error`: the message of the model's provider. */
  readonly error?: { readonly message: string; readonly status?: number; readonly retryable: boolean };
}

/** Events while an answer is made, in order. */
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

/** A conversation as plain data, to be kept in a file or a database. */
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
