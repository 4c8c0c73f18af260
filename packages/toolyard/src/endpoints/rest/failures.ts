import { isJsonObject, stringMember, type JsonObject } from "../../core/json/json.ts";
import { causeKind, KINDS } from "../../core/calls/kinds.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import { isStatusFailure, toolValue } from "../../core/calls/tool-value.ts";

/** Details of a failure that programs use. Other details are only logged. */
const SENT_DETAILS = ["candidates", "near", "errors", "signIn", "timeoutMs"] as const;

/**
 * Builds `{error: {kind, message, retryable, …}}`, the only shape of REST errors. `isFull` adds the tool's whole
 * result.
 */
export function errorBody(failure: Fail, isFull = false): JsonObject {
  const { kind, message, retryable, retryAfterMs, details = {}, result } = failure;
  const facts = SENT_DETAILS.flatMap((name) => (details[name] === undefined ? [] : [[name, details[name]]]));
  return {
    error: {
      kind,
      message,
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...Object.fromEntries(facts),
      ...toolMessage(failure),
      ...(isFull && result ? { result } : {}),
    },
  };
}

/** Returns a tool's own text about its failure, if it is more specific than the message. */
function toolMessage({ result, message, details = {} }: Fail): JsonObject {
  if (!result) return {};
  const value = toolValue(result);
  const isSaid =
    value === null || value === message || value === stringMember(details, "error") || isJustError(value, message);
  return isSaid ? {} : { value };
}

function isJustError(value: unknown, message: string): boolean {
  return isJsonObject(value) && value["error"] === message && Object.keys(value).length === 1;
}

/**
 * Returns the status that the tool gave (`{error, status_code}`), otherwise the status of the outcome code or of its
 * cause.
 */
export function statusOf({ kind, details, result }: Fail): number {
  const output = result?.["structuredContent"];
  return isStatusFailure(output) ? output.status_code : KINDS[causeKind(kind, details)].http;
}

/** Returns the header `Retry-After` for `limited`, and for every failure that has a retry time. */
export function retryHeaders({ kind, retryAfterMs }: Fail): Readonly<Record<string, string>> {
  if (retryAfterMs === undefined && kind !== "limited") return {};
  return { "retry-after": String(Math.max(1, Math.ceil((retryAfterMs ?? 1000) / 1000))) };
}
