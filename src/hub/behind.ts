import { isJsonObject } from "../core/json.ts";
import { KIND_META_KEY, KINDS, type FailKind } from "../core/kinds.ts";
import type { Outcome } from "../core/outcome.ts";

/**
 * A failure under the kind that a hub behind this one gave it. To the pipeline it is what it looks like from here,
 * since retries and circuits must not go by what a server says of itself; a program that asks just this server wants
 * its answer.
 */
export function asSaidBehind(outcome: Outcome): Outcome {
  if (outcome.ok) return outcome;
  const said = saidKind(outcome.result?.["_meta"]) ?? saidKind(outcome.rpcError?.data);
  return said === undefined || said === outcome.kind ? outcome : { ...outcome, kind: said };
}

function saidKind(from: unknown): FailKind | undefined {
  const kind = isJsonObject(from) ? from[KIND_META_KEY] : undefined;
  return typeof kind === "string" && Object.hasOwn(KINDS, kind) ? (kind as FailKind) : undefined;
}
