import type { HubPort, ListKind, RenderedList, ServerFacts, View } from "../../core/ports/hub-port.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import type { SourceFeatures } from "../../core/sources/records.ts";

/**
 * Offer of the hub to one view at one moment: its facts, its lists, and the MCP `capabilities` that follow from
 * them.
 */
export interface HubOffer {
  readonly facts: ServerFacts;
  readonly lists: Readonly<Record<ListKind, RenderedList>>;
  readonly capabilities: JsonObject;
}

/**
 * Reads what `initialize` and `server/discover` advertise. Resources, prompts and features are advertised if there are
 * any, or if a source has not reported yet: a client that once received "no resources" never lists them again.
 */
export function readOffer(hub: HubPort, view: View): Promise<HubOffer> {
  return readSettled(hub, () => readOnce(hub, view));
}

async function readOnce(hub: HubPort, view: View): Promise<HubOffer> {
  const [facts, tools, resources, templates, prompts] = await Promise.all([
    hub.facts(view.principal),
    hub.list("tools", view),
    hub.list("resources", view),
    hub.list("templates", view),
    hub.list("prompts", view),
  ]);
  const lists = { tools, resources, templates, prompts };
  return { facts, lists, capabilities: withDeclared(capabilitiesFor(hub, facts, lists), facts.capabilities) };
}

function capabilitiesFor(hub: HubPort, facts: ServerFacts, lists: HubOffer["lists"]): JsonObject {
  const { completions, logging, subscribe } = offeredFeatures(hub, facts);
  // A server that has no entries yet but declares the capability may add entries later.
  const has = (capability: string, ...kinds: readonly ListKind[]): boolean =>
    isUnsettled(hub) ||
    objectMember(facts.capabilities ?? {}, capability) !== undefined ||
    kinds.some((kind) => lists[kind].entries.length > 0);
  return {
    tools: { listChanged: true },
    ...(has("resources", "resources", "templates") && {
      resources: { listChanged: true, ...(subscribe && { subscribe: true }) },
    }),
    ...(has("prompts", "prompts") && { prompts: { listChanged: true } }),
    ...(completions && { completions: {} }),
    ...(logging && { logging: {} }),
  };
}

/**
 * Adds capabilities that the sources' servers declare and the hub does not implement itself: whole capabilities,
 * extensions, further members.
 */
export function withDeclared(own: JsonObject, declared: JsonObject = {}): JsonObject {
  const further = Object.entries(declared).flatMap(([name, value]): [string, unknown][] => {
    const mine = objectMember(own, name);
    if (mine) return [[name, isJsonObject(value) ? { ...withoutSwitches(value), ...mine } : mine]];
    return ANSWERED_FOR.has(name) ? [] : [[name, value]];
  });
  // Not assigned member by member: `__proto__` must stay an ordinary name.
  return { ...own, ...Object.fromEntries(further) };
}

/** Capabilities that only the hub declares or omits. */
const ANSWERED_FOR: ReadonlySet<string> = new Set(["tools", "resources", "prompts", "completions", "logging"]);

function withoutSwitches({ listChanged: _listChanged, subscribe: _subscribe, ...others }: JsonObject): JsonObject {
  return others;
}

/** Reads again if a source became ready while others were awaited: no other event would report that it is missing. */
export async function readSettled<T>(hub: HubPort, read: () => Promise<T>): Promise<T> {
  const wasUnsettled = isUnsettled(hub);
  const first = await read();
  return wasUnsettled && !isUnsettled(hub) ? read() : first;
}

/** Returns the features to advertise besides the lists: all features while a source has not reported its own. */
export function offeredFeatures(hub: HubPort, { features }: ServerFacts): SourceFeatures {
  return isUnsettled(hub) ? EVERY_FEATURE : features;
}

/** Returns the lists' capabilities without `listChanged`. */
export function withoutListChanges(capabilities: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(capabilities).map(([name, value]) => [name, isJsonObject(value) ? withoutMember(value) : value]),
  );
}

function withoutMember(capability: JsonObject): JsonObject {
  const { listChanged: _, ...rest } = capability;
  return rest;
}

function isUnsettled(hub: HubPort): boolean {
  return hub.sources().some(({ status }) => UNSETTLED.has(status.state));
}

const UNSETTLED: ReadonlySet<string> = new Set(["starting", "degraded", "down", "needs_authorisation"]);

const EVERY_FEATURE: SourceFeatures = Object.freeze({ completions: true, logging: true, subscribe: true });

/** Returns the hub as MCP's `serverInfo`, with the server info of its only source, if it has just one. */
export function serverInfo(facts: ServerFacts): JsonObject {
  return { ...briefServerInfo(facts), ...facts.about };
}

/** Returns only the hub's own info: short enough to send with every result. */
export function briefServerInfo({ name, version, title }: ServerFacts): JsonObject {
  return { name, version, ...(title === undefined ? {} : { title }) };
}
