import { isJsonObject, stringMember, type JsonObject } from "../../core/json/json.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import { toolValue } from "../../core/calls/tool-value.ts";

/** Facts of a failure that programs act on; the others are for the log. */
const TOLD = ["candidates", "near", "errors", "signIn", "timeoutMs"] as const;

/**
 * `{error: {kind, message, retryable, …}}`: the one shape in which REST says that something failed. `isFull` adds the
 * tool's whole result.
 */
export function errorBody(failure: Fail, isFull = false): JsonObject {
  const { kind, message, retryable, retryAfterMs, details = {}, result } = failure;
  const facts = TOLD.flatMap((name) => (details[name] === undefined ? [] : [[name, details[name]]]));
  return {
    error: {
      kind,
      message,
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...Object.fromEntries(facts),
      ...ownWords(failure),
      ...(isFull && result ? { result } : {}),
    },
  };
}

/** What a tool said of its failure, where that is more than the message. */
function ownWords({ result, message, details = {} }: Fail): JsonObject {
  if (!result) return {};
  const value = toolValue(result);
  const isSaid =
    value === null || value === message || value === stringMember(details, "error") || isJustError(value, message);
  return isSaid ? {} : { value };
}

function isJustError(value: unknown, message: string): boolean {
  return isJsonObject(value) && value["error"] === message && Object.keys(value).length === 1;
}

/** A service that says that the arguments were wrong has not failed: its caller has to ask otherwise (M11). */
export function statusOf({ kind, details }: Fail): number {
  const isRefused = kind === "tool_error" && details?.["upstreamKind"] === "invalid_params";
  return KINDS[isRefused ? "invalid_params" : kind].http;
}

/** When trying again makes sense, for `limited` and for whoever says so. */
export function retryHeaders({ kind, retryAfterMs }: Fail): Readonly<Record<string, string>> {
  if (retryAfterMs === undefined && kind !== "limited") return {};
  return { "retry-after": String(Math.max(1, Math.ceil((retryAfterMs ?? 1000) / 1000))) };
}
