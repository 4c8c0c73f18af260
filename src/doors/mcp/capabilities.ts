import type { HubPort, ListKind, RenderedList, ServerFacts, View } from "../../core/hub-port.ts";
import type { JsonObject } from "../../core/json.ts";
import type { SourceFeatures } from "../../core/records.ts";

/** What the hub offers to one view at one moment: its facts, its lists, and MCP's `capabilities` that follow from them. */
export interface Offer {
  readonly facts: ServerFacts;
  readonly lists: Readonly<Record<ListKind, RenderedList>>;
  readonly capabilities: JsonObject;
}

/**
 * Reads what `initialize` and `server/discover` advertise. Resources, prompts and features are named when there are some, or when a
 * source has not said yet what it has: a client that was told "no resources" never asks again.
 */
export async function readOffer(hub: HubPort, view: View): Promise<Offer> {
  const [facts, tools, resources, templates, prompts] = await Promise.all([
    hub.facts(view.principal),
    hub.list("tools", view),
    hub.list("resources", view),
    hub.list("templates", view),
    hub.list("prompts", view),
  ]);
  const isOpen = hub.sources().some(({ status }) => UNSETTLED.has(status.state));
  const { completions, logging, subscribe } = isOpen ? EVERY_FEATURE : facts.features;
  const hasResources = isOpen || resources.entries.length > 0 || templates.entries.length > 0;
  const hasPrompts = isOpen || prompts.entries.length > 0;
  const capabilities: JsonObject = {
    tools: { listChanged: true },
    ...(hasResources ? { resources: { listChanged: true, ...(subscribe ? { subscribe: true } : {}) } } : {}),
    ...(hasPrompts ? { prompts: { listChanged: true } } : {}),
    ...(completions ? { completions: {} } : {}),
    ...(logging ? { logging: {} } : {}),
  };
  return { facts, lists: { tools, resources, templates, prompts }, capabilities };
}

const UNSETTLED: ReadonlySet<string> = new Set(["starting", "degraded", "down", "needs_authorisation"]);

const EVERY_FEATURE: SourceFeatures = Object.freeze({ completions: true, logging: true, subscribe: true });

/** The hub as MCP's `serverInfo`. */
export function serverInfo(facts: ServerFacts): JsonObject {
  return { name: facts.name, version: facts.version, ...(facts.title === undefined ? {} : { title: facts.title }) };
}
