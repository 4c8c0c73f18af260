import type { Catalog } from "../catalog/catalog.ts";
import type { Snapshot } from "../catalog/snapshot.ts";
import { isNotThere, type Lookup } from "../catalog/lookup.ts";
import type { Call } from "../core/call.ts";
import { objectMember, stringMember } from "../core/json.ts";
import { fail, type Fail } from "../core/outcome.ts";
import type { CallTarget } from "../core/provider.ts";
import type { Resolution } from "../pipeline/ports.ts";
import { absentSource } from "./absent-source.ts";
import type { SourceSet } from "./source-set.ts";

/**
 * Finds what a call is for: the catalog knows the names, the sources have the providers. May wait for sources that are
 * still starting.
 */
export function resolveCall(call: Call, places: ResolvePlaces): Resolution | Promise<Resolution> {
  const asked = { text: call.target, isUri: asksForUri(call), view: call };
  const lookup = places.catalog.lookUp<CallTarget>(asked, (snapshot) => lookUp(call, snapshot));
  return lookup instanceof Promise
    ? lookup.then((found) => toResolution(found, call, places))
    : toResolution(lookup, call, places);
}

/** Where a call is looked up. */
export interface ResolvePlaces {
  readonly catalog: Catalog;
  readonly sources: SourceSet;
}

function asksForUri({ method, params }: Call): boolean {
  if (method !== "completion/complete") return method === "resources/read";
  return stringMember(objectMember(params, "ref") ?? {}, "uri") !== undefined;
}

function toResolution(lookup: Lookup, call: Call, places: ResolvePlaces): Resolution {
  if (!lookup.found) return { found: false, failure: whyNotFound(lookup.failure, call, places) };
  const provider = places.sources.find(lookup.source.id);
  const { limits } = lookup.source;
  if (provider) return { ...lookup, provider, ...(limits ? { limits } : {}) };
  // A reload took the source out between the snapshot and now.
  return { found: false, failure: fail("unknown_tool", `${lookup.name} is no longer offered. List the tools again.`) };
}

function whyNotFound(failure: Fail, call: Call, { catalog, sources }: ResolvePlaces): Fail {
  const { method } = call;
  if (!isNotThere(failure) || (method !== "tools/call" && method !== "prompts/get")) return failure;
  const { bySource } = catalog.current.counts;
  const isListed = (id: string): boolean => Object.values(bySource.get(id) ?? {}).some((count) => count > 0);
  return absentSource(call, { sources: sources.providers, separator: catalog.separator, isListed }) ?? failure;
}

function lookUp(call: Call, snapshot: Snapshot): Lookup {
  switch (call.method) {
    case "tools/call":
      return snapshot.resolveTool(call.target, call);
    case "prompts/get":
      return snapshot.resolvePrompt(call.target, call);
    case "resources/read":
      return snapshot.resolveResource(call.target, call);
    case "completion/complete":
      return snapshot.resolveCompletion(objectMember(call.params, "ref") ?? {}, call);
  }
}
