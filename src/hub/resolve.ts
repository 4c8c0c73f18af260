import type { Catalog } from "../catalog/catalog.ts";
import type { Snapshot } from "../catalog/snapshot.ts";
import type { Lookup } from "../catalog/lookup.ts";
import type { Call } from "../core/call.ts";
import type { View } from "../core/hub-port.ts";
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
export function resolveCall(
  call: Call,
  view: View,
  catalog: Catalog,
  sources: SourceSet,
): Resolution | Promise<Resolution> {
  const places: Places = { catalog, sources };
  const asked = { text: call.target, isUri: asksForUri(call), view };
  const lookup = catalog.lookUp<CallTarget>(asked, (snapshot) => lookUp(call, view, snapshot));
  return lookup instanceof Promise
    ? lookup.then((found) => toResolution(found, call, view, places))
    : toResolution(lookup, call, view, places);
}

function asksForUri({ method, params }: Call): boolean {
  if (method !== "completion/complete") return method === "resources/read";
  return stringMember(objectMember(params, "ref") ?? {}, "uri") !== undefined;
}

function toResolution(lookup: Lookup, call: Call, view: View, places: Places): Resolution {
  if (!lookup.found) return { found: false, failure: whyNotFound(lookup.failure, call, view, places) };
  const provider = places.sources.find(lookup.source.id);
  const { limits } = lookup.source;
  if (provider)
    return { found: true, name: lookup.name, target: lookup.target, provider, ...(limits ? { limits } : {}) };
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
