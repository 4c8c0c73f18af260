import { KINDS, type FailKind } from "../../core/calls/kinds.ts";
import type { Refusal } from "../../http/answer/refusal.ts";

/** Formats a refusal of the HTTP layer as an error body with the outcome code that fits its status best. */
export function refusalText({ status, message }: Refusal): string {
  const kind = KIND_OF_STATUS[status] ?? (status < 500 ? "invalid_params" : "internal");
  return JSON.stringify({ error: { kind, message, retryable: KINDS[kind].retryable } });
}

const KIND_OF_STATUS: Readonly<Record<number, FailKind>> = {
  401: "denied",
  403: "denied",
  404: "unknown_tool",
  413: "too_large",
  429: "limited",
  503: "unavailable",
};
