import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { KIND_META_KEY, RETRY_META_KEY } from "../core/calls/kinds.ts";
import type { Fail, Outcome } from "../core/calls/outcome.ts";
import { factsOf } from "../core/sources/provider-kinds.ts";
import type { CallState } from "./state.ts";

/**
 * Members with which a hub reports the reason of a failure. They are removed from results of other servers, because a
 * client of this hub would think that this hub set them.
 */
const HUB_MEMBERS = [KIND_META_KEY, RETRY_META_KEY] as const;

/**
 * Removes the outcome code and the retry time that another server sets in the hub's own `_meta` members: they would
 * control exit codes and retries of the hub's clients. Applies to results of every method, including extensions. Tools
 * of this machine and bundled servers keep them.
 */
export function withoutReportedKind(outcome: Outcome, state: CallState): Outcome {
  if (outcome.ok && outcome.result["_meta"] === undefined) return outcome;
  if (!state.isResolved || isOwn(state)) return outcome;
  if (outcome.ok) {
    const result = withoutIn(outcome.result, "_meta");
    return result === outcome.result ? outcome : { ...outcome, result };
  }
  const { result, rpcError } = outcome;
  const cleaned: Partial<Fail> = {
    ...(result && { result: withoutIn(result, "_meta") }),
    ...(rpcError && { rpcError: withoutIn(rpcError, "data") }),
  };
  const isSame = cleaned.result === result && cleaned.rpcError === rpcError;
  return isSame ? outcome : { ...outcome, ...cleaned };
}

function isOwn({ found }: CallState): boolean {
  const { kind, isBundled } = found.provider.source;
  return isBundled === true || factsOf(kind).isLocal;
}

function withoutIn<T extends object>(holder: T, member: string): T {
  const { [member]: facts, ...rest } = holder as JsonObject;
  if (!isJsonObject(facts) || !HUB_MEMBERS.some((key) => Object.hasOwn(facts, key))) return holder;
  const kept = Object.fromEntries(
    Object.entries(facts).filter(([key]) => !(HUB_MEMBERS as readonly string[]).includes(key)),
  );
  return (Object.keys(kept).length === 0 ? rest : { ...rest, [member]: kept }) as T;
}
