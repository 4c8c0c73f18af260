import { LOCAL_PRINCIPAL, type Principal } from "../core/calls/call.ts";
import type { ListKind, RenderedList, View } from "../core/ports/hub-port.ts";
import { stringMember, type JsonObject } from "../core/json/json.ts";
import type { McpNaming, Surface } from "../core/names/names.ts";
import { Spellings, type SpellingParts } from "../core/names/spelling.ts";
import { fail, type Fail } from "../core/calls/outcome.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import { factsOf, isHubItself } from "../core/sources/provider-kinds.ts";
import {
  EMPTY_LISTING,
  type Problem,
  type PromptRecord,
  type Source,
  type ToolRecord,
} from "../core/sources/records.ts";
import type { SourceUris } from "../core/uris/source-uris.ts";
import type { Lookup } from "./lookup.ts";
import { NameClaims } from "./name-claims.ts";
import { namePolicies } from "./name-policy.ts";
import { NamedTable } from "./named-table.ts";
import { RowList, type ListRow } from "./rendered-list.ts";
import { ResourceTable, type ResourceTarget } from "./resource-table.ts";
import { permissionOf } from "../core/ports/rights.ts";
import type { PreparedPrompt, PreparedTool, SourcePart } from "./source-part.ts";
import { createToolTable, listedTools, type ToolTable, type ToolTarget } from "./tool-table.ts";
import { acceptsUnlisted, unlistedTool, whyNotUnlisted, type UnlistedRules } from "./unlisted-tool.ts";
import { renamedRow } from "./renamed-row.ts";
import { whyWithheld } from "./withheld.ts";

export type PromptTarget = Extract<CallTarget, { type: "prompt" }>;
export type CompletionTarget = Extract<CallTarget, { type: "completion" }>;

/** Number of entries of each list, for one source or for all together. */
export interface Counts {
  readonly tools: number;
  readonly resources: number;
  readonly templates: number;
  readonly prompts: number;
}

/** Tool as one view sees it. */
export interface VisibleTool {
  readonly name: string;
  readonly record: ToolRecord;
  /** Entry in MCP form, as in the list. */
  readonly entry: JsonObject;
}

/** Number of changes that a source announced, by list. A missing entry means 0. */
export type Announcements = ReadonlyMap<ListKind, number>;

/** Announcements if no source has announced a change. */
export const NO_ANNOUNCEMENTS: ReadonlyMap<string, Announcements> = new Map();

interface RecordRow extends ListRow {
  readonly record: { readonly source: Source };
}

export interface SnapshotOptions {
  readonly naming: McpNaming;
  /** Problems that belong to no listing. */
  readonly problems?: readonly Problem[];
  /** For each source id: the number of announced changes by list. */
  readonly announcements?: ReadonlyMap<string, Announcements>;
  /** Configured sources, running or not. The sources of the parts need not be included. */
  readonly sources?: readonly Source[];
  /**
   * True if the names of the hub's own tools and of the default tools are reserved. If false, a single source may offer
   * every name. @default true
   */
  readonly reserveNames?: boolean;
}

/** Maximum number of lists that are cached for different callers. */
const MAX_CACHED_LISTS = 128;

/** Offer of all sources at one moment, under the names that callers use. Immutable. */
export class Snapshot {
  readonly problems: readonly Problem[];
  /** Finds the source of a spelling, independent of lists. */
  readonly spellings: Spellings;
  readonly counts: { readonly total: Counts; readonly bySource: ReadonlyMap<string, Counts> };
  readonly #parts: readonly SourcePart[];
  readonly #tools: ToolTable;
  readonly #prompts: NamedTable<PromptRecord, PreparedPrompt>;
  readonly #resources: ResourceTable;
  readonly #lists = new Map<string, RowList>();
  readonly #announcements: ReadonlyMap<string, Announcements>;
  readonly #separator: string;
  readonly #unlistedRules: UnlistedRules;
  /**
   * True if a source is private. One private source makes every list private, because the hub does not know which
   * callers may see its entries.
   */
  readonly #isPrivate: boolean;

  /** `parts` must be in order of precedence. */
  constructor(
    parts: readonly SourcePart[],
    { naming, problems = [], announcements = NO_ANNOUNCEMENTS, sources = [], reserveNames = true }: SnapshotOptions,
  ) {
    this.#parts = parts;
    this.#announcements = announcements;
    this.#separator = naming.separator;
    const known = [...sources, ...parts.map(({ source }) => source)].filter(
      (source) => reserveNames || !isHubItself(source),
    );
    const all = [...new Map(known.map((source) => [source.id, source])).values()];
    const tools = parts.flatMap((part) => part.tools.map(({ record }) => record));
    const policies = reserveNames || all.length > 1 ? namePolicies(all, { naming, reserveNames, tools }) : undefined;
    this.spellings = policies?.spellings ?? new Spellings(all, { naming });
    this.#isPrivate = parts.some(({ listing }) => listing.isPrivate === true);
    const inOwnOrder = new Set(
      parts.filter(({ listing }) => listing.isOrdered === true).map(({ source }) => source.id),
    );
    this.#resources = new ResourceTable(parts, inOwnOrder);
    const options = { naming, inOwnOrder, claims: new NameClaims(parts, naming.separator) };
    this.#unlistedRules = { ...options, policy: policies?.tools };
    this.#tools = createToolTable(parts, { ...options, policy: policies?.tools }, (id, uri) =>
      this.#resources.shownUri(id, uri),
    );
    this.#prompts = new NamedTable(
      "prompt",
      parts.flatMap((part) => part.prompts),
      { ...options, policy: policies?.prompts },
    );
    this.problems = [
      ...problems,
      ...parts.flatMap((part) => part.problems),
      ...this.#tools.problems,
      ...this.#prompts.problems,
      ...this.#resources.problems,
    ];
    this.counts = countsOf(parts);
  }

  /** Returns one list as the view shows it, in the order of `inListOrder`. It is serialised once and cached. */
  list(kind: ListKind, view: View): RenderedList {
    return this.rowList(kind, view);
  }

  /** Prepares the most frequently used list before the first request. */
  prepare(): void {
    const list = this.list("tools", { mode: "normal", principal: LOCAL_PRINCIPAL });
    void [list.entries, list.bytes];
  }

  /** Returns the same list in a form that can be compared with another snapshot's list. */
  rowList(kind: ListKind, view: View): RowList {
    const { key } = permissionOf(view.principal.rights);
    const { toolNames = "mcp" } = view.principal;
    const cacheKey = `${kind} ${kind === "tools" ? `${view.mode} ${toolNames}` : ""} ${key}`;
    let list = this.#lists.get(cacheKey);
    if (!list) {
      const rows = this.#rows(kind, view);
      list = new RowList(rows, { isPrivate: this.#isPrivate, announcements: this.#announcementsIn(kind, rows) });
      if (this.#lists.size >= MAX_CACHED_LISTS) this.#lists.delete(this.#lists.keys().next().value!);
      this.#lists.set(cacheKey, list);
    }
    return list;
  }

  /** Returns the listed tools of the view, with their records. */
  tools(view: View): readonly VisibleTool[] {
    return listedTools(this.#permitted(this.#tools.listed, view), view.mode).map(({ key, record, entry }) => ({
      name: key,
      record,
      entry,
    }));
  }

  /**
   * Returns the ids of the sources of which this caller may use at least one entry. Search tools do not count, because
   * they return only what the caller may use.
   */
  sourcesFor(principal: Principal): ReadonlySet<string> {
    const view: View = { mode: "all", principal };
    const tools = this.#permitted(this.#tools.rows, view).filter(({ record }) => record.role !== "discovery");
    const permission = permissionOf(principal.rights);
    const others = [
      ...this.#prompts.permitted(this.#prompts.rows, permission),
      ...this.#resources.permitted(this.#resources.resources, permission),
      ...this.#resources.permitted(this.#resources.templates, permission),
    ];
    return new Set([...tools, ...others].map(({ record }) => record.source.id));
  }

  /**
   * Returns the tool to which a name in any spelling resolves. Every tool can be called by its name, listed or not
   * (T24).
   */
  resolveTool(name: string, view: View): Lookup<ToolTarget> {
    const lookup = this.#tools.resolve(name, view, (tool) => ({ type: "tool", tool }));
    return lookup.found ? lookup : (this.#unlisted(name, view) ?? lookup);
  }

  /** Returns the tool with this name if the name's source accepts tools that it does not list. */
  #unlisted(name: string, { principal }: View): Lookup<ToolTarget> | undefined {
    if (!this.#parts.some(acceptsUnlisted) || this.#tools.candidates(name).length > 0) return undefined;
    const [reading, part] = this.#belongsTo(name);
    const found = reading && part && unlistedTool(part, reading, this.#unlistedRules);
    if (!found || !permissionOf(principal.rights).permits(found.subject)) return undefined;
    const { tool, name: key, subject } = found;
    return { found: true, source: tool.source, name: key, subject, target: { type: "tool", tool }, isUnlisted: true };
  }

  /** Reads a spelling. Returns the parts of the name, and the source if the name belongs to exactly one. */
  #belongsTo(name: string): readonly [reading?: SpellingParts, part?: SourcePart] {
    const reading = this.spellings.read(name);
    const owned = reading ? this.#parts.filter(({ source }) => reading.owners.has(source.id)) : [];
    return reading && owned.length === 1 ? [reading, owned[0]!] : [];
  }

  /**
   * Returns the server to which a spelling belongs, for the message that its list does not contain this tool. Returns
   * `undefined` if the configuration permits unlisted tools of the server.
   */
  notListing(name: string): Source | undefined {
    const [, part] = this.#belongsTo(name);
    const isServer = part && factsOf(part.source.kind).oneServer && part.source.outage === undefined;
    const isKnown = isServer && part.listing !== EMPTY_LISTING && part.listing.withheld === undefined;
    return isKnown && part.source.shape?.unlisted !== true ? part.source : undefined;
  }

  /**
   * Returns the reason why a tool of this name is not offered, if a source knows it. Must not be used for callers with
   * narrowed rights.
   */
  whyWithheld(name: string): string | undefined {
    const [reading, part] = this.#belongsTo(name);
    return whyWithheld(this.#parts, name, this.spellings.read(name)) ?? (part && whyNotUnlisted(part, reading!));
  }

  /** Returns true if a source lists at least one entry. */
  isListed(id: string): boolean {
    return this.withheldBy(id) === undefined && Object.values(this.counts.bySource.get(id) ?? {}).some((n) => n > 0);
  }

  /** Returns the failure for calls to a source that lists no entries, or `undefined` if it lists some. */
  withheldBy(id: string): Fail | undefined {
    return this.#parts.find(({ source }) => source.id === id)?.listing.withheld;
  }

  /** Returns the MCP form of the tool with this rendered name, as in the widest list. */
  toolEntry(name: string): JsonObject | undefined {
    return this.#tools.rows.find((row) => row.key === name)?.entry;
  }

  resolvePrompt(name: string, view: View): Lookup<PromptTarget> {
    return this.#prompts.resolve(name, view, (prompt) => ({ type: "prompt", prompt }));
  }

  /** Returns the source that serves a URI. `target.uri` is the source's own URI. */
  resolveResource(uri: string, view: View): Lookup<ResourceTarget> {
    return this.#resources.resolve(uri, view);
  }

  /** Returns the source with the prefix of a URI, even if it does not have that URI. */
  sourceOfUri(uri: string): Source | undefined {
    return this.#resources.prefixOwner(uri);
  }

  /** Resolves the `ref` of `completion/complete`. The `ref` of the target has the source's own name or URI. */
  resolveCompletion(ref: JsonObject, view: View): Lookup<CompletionTarget> {
    const name = stringMember(ref, "name");
    const uri = stringMember(ref, "uri");
    if (ref["type"] === "ref/prompt" && name !== undefined) {
      const lookup = this.resolvePrompt(name, view);
      if (!lookup.found) return lookup;
      const { prompt } = lookup.target;
      return { ...lookup, target: { type: "completion", ref: { ...ref, name: prompt.name }, prompt } };
    }
    if (ref["type"] === "ref/resource" && uri !== undefined) return this.#resolveResourceRef(ref, uri, view);
    const message =
      '`ref` must be `{type: "ref/prompt", name}` or `{type: "ref/resource", uri}`. ' +
      "Name a listed prompt or resource template.";
    return { found: false, failure: fail("invalid_params", message) };
  }

  /** Returns a tool's name on a surface, or `undefined` if this snapshot does not offer the tool. */
  toolName(record: ToolRecord, surface: Surface = "mcp"): string | undefined {
    return this.#tools.nameOf(record, surface);
  }

  /**
   * Returns the name of a tool in the form that the caller's lists use: the name for model APIs, or the given MCP name.
   * Returns the given name if not exactly one tool matches.
   */
  toolNameFor(name: string, { toolNames }: Principal): string {
    const [row, ...others] = toolNames === "model" ? this.#tools.candidates(name) : [];
    return row && others.length === 0 ? (this.#tools.nameOf(row.record, "model") ?? name) : name;
  }

  /** Returns the shown form of a source's own URI. */
  shownUri(sourceId: string, uri: string): string {
    return this.#resources.shownUri(sourceId, uri);
  }

  /** Returns the URIs of one source as callers see them. Returns `undefined` if they are unchanged. */
  urisOf(sourceId: string): SourceUris | undefined {
    return this.#resources.urisOf(sourceId);
  }

  /** Data for a search. */
  get searchable(): { readonly tools: ToolTable; readonly parts: readonly SourcePart[]; readonly separator: string } {
    return { tools: this.#tools, parts: this.#parts, separator: this.#separator };
  }

  #permitted(rows: readonly PreparedTool[], { principal }: View): readonly PreparedTool[] {
    return this.#tools.permitted(rows, permissionOf(principal.rights));
  }

  /** Counts the announcements of the sources with at least one entry in the list. */
  #announcementsIn(kind: ListKind, rows: readonly RecordRow[]): number {
    if (this.#announcements.size === 0) return 0;
    const sources = new Set(rows.map(({ record }) => record.source.id));
    return Array.from(sources).reduce((sum, id) => sum + (this.#announcements.get(id)?.get(kind) ?? 0), 0);
  }

  #rows(kind: ListKind, view: View): readonly RecordRow[] {
    if (kind === "tools") return this.#toolRows(view);
    const permission = permissionOf(view.principal.rights);
    const { resources, templates } = this.#resources;
    if (kind === "resources") return this.#resources.permitted(resources, permission);
    if (kind === "templates") return this.#resources.permitted(templates, permission);
    return this.#prompts.permitted(this.#prompts.listed, permission);
  }

  #toolRows(view: View): readonly RecordRow[] {
    const rows = listedTools(this.#permitted(this.#tools.listed, view), view.mode);
    if (view.principal.toolNames !== "model") return rows;
    return rows.map((row) => renamedRow(row, this.#tools.nameOf(row.record, "model") ?? row.key, "name"));
  }

  #resolveResourceRef(ref: JsonObject, uri: string, view: View): Lookup<CompletionTarget> {
    const row = this.#resources.templateShownAs(uri);
    const subject = row && this.#resources.templateSubject(row);
    if (row && subject && permissionOf(view.principal.rights).permits(subject)) {
      const template = row.record;
      return {
        found: true,
        source: template.source,
        name: row.key,
        subject,
        target: { type: "completion", ref: { ...ref, uri: template.uriTemplate }, template },
      };
    }
    const lookup = this.resolveResource(uri, view);
    if (!lookup.found) return lookup;
    const { template } = lookup.target;
    return {
      ...lookup,
      target: { type: "completion", ref: { ...ref, uri: lookup.target.uri }, ...(template ? { template } : {}) },
    };
  }
}

function countsOf(parts: readonly SourcePart[]): Snapshot["counts"] {
  const bySource = new Map(
    parts.map(({ source, tools, resources, templates, prompts }): [string, Counts] => [
      source.id,
      { tools: tools.length, resources: resources.length, templates: templates.length, prompts: prompts.length },
    ]),
  );
  const sum = (key: keyof Counts): number => [...bySource.values()].reduce((total, counts) => total + counts[key], 0);
  return {
    bySource,
    total: { tools: sum("tools"), resources: sum("resources"), templates: sum("templates"), prompts: sum("prompts") },
  };
}
