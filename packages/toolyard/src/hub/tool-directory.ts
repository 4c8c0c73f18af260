import type { Subject } from "../core/ports/permission.ts";
import type { Lookup } from "../catalog/lookup.ts";
import { toolEntry } from "../catalog/tool-entry.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../core/calls/call.ts";
import type { ListKind, View } from "../core/ports/hub-port.ts";
import type { JsonObject } from "../core/json/json.ts";
import { processActivity } from "../core/process-activity.ts";
import type { Surface } from "../core/names/names.ts";
import type { SearchAnswer, SearchBounds } from "../core/ports/ports.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import { isHubItself } from "../core/sources/provider-kinds.ts";
import type { Source, ToolRecord } from "../core/sources/records.ts";
import { permissionOf } from "../core/ports/rights.ts";
import type { ToolCounts, ToolDescription, ToolFinder } from "../core/services.ts";
import type { Kernel } from "./kernel.ts";
import { unreadyServers } from "./sources/unready-servers.ts";

/** Tool in the form in which one kind of endpoint lists it. */
export interface SurfaceTool {
  readonly name: string;
  readonly record: ToolRecord;
  /** MCP form of the tool. */
  readonly entry: JsonObject;
}

/**
 * View that lists everything. The rights of its principal exclude nothing but count as narrowed, because the catalog
 * creates complete subjects only for callers with narrowed rights.
 */
const JUDGED_VIEW: View = { mode: "all", principal: { ...LOCAL_PRINCIPAL, rights: { deny: [""] } } };
const WHOLE_VIEW: View = { mode: "all", principal: LOCAL_PRINCIPAL };

/** Finds tools of a hub by name and by query, and lists them with the names of an endpoint. */
export class ToolDirectory implements ToolFinder, ToolCounts {
  readonly #kernel: Pick<Kernel, "catalog" | "sources">;

  constructor(kernel: Pick<Kernel, "catalog" | "sources">) {
    this.#kernel = kernel;
  }

  /**
   * Returns the tools that the view lists, with the names that `surface` uses. If a source has not answered after
   * `waitMs` milliseconds, its last known list is used.
   */
  async forSurface(surface: Surface, view: View, waitMs?: number): Promise<readonly SurfaceTool[]> {
    const snapshot = await this.#kernel.catalog.for(view.principal).snapshot(waitMs);
    return snapshot
      .tools(view)
      .map(({ name, record, entry }) => ({ name: snapshot.toolName(record, surface) ?? name, record, entry }));
  }

  async search(query: string, view: View, bounds: SearchBounds): Promise<SearchAnswer> {
    const catalog = this.#kernel.catalog.for(view.principal);
    const answer = await counted(catalog.search(query, view, bounds));
    if (view.principal.toolNames !== "model") return answer;
    const named = (name: string): string => catalog.current.toolNameFor(name, view.principal);
    return { ...answer, hits: answer.hits.map((hit) => ({ ...hit, name: named(hit.name) })) };
  }

  async describeTool(spelling: string, view: View): Promise<ToolDescription> {
    const catalog = this.#kernel.catalog.for(view.principal);
    let seen = catalog.current;
    const find = (): Lookup | Promise<Lookup> =>
      catalog.lookUp<CallTarget>({ text: spelling, isUri: false, view }, (snapshot) =>
        (seen = snapshot).resolveTool(spelling, view),
      );
    const { lookUpWithServices } = await import("./resolve.ts");
    const lookup = await lookUpWithServices({ name: spelling, principal: view.principal }, find, this.#kernel);
    if (!lookup.found) return lookup;
    const { name, target } = lookup;
    const unlisted = target.type === "tool" ? toolEntry(target.tool, name) : {};
    const entry = seen.toolEntry(name) ?? unlisted;
    const shown = seen.toolNameFor(name, view.principal);
    return { found: true, entry: shown === name ? entry : { ...entry, name: shown } };
  }

  /**
   * Resolves a tool, prompt or resource by its name or URI. The result has the subject with which rights are compared.
   */
  async findSubject(spelling: string): Promise<Lookup> {
    const snapshot = await this.#kernel.catalog.snapshot();
    const lookups: readonly Lookup[] = [
      snapshot.resolveTool(spelling, JUDGED_VIEW),
      snapshot.resolvePrompt(spelling, JUDGED_VIEW),
      snapshot.resolveResource(spelling, JUDGED_VIEW),
    ];
    return lookups.find(({ found }) => found) ?? snapshot.resolveTool(spelling, WHOLE_VIEW);
  }

  nameOf(spelling: string, principal: Principal): string | undefined {
    const lookup = this.#resolve(spelling, principal);
    return lookup.found ? lookup.name : undefined;
  }

  sourceOf(spelling: string, principal: Principal): string | undefined {
    const lookup = this.#resolve(spelling, principal);
    return lookup.found ? lookup.source.id : undefined;
  }

  subjectOf(spelling: string, principal: Principal): Subject | undefined {
    const lookup = this.#resolve(spelling, principal);
    return lookup.found ? lookup.subject : undefined;
  }

  #resolve(spelling: string, principal: Principal): Lookup {
    return this.#kernel.catalog.for(principal).current.resolveTool(spelling, { mode: "all", principal });
  }

  /**
   * Returns the ids of the sources with the prefix of the spelling, even if they list no such tool. Empty for a name
   * without prefix.
   */
  ownersOf(spelling: string): ReadonlySet<string> {
    return this.#kernel.catalog.current.spellings.read(spelling)?.owners ?? new Set();
  }

  counts(principal: Principal): { readonly tools: number; readonly resources: number } {
    const { current } = this.#kernel.catalog.for(principal);
    const { tools, resources, templates } = current.counts.total;
    if (!permissionOf(principal.rights).isNarrowed) return { tools, resources: resources + templates };
    const seen = (kind: ListKind): number => current.list(kind, { mode: "all", principal }).entries.length;
    return { tools: seen("tools"), resources: seen("resources") + seen("templates") };
  }

  registeredTools(principal: Principal): number {
    const tools = this.#kernel.catalog.for(principal).current.tools({ mode: "all", principal });
    return tools.filter(({ record }) => record.role !== "discovery").length;
  }

  unreadyServers(principal: Principal): readonly string[] {
    const { catalog, sources } = this.#kernel;
    const { current } = catalog.for(principal);
    const isListed = (id: string): boolean => current.isListed(id);
    return unreadyServers(principal, { sources: sources.providers, separator: catalog.separator, isListed });
  }

  /** Returns all tools except the hub's own, with their sources. */
  ownTools(): readonly { readonly source: Source; readonly entry: JsonObject }[] {
    return this.#kernel.catalog.current
      .tools(WHOLE_VIEW)
      .filter(({ record }) => !isHubItself(record.source) && record.isHubs !== true)
      .map(({ record, entry }) => ({ source: record.source, entry }));
  }

  /** Counts the tools of a source that are listed, and those that are found only by search. */
  visibilities(sourceId: string): { readonly native: number; readonly ondemand: number } {
    const own = this.#kernel.catalog.current.tools(WHOLE_VIEW).filter(({ record }) => record.source.id === sourceId);
    const native = own.filter(({ record }) => record.visibility === "native").length;
    return { native, ondemand: own.length - native };
  }
}

/** Counts a search and its time, including the wait for sources and for a model. */
async function counted(search: Promise<SearchAnswer>): Promise<SearchAnswer> {
  const startedAt = performance.now();
  try {
    return await search;
  } finally {
    processActivity.searches += 1;
    processActivity.searchMs += performance.now() - startedAt;
  }
}
