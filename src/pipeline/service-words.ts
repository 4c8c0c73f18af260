import { KIND_META_KEY, type FailKind } from "../core/kinds.ts";
import type { Fail, Outcome } from "../core/outcome.ts";
import type { CallState } from "./state.ts";

/** What a server is the reason for, whoever asks it. */
const UNAVAILABLE: ReadonlySet<FailKind> = new Set(["unavailable", "timeout", "malformed"]);

/**
 * A server that has a name towards people gave no answer: its callers get one object on every door, `{error: "Weather
 * MCP unavailable on port 50053"}` (M4, C36). What the server said itself passes as it came.
 */
export function inServiceWords(outcome: Outcome, state: CallState): Outcome {
  const { service } = state;
  if (outcome.ok || state.call.method !== "tools/call") return outcome;
  const isAnswer = outcome.result !== undefined || outcome.rpcError !== undefined;
  if (!service || isAnswer || !UNAVAILABLE.has(outcome.kind)) return outcome;
  return told(outcome, `${service.name} unavailable on port ${service.port}`);
}

// As text and not as structured content, which clients hold against the tool's output schema.
function told(failure: Fail, message: string): Fail {
  const content = [{ type: "text", text: JSON.stringify({ error: message }) }];
  return { ...failure, message, result: { content, isError: true, _meta: { [KIND_META_KEY]: failure.kind } } };
}
