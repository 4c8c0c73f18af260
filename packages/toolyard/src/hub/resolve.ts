import type { Catalog } from "../catalog/catalog.ts";
import type { Snapshot } from "../catalog/snapshot.ts";
import { isNotThere, type FoundTarget, type Lookup, type MissingTarget } from "../catalog/lookup.ts";
import { cancellationOf, type Call, type Principal } from "../core/calls/call.ts";
import { objectMember, stringMember } from "../core/json/json.ts";
import { fail, type Fail } from "../core/calls/outcome.ts";
import type { CallTarget, Provider } from "../core/sources/provider.ts";
import type { Resolution, Resolve } from "../pipeline/ports.ts";
import type { Source } from "../core/sources/records.ts";
import { permissionOf, supposedName } from "../core/ports/rights.ts";
import { RPC } from "../wire/messages.ts";
import { retryAbsentServices, type MissingName } from "./sources/absent-services.ts";
import { passThroughProvider } from "./pass-through.ts";
import { absentSource, downloadText, lateByInstall, whyDisabled } from "./sources/absent-source.ts";
import type { SourceSet } from "./sources/source-set.ts";

/**
 * Returns the function that resolves the target of a call: the catalog finds the name, the source set has the provider.
 * The function may wait for sources that are starting.
 */
export function callResolver(places: ResolvePlaces): Resolve {
  return (call) => {
    if (call.method === "extension") return extensionResolution(call, places);
    const lookup = find(call, places);
    if (lookup instanceof Promise)
      return lookup.then((late) => (late.found ? toResolution(late, places) : missed(late, call, places)));
    return lookup.found ? toResolution(lookup, places) : missed(lookup, call, places);
  };
}

function find(call: Call, { catalog }: ResolvePlaces): Lookup | Promise<Lookup> {
  const { target: text, method } = call;
  const isUri = method === "resources/read" || (method === "completion/complete" && refersToUri(call));
  const asked = { text, isUri, isTool: method === "tools/call", view: call };
  return catalog.for(call.principal).lookUp<CallTarget>(asked, (snapshot) => lookUp(call, snapshot));
}

function extensionResolution({ target: method, principal }: Call, places: ResolvePlaces): Resolution {
  const provider = passThroughProvider(places, principal);
  if (!provider)
    return { found: false, failure: fail("unknown_tool", `Method not found: ${method}`, { rpcError: NOT_FOUND }) };
  const subject = supposedName({ namespace: "", separator: places.catalog.separator }, method);
  return { found: true, name: method, subject, target: { type: "extension", method }, provider };
}

const NOT_FOUND = Object.freeze({ code: RPC.methodNotFound, message: "Method not found" });

/** Resolves a call whose name was not found. A tool may belong to a service that is absent and can be started. */
function missed(missing: MissingTarget, call: Call, places: ResolvePlaces): Resolution | Promise<Resolution> {
  return call.method === "tools/call"
    ? withAbsentServices(missing, call, places)
    : { found: false, failure: whyNotFound(missing.failure, call, places) };
}

async function withAbsentServices(missing: MissingTarget, call: Call, places: ResolvePlaces): Promise<Resolution> {
  const wanted = wantedOf({ name: call.target, principal: call.principal }, places);
  const again = { find: () => find(call, places), cancellation: cancellationOf(call) };
  const { lookup, absence } = await retryAbsentServices(missing, wanted, again);
  if (absence) return { found: false, ...absence };
  return lookup.found
    ? toResolution(lookup, places)
    : { found: false, failure: whyNotFound(lookup.failure, call, places) };
}

/** Returns the data for finding absent services that may have an unlisted name. */
export function wantedOf(
  asked: Pick<MissingName, "name" | "principal">,
  { catalog, sources }: ResolvePlaces,
): MissingName {
  const { current } = catalog.for(asked.principal);
  return {
    ...asked,
    providers: sources.providers,
    separator: catalog.separator,
    spellings: current.spellings,
    isListed: (id) => current.isListed(id),
    withheldBy: (id) => current.withheldBy(id),
  };
}

/** Looks a name up, and again when an absent service that may offer it has started. */
export async function lookUpWithServices(
  asked: Pick<MissingName, "name" | "principal">,
  find: () => Lookup | Promise<Lookup>,
  places: ResolvePlaces,
): Promise<Lookup> {
  const first = await find();
  return (await retryAbsentServices(first, wantedOf(asked, places), { find })).lookup;
}

/** Parts of the hub with which the target of a call is resolved. */
export interface ResolvePlaces {
  readonly catalog: Catalog;
  readonly sources: SourceSet;
}

/** Returns true for the completion of a resource template. */
function refersToUri({ params }: Call): boolean {
  return stringMember(objectMember(params, "ref") ?? {}, "uri") !== undefined;
}

function toResolution(lookup: FoundTarget<CallTarget>, { sources }: ResolvePlaces): Resolution {
  const { source, name, subject, target, uris } = lookup;
  const provider = sources.find(source.id);
  if (provider) return { found: true, name, subject, target, provider, uris, limits: source.limits };
  // The source was in the snapshot, but a reload has removed it since.
  return { found: false, failure: fail("unknown_tool", `${name} is no longer offered. List the tools again.`) };
}

function whyNotFound(failure: Fail, call: Call, { catalog, sources }: ResolvePlaces): Fail {
  const { method } = call;
  const isAway = isNotThere(failure) || failure.details?.["starting"] !== undefined;
  if (!isAway || (method !== "tools/call" && method !== "prompts/get")) return failure;
  const { providers, ...places } = wantedOf({ name: call.target, principal: call.principal }, { catalog, sources });
  return absentSource(call, { sources: providers, ...places }) ?? withReason(failure, call, { catalog, sources });
}

/** Returns the failure that replaces a timeout if the call waited for a download. */
export function whyLate(call: Call, provider: Provider | undefined, places: ResolvePlaces): Fail | undefined {
  const { providers, ...rest } = wantedOf({ name: call.target, principal: call.principal }, places);
  return lateByInstall(call, { provider, sources: providers, ...rest });
}

/** Returns a sentence about the download for which the call waits, or `undefined` if there is none. */
export function awaitedDownload(call: Call, provider: Provider | undefined, places: ResolvePlaces): string | undefined {
  const { providers, ...rest } = wantedOf({ name: call.target, principal: call.principal }, places);
  return downloadText(call, { provider, sources: providers, ...rest });
}

// A caller with narrowed rights gets `denied`, which does not reveal if the name exists.
function withReason(failure: Fail, { method, target, principal }: Call, { catalog, sources }: ResolvePlaces): Fail {
  if (failure.kind !== "unknown_tool" || method !== "tools/call") return failure;
  const { current } = catalog.for(principal);
  const reason = current.whyWithheld(target) ?? whyDisabled(target, sources.providers, current.spellings);
  if (reason === undefined) return withUnlistedHint(failure, current.notListing(target), principal);
  return {
    ...failure,
    message: `Unknown tool: ${target}. It is not offered because ${reason}.`,
    details: { ...failure.details, withheld: reason },
  };
}

/**
 * Adds a hint about `unlisted` to the failure. Callers with narrowed rights do not get it, because it reveals which
 * servers exist.
 */
function withUnlistedHint(failure: Fail, source: Source | undefined, principal: Principal): Fail {
  if (!source || permissionOf(principal.rights).isNarrowed) return failure;
  const hint =
    `The server ${source.id} does not list it. ` +
    `If it accepts tools that it does not list, set \`unlisted = true\` for ${source.id}.`;
  return { ...failure, message: `${failure.message} ${hint}`, details: { ...failure.details, hint } };
}

function lookUp(call: Call, snapshot: Snapshot): Lookup {
  const lookup = lookUpTarget(call, snapshot);
  return lookup.found ? { ...lookup, uris: snapshot.urisOf(lookup.source.id) } : lookup;
}

function lookUpTarget(call: Call, snapshot: Snapshot): Lookup {
  switch (call.method) {
    case "tools/call":
      return snapshot.resolveTool(call.target, call);
    case "prompts/get":
      return snapshot.resolvePrompt(call.target, call);
    case "resources/read":
      return snapshot.resolveResource(call.target, call);
    case "completion/complete":
      return snapshot.resolveCompletion(objectMember(call.params, "ref") ?? {}, call);
    case "extension":
      throw new TypeError("A method of an extension has no entry in the catalog.");
  }
}
