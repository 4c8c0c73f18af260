import type { HubContent, ListKind, RenderedList, ServerFacts, View } from "../../core/ports/hub-port.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import type { SourceFeatures } from "../../core/sources/records.ts";

/** The hub's facts and lists for one view at one moment, and the MCP `capabilities` that follow from them. */
export interface HubOffer {
  readonly facts: ServerFacts;
  readonly lists: Readonly<Record<ListKind, RenderedList>>;
  readonly capabilities: JsonObject;
}

/**
 * Reads the content of `initialize` and `server/discover`. Resources, prompts and features are advertised if there are
 * any, or if a source has not reported yet: a client that has received "no resources" does not list them later.
 */
export function readOffer(hub: HubContent, view: View): Promise<HubOffer> {
  return readSettled(hub, () => readOnce(hub, view));
}

async function readOnce(hub: HubContent, view: View): Promise<HubOffer> {
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

function capabilitiesFor(hub: HubContent, facts: ServerFacts, lists: HubOffer["lists"]): JsonObject {
  const { completions, logging, subscribe } = offeredFeatures(hub, facts);
  // A server that declares the capability but lists no entries may add entries later, so the declaration is sufficient.
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
 * Adds capabilities that the sources' servers declare and the hub does not implement: whole capabilities, extensions,
 * further members.
 */
export function withDeclared(own: JsonObject, declared: JsonObject = {}): JsonObject {
  const further = Object.entries(declared).flatMap(([name, value]): [string, unknown][] => {
    const mine = objectMember(own, name);
    if (mine) return [[name, isJsonObject(value) ? { ...withoutSwitches(value), ...mine } : mine]];
    return ANSWERED_FOR.has(name) ? [] : [[name, value]];
  });
  // `Object.fromEntries` keeps `__proto__` as an ordinary name; an assignment would set the prototype.
  return { ...own, ...Object.fromEntries(further) };
}

/** Capabilities that are determined by the hub only. */
const ANSWERED_FOR: ReadonlySet<string> = new Set(["tools", "resources", "prompts", "completions", "logging"]);

function withoutSwitches({ listChanged: _listChanged, subscribe: _subscribe, ...others }: JsonObject): JsonObject {
  return others;
}

/**
 * Repeats `read` if a source became ready during the first read, because no later event would report its capability.
 */
export async function readSettled<T>(hub: HubContent, read: () => Promise<T>): Promise<T> {
  const wasUnsettled = isUnsettled(hub);
  const first = await read();
  return wasUnsettled && !isUnsettled(hub) ? read() : first;
}

/**
 * Returns the features to advertise besides the lists. Returns all features while a source has not reported its own.
 */
export function offeredFeatures(hub: HubContent, { features }: ServerFacts): SourceFeatures {
  return isUnsettled(hub) ? EVERY_FEATURE : features;
}

/** Returns the capabilities of the lists without `listChanged`. */
export function withoutListChanges(capabilities: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(capabilities).map(([name, value]) => [name, isJsonObject(value) ? withoutMember(value) : value]),
  );
}

function withoutMember(capability: JsonObject): JsonObject {
  const { listChanged: _, ...rest } = capability;
  return rest;
}

function isUnsettled(hub: HubContent): boolean {
  return hub.sources().some(({ status }) => UNSETTLED.has(status.state));
}

const UNSETTLED: ReadonlySet<string> = new Set(["starting", "degraded", "down", "needs_authorisation"]);

const EVERY_FEATURE: SourceFeatures = Object.freeze({ completions: true, logging: true, subscribe: true });

/** Returns MCP's `serverInfo` of the hub. If the hub has only one source, includes that source's server info. */
export function serverInfo(facts: ServerFacts): JsonObject {
  return { ...briefServerInfo(facts), ...facts.about };
}

/** Returns the hub's own server info, which is short enough to send with every result. */
export function briefServerInfo({ name, version, title }: ServerFacts): JsonObject {
  return { name, version, ...(title === undefined ? {} : { title }) };
}
