import { KIND_META_KEY, KINDS } from "../core/calls/kinds.ts";
import type { Outcome } from "../core/calls/outcome.ts";
import type { CallState } from "./state.ts";

/**
 * Replaces the failure of a server that gave no answer by the outage report of its source, for every endpoint. An
 * answer of the server itself stays unchanged.
 */
export function withOutageReport(outcome: Outcome, { outage, call }: CallState): Outcome {
  if (outcome.ok || !outage || call.method !== "tools/call") return outcome;
  const isAnswer = outcome.result !== undefined || outcome.rpcError !== undefined;
  if (isAnswer || KINDS[outcome.kind].breaker !== "failure") return outcome;
  // The report is text and not structured content, which clients validate against the tool's output schema.
  const content = [{ type: "text", text: outage.text }];
  const result = { content, isError: true, _meta: { [KIND_META_KEY]: outcome.kind } };
  return { ...outcome, message: outage.message, result };
}
