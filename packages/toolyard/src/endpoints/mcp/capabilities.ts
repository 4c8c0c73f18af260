import type { HubPort, ListKind, RenderedList, ServerFacts, View } from "../../core/ports/hub-port.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import type { SourceFeatures } from "../../core/sources/records.ts";

/**
 * What the hub offers to one view at one moment: its facts, its lists, and MCP's `capabilities` that follow from them.
 */
export interface HubOffer {
  readonly facts: ServerFacts;
  readonly lists: Readonly<Record<ListKind, RenderedList>>;
  readonly capabilities: JsonObject;
}

/**
 * Reads what `initialize` and `server/discover` advertise. Resources, prompts and features are named when there are
 * some, or when a source has not said yet what it has: a client that was told "no resources" never asks again.
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
  // A server that has none as yet, and says that it may, is heard when it has some.
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
 * The capabilities that the hub answers for, and beside them what the sources' servers declare in words that the hub
 * does not know: whole capabilities, extensions, further members.
 */
export function withDeclared(own: JsonObject, declared: JsonObject = {}): JsonObject {
  const further = Object.entries(declared).flatMap(([name, value]): [string, unknown][] => {
    const mine = objectMember(own, name);
    if (mine) return [[name, isJsonObject(value) ? { ...withoutSwitches(value), ...mine } : mine]];
    return ANSWERED_FOR.has(name) ? [] : [[name, value]];
  });
  // Not member by member: `__proto__` is a name like any other here.
  return { ...own, ...Object.fromEntries(further) };
}

/** What the hub alone says: it has them, or it has not. */
const ANSWERED_FOR: ReadonlySet<string> = new Set(["tools", "resources", "prompts", "completions", "logging"]);

function withoutSwitches({ listChanged: _listChanged, subscribe: _subscribe, ...others }: JsonObject): JsonObject {
  return others;
}

/** Reads once more where a source came while others were waited for: nobody else would tell that it is missing. */
export async function readSettled<T>(hub: HubPort, read: () => Promise<T>): Promise<T> {
  const wasUnsettled = isUnsettled(hub);
  const first = await read();
  return wasUnsettled && !isUnsettled(hub) ? read() : first;
}

/** What may be advertised beside the lists: everything, while a source has not said yet what it can. */
export function offeredFeatures(hub: HubPort, { features }: ServerFacts): SourceFeatures {
  return isUnsettled(hub) ? EVERY_FEATURE : features;
}

/** The lists' capabilities without the promise to tell when they change. */
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

/** The hub as MCP's `serverInfo`, with what its only source says of itself. */
export function serverInfo(facts: ServerFacts): JsonObject {
  return { ...briefServerInfo(facts), ...facts.about };
}

/** The hub alone: short enough to go with every result. */
export function briefServerInfo({ name, version, title }: ServerFacts): JsonObject {
  return { name, version, ...(title === undefined ? {} : { title }) };
}
