import { isJsonObject } from "../core/json/json.ts";
import { KIND_META_KEY, KINDS, RETRY_META_KEY, type FailKind } from "../core/calls/kinds.ts";
import type { Fail, Outcome } from "../core/calls/outcome.ts";

/**
 * Returns the failure with the code that the mirrored hub reported. The pipeline itself uses the hub's own code,
 * because retries and circuit breakers must not depend on data from a server. The program that made the call needs the
 * code of the mirrored hub.
 */
export function withUpstreamKind(outcome: Outcome): Outcome {
  if (outcome.ok) return outcome;
  const meta = [outcome.result?.["_meta"], outcome.rpcError?.data].find((from) => upstreamKind(from) !== undefined);
  const said = upstreamKind(meta);
  if (said === undefined || said === outcome.kind) return outcome;
  return { ...outcome, kind: said, ...(said === "limited" && whenAgain(meta)) };
}

/**
 * Returns the retry time of a failure, which makes it retryable. Returns `undefined` if the failure has none, because
 * waiting then does not help.
 */
function whenAgain(from: unknown): Pick<Fail, "retryable" | "retryAfterMs"> | undefined {
  const retryAfterMs = isJsonObject(from) ? from[RETRY_META_KEY] : undefined;
  return typeof retryAfterMs === "number" ? { retryable: true, retryAfterMs } : undefined;
}

function upstreamKind(from: unknown): FailKind | undefined {
  const kind = isJsonObject(from) ? from[KIND_META_KEY] : undefined;
  return typeof kind === "string" && Object.hasOwn(KINDS, kind) ? (kind as FailKind) : undefined;
}
