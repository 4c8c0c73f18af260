import { setTimeout as delay } from "node:timers/promises";
import type { Catalog } from "../catalog/catalog.ts";
import type { Snapshot } from "../catalog/snapshot.ts";
import type { Lookup } from "../catalog/lookup.ts";
import { cancellationOf, type Call } from "../core/call.ts";
import type { Cancellation } from "../core/cancellation.ts";
import type { View } from "../core/hub-port.ts";
import { objectMember } from "../core/json.ts";
import { fail, type Fail } from "../core/outcome.ts";
import type { CallTarget, Provider } from "../core/provider.ts";
import type { Resolution } from "../pipeline/ports.ts";
import { absentSource } from "./absent-source.ts";
import type { SourceSet } from "./source-set.ts";

/**
 * Finds what a call is for: the catalog knows the names, the sources have the providers. A call to a source that is still starting waits
 * for it; every other call goes its way meanwhile.
 */
export function resolveCall(call: Call, view: View, catalog: Catalog, sources: SourceSet): Resolution | Promise<Resolution> {
  const places: Places = { catalog, sources };
  const first = resolveNow(call, view, places);
  if (first instanceof Promise) return first.then((resolution) => onceStarted(resolution, call, view, places));
  return first.found ? first : onceStarted(first, call, view, places);
}

async function onceStarted(first: Resolution, call: Call, view: View, places: Places): Promise<Resolution> {
  const starting = first.found ? undefined : first.failure.details?.["starting"];
  const provider = typeof starting === "string" ? places.sources.find(starting) : undefined;
  if (!provider) return first;
  await leavesStart(provider, cancellationOf(call));
  return resolveNow(call, view, places);
}

/** Longer than the bound on connecting, unless that was set to more. */
const START_WAIT_MS = 35_000;
/** A source's state may change without an event that tells it. */
const STATE_LOOK_MS = 50;

async function leavesStart(provider: Provider, signal: Cancellation): Promise<void> {
  const until = performance.now() + START_WAIT_MS;
  while (provider.status().state === "starting" && !signal.aborted && performance.now() < until) await delay(STATE_LOOK_MS);
}

function resolveNow(call: Call, view: View, places: Places): Resolution | Promise<Resolution> {
  const lookup = places.catalog.lookUp<CallTarget>(call.target, (snapshot) => lookUp(call, view, snapshot));
  return lookup instanceof Promise ? lookup.then((found) => toResolution(found, call, view, places)) : toResolution(lookup, call, view, places);
}

function toResolution(lookup: Lookup, call: Call, view: View, places: Places): Resolution {
  if (!lookup.found) return { found: false, failure: whyNotFound(lookup.failure, call, view, places) };
  const provider = places.sources.find(lookup.source.id);
  const { limits } = lookup.source;
  if (provider) return { found: true, name: lookup.name, target: lookup.target, provider, ...(limits ? { limits } : {}) };
  // A reload took the source out between the snapshot and now.
  return { found: false, failure: fail("unknown_tool", `${lookup.name} is no longer offered. List the tools again.`) };
}

interface Places {
  readonly catalog: Catalog;
  readonly sources: SourceSet;
}

function whyNotFound(failure: Fail, { method, target }: Call, view: View, { catalog, sources }: Places): Fail {
  if (failure.kind !== "unknown_tool" || (method !== "tools/call" && method !== "prompts/get")) return failure;
  const { bySource } = catalog.current.counts;
  const isListed = (id: string): boolean => Object.values(bySource.get(id) ?? {}).some((count) => count > 0);
  return absentSource(target, view, sources.providers, isListed) ?? failure;
}

function lookUp(call: Call, view: View, snapshot: Snapshot): Lookup {
  switch (call.method) {
    case "tools/call":
      return snapshot.resolveTool(call.target, view);
    case "prompts/get":
      return snapshot.resolvePrompt(call.target, view);
    case "resources/read":
      return snapshot.resolveResource(call.target, view);
    case "completion/complete":
      return snapshot.resolveCompletion(objectMember(call.params, "ref") ?? {}, view);
  }
}
