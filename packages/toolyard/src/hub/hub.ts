import type { Lookup } from "../catalog/lookup.ts";
import { toolEntry } from "../catalog/tool-entry.ts";
import { LOCAL_PRINCIPAL, type Call, type Principal } from "../core/calls/call.ts";
import { FailError } from "../core/errors.ts";
import { Emitter } from "../core/events.ts";
import type {
  HubEvents,
  HubPort,
  ListKind,
  RenderedList,
  ServerFacts,
  SourceReport,
  View,
  WaitOptions,
} from "../core/ports/hub-port.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Surface } from "../core/names/names.ts";
import type { Logger, SearchAnswer, SearchBounds } from "../core/ports/ports.ts";
import type { CallTarget, Preparation, Provider, ProviderStatus } from "../core/sources/provider.ts";
import type { Problem, ToolRecord } from "../core/sources/records.ts";
import { permissionOf } from "../core/ports/rights.ts";
import { keptAlive } from "../core/timing/wait.ts";
import type { SignInDesk } from "../core/ports/sign-in-desk.ts";
import { LiveChat } from "./live/chat.ts";
import { NotedProblems } from "./sources/noted-problems.ts";
import { OpenDoors } from "./open-doors.ts";
import { serverFacts } from "./server-facts.ts";
import { SourceEvents } from "./sources/source-events.ts";
import { LogLevels } from "./log-levels.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { LoadedHubConfig } from "./schema.ts";
import { lookBehind } from "./sources/absent-services.ts";
import { asSaidBehind } from "./behind.ts";
import { passThroughProvider } from "./pass-through.ts";
import { wantedOf } from "./resolve.ts";
import type { HubParts } from "./hub-parts.ts";
import type { SourceChanges } from "./sources/source-set.ts";
import type { HubState } from "../state/ports/store.ts";
import { toolyardOf, type Identity, type Toolyard } from "./toolyard.ts";

/** A tool as a surface shows it. */
export interface SurfaceTool {
  readonly name: string;
  readonly record: ToolRecord;
  /** The wire shape of the MCP surface. */
  readonly entry: JsonObject;
}

export interface SettledOptions {
  /**
   * The time does not run while something is downloaded, nor while the machine keeps a start from working: both have
   * bounds of their own. @default false
   */
  readonly installs?: boolean;
  /** Waits also for sources that read changed lists. @default false */
  readonly lists?: boolean;
}

const WHOLE_VIEW: View = { mode: "all", principal: LOCAL_PRINCIPAL };
/** A connection's state may change without an event that tells it. */
const STATE_LOOK_MS = 100;

/** The one place that knows everybody: what doors ask of it goes to the catalog, the pipeline and the sources. */
export class Hub implements HubPort {
  readonly events: HubEvents = { listsChanged: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly startedAt = new Date();
  readonly doors = new OpenDoors();
  /** Sign-ins to sources that wait for a browser. */
  readonly signIns: SignInDesk;
  /** The agent, for doors that offer it. */
  readonly chat: LiveChat;
  readonly logger: Logger;
  readonly #parts: HubParts;
  readonly #levels: LogLevels;
  readonly #heard: SourceEvents;
  readonly #noted = new NotedProblems();
  #pipeline: Pipeline;
  #config: LoadedHubConfig;
  #closed: Promise<void> | undefined;

  constructor(parts: HubParts) {
    this.#parts = parts;
    this.#config = parts.config;
    this.#pipeline = parts.createPipeline(parts.config);
    this.logger = parts.logger;
    this.signIns = parts.signIns;
    this.chat = new LiveChat(this, parts.variables);
    this.#levels = new LogLevels(parts.logger);
    this.#heard = new SourceEvents({
      catalog: parts.catalog,
      events: this.events,
      redactIn: (value) => parts.redactIn(value),
    });
    parts.catalog.changed.on((change) => this.events.listsChanged.emit(change));
  }

  get state(): HubState {
    return this.#parts.state;
  }

  get config(): LoadedHubConfig {
    return this.#config;
  }

  /** The hub as a program sees it. Closing it closes the hub. */
  toolyard(identity: Identity): Toolyard {
    return toolyardOf(
      {
        port: this,
        search: (query, view, bounds) => this.search(query, view, bounds),
        close: () => this.close(),
      },
      identity,
    );
  }

  async list(kind: ListKind, view: View, { waits = true }: WaitOptions = {}): Promise<RenderedList> {
    const catalog = this.#parts.catalog.for(view.principal);
    return (waits ? await catalog.snapshot() : catalog.current).list(kind, view);
  }

  /**
   * What the view lists, with the names of another surface. Sources that have not answered after `waitMs` are taken as
   * last known.
   */
  async tools(surface: Surface, view: View, waitMs?: number): Promise<readonly SurfaceTool[]> {
    const snapshot = await this.#parts.catalog.for(view.principal).snapshot(waitMs);
    return snapshot
      .tools(view)
      .map(({ name, record, entry }) => ({ name: snapshot.toolName(record, surface) ?? name, record, entry }));
  }

  /**
   * Reads a source's lists from the source itself. False: there is no such source, or it looks at every listing.
   * Rejects with a `FailError`.
   */
  async refresh(sourceId: string, signal: AbortSignal): Promise<boolean> {
    const provider = this.#parts.sources.find(sourceId);
    if (!provider?.refresh) return false;
    await provider.refresh(signal);
    return true;
  }

  async search(query: string, view: View, bounds: SearchBounds): Promise<SearchAnswer> {
    const catalog = this.#parts.catalog.for(view.principal);
    const answer = await catalog.search(query, view, bounds);
    if (view.principal.toolNames !== "model") return answer;
    const named = (name: string): string => catalog.current.toolNameFor(name, view.principal);
    return { ...answer, hits: answer.hits.map((hit) => ({ ...hit, name: named(hit.name) })) };
  }

  /** The tool that a spelling means to this caller, listed or not, in its wire shape; or why there is none. */
  async describeTool(
    spelling: string,
    view: View,
  ): Promise<{ readonly found: true; readonly entry: JsonObject } | { readonly found: false; readonly failure: Fail }> {
    const catalog = this.#parts.catalog.for(view.principal);
    let seen = catalog.current;
    const find = (): Lookup | Promise<Lookup> =>
      catalog.lookUp<CallTarget>({ text: spelling, isUri: false, view }, (snapshot) =>
        (seen = snapshot).resolveTool(spelling, view),
      );
    const wanted = wantedOf({ name: spelling, principal: view.principal }, this.#parts);
    const { lookup } = await lookBehind(await find(), wanted, { find });
    if (!lookup.found) return lookup;
    const { name, target } = lookup;
    const unlisted = target.type === "tool" ? toolEntry(target.tool, name) : {};
    const entry = seen.toolEntry(name) ?? unlisted;
    const shown = seen.toolNameFor(name, view.principal);
    return { found: true, entry: shown === name ? entry : { ...entry, name: shown } };
  }

  call(call: Call): Promise<Outcome> {
    if (this.#closed)
      return Promise.resolve(fail("unavailable", "The hub is shutting down. Try again once it is back."));
    const outcome = this.#pipeline(call);
    return this.#parts.isMirror ? outcome.then(asSaidBehind) : outcome;
  }

  passesOn(_method: string, principal: Principal): boolean {
    return passThroughProvider(this.#parts, principal) !== undefined;
  }

  async facts(principal: Principal, { waits = true }: WaitOptions = {}): Promise<ServerFacts> {
    return serverFacts(this.#parts, principal, waits);
  }

  async subscribe(uri: string, caller: Pick<Call, "principal" | "client">): Promise<() => Promise<void>> {
    const view: View = { mode: "all", principal: caller.principal };
    const lookup = await this.#parts.catalog
      .for(caller.principal)
      .lookUp({ text: uri, isUri: true, view }, (snapshot) => snapshot.resolveResource(uri, view));
    if (!lookup.found) throw new FailError(lookup.failure);
    const provider = this.#parts.sources.find(lookup.source.id);
    if (provider?.subscribe) return provider.subscribe(lookup.target.uri, caller);
    throw new FailError(
      fail(
        "tool_error",
        `${lookup.source.id} does not tell when its resources change, so ${uri} cannot be subscribed to.`,
      ),
    );
  }

  setLogLevel(connection: string, level: string): Promise<void> {
    return this.#levels.set(connection, level, this.#parts.sources.providers);
  }

  rootsChanged(connection: string): void {
    for (const provider of this.#parts.sources.providers) provider.rootsChanged?.(connection);
  }

  release(connection: string): void {
    const { providers } = this.#parts.sources;
    for (const provider of providers) provider.release?.(connection);
    void this.#levels.release(connection, providers);
  }

  sources(): readonly SourceReport[] {
    const { current } = this.#parts.catalog;
    return this.#parts.sources.providers.map((provider) => {
      const { source } = provider;
      const counts = current.counts.bySource.get(source.id);
      return {
        source,
        status: this.#parts.redactIn(provider.status()),
        tools: counts?.tools ?? 0,
        resources: (counts?.resources ?? 0) + (counts?.templates ?? 0),
        prompts: counts?.prompts ?? 0,
        problems: this.#parts.redactIn([
          ...current.problems.filter((problem) => problem.source === source.id),
          ...this.#noted.of(source.id),
        ]),
      };
    });
  }

  /** The rendered name of the one tool that a spelling means to this caller. */
  nameOf(spelling: string, principal: Principal): string | undefined {
    const lookup = this.#parts.catalog.for(principal).current.resolveTool(spelling, { mode: "all", principal });
    return lookup.found ? lookup.name : undefined;
  }

  /** Ids of the sources that a spelling belongs to, whatever they list. Empty for a bare name. */
  ownersOf(spelling: string): ReadonlySet<string> {
    return this.#parts.catalog.current.spellings.read(spelling)?.owners ?? new Set();
  }

  /** What there is, as far as the principal may see it. */
  counts(principal: Principal): { readonly tools: number; readonly resources: number } {
    const { current } = this.#parts.catalog.for(principal);
    const { tools, resources, templates } = current.counts.total;
    if (!permissionOf(principal.rights).isNarrowed) return { tools, resources: resources + templates };
    const seen = (kind: ListKind): number => current.list(kind, { mode: "all", principal }).entries.length;
    return { tools: seen("tools"), resources: seen("resources") + seen("templates") };
  }

  /** How many tools there are beside the two that find the others. */
  registeredTools(principal: Principal): number {
    const tools = this.#parts.catalog.for(principal).current.tools({ mode: "all", principal });
    return tools.filter(({ record }) => record.role !== "discovery").length;
  }

  /** How many tools of a source are listed, and how many are found by search only. */
  visibilities(sourceId: string): { readonly native: number; readonly ondemand: number } {
    const own = this.#parts.catalog.current.tools(WHOLE_VIEW).filter(({ record }) => record.source.id === sourceId);
    const native = own.filter(({ record }) => record.visibility === "native").length;
    return { native, ondemand: own.length - native };
  }

  /** Some source is being downloaded. */
  get isInstalling(): boolean {
    return this.#parts.sources.providers.some((provider) => provider.status().installing !== undefined);
  }

  /** Downloads anew what of a source is broken. False: it downloads nothing. Rejects with a `FailError`. */
  async mend(sourceId: string, signal: AbortSignal): Promise<boolean> {
    const provider = this.#parts.sources.find(sourceId);
    if (!provider?.mend) return false;
    await provider.mend(signal);
    return true;
  }

  /** What tools of the sources need installed, by source. Nothing is installed by asking. */
  async preparations(): Promise<readonly (Preparation & { readonly source: string })[]> {
    const lists = this.#parts.sources.providers.map(async (provider) =>
      ((await provider.preparations?.()) ?? []).map((one) => ({ ...one, source: provider.source.id })),
    );
    return (await Promise.all(lists)).flat();
  }

  /** Resolves once no source is starting any more, or after `withinMs`. */
  async settled(withinMs: number, { installs = false, lists = false }: SettledOptions = {}): Promise<void> {
    let until = performance.now() + withinMs;
    await this.list("tools", WHOLE_VIEW);
    const isStarting = (): boolean =>
      this.#parts.sources.providers.some((provider) => isUnderWay(provider.status(), lists)) ||
      (installs && this.isInstalling);
    let delayedMs = 0;
    while (performance.now() < until + delayedMs && isStarting()) {
      await new Promise((done) => void setTimeout(done, STATE_LOOK_MS));
      // What was downloaded starts then, and has the same time for it.
      if (installs && this.isInstalling) until = performance.now() + withinMs;
      // A start that the machine keeps from working has as much more time, up to a bound of its own.
      if (installs) delayedMs = Math.max(delayedMs, this.#delayedMs());
    }
    // A source is connected a moment before its list is in the catalog.
    await this.list("tools", WHOLE_VIEW);
  }

  /** How much of its time the machine took from a start under way, at most. */
  #delayedMs(): number {
    return Math.max(0, ...this.#parts.sources.providers.map((provider) => provider.status().delayedMs ?? 0));
  }

  /** Takes a problem that only a call could find, such as a schema that cannot be compiled. */
  noteProblem(problem: Problem): void {
    this.#noted.note(problem);
  }

  /** Text without the configuration's secrets. */
  redact(text: string): string {
    return this.#parts.redact(text);
  }

  /**
   * Brings sources and bounds to what the configuration says; sources that did not change go on untouched. Rejects,
   * with everything as it was, when an option cannot be used.
   */
  async reconfigure(config: LoadedHubConfig): Promise<SourceChanges> {
    this.#parts.hide(config.secrets);
    const planned = this.#parts.planner.plan(config, {
      folder: config.folder,
      isHosted: this.#parts.isHosted,
      isForAll: this.doors.isForAll,
    });
    this.#parts.assignSecrets(planned);
    const keepsBounds = JSON.stringify(config.tree.limits) === JSON.stringify(this.#config.tree.limits);
    // What runs keeps its places in queues and its circuits, so the pipeline is not made anew without need.
    const pipeline = keepsBounds ? this.#pipeline : this.#parts.createPipeline(config);
    const changes = await this.#parts.sources.apply(planned, {
      onAdded: (provider) => this.#attach(provider),
      onRemoved: (provider) => this.#detach(provider),
    });
    this.#parts.catalog.configure(this.#parts.planner.sources);
    this.#pipeline = pipeline;
    this.#config = config;
    return changes;
  }

  /** Ends everything. Calls in flight are the doors' business: they stop taking calls and wait first. */
  close(): Promise<void> {
    this.#closed ??= keptAlive(this.#close());
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#parts.catalog.close();
    await this.#parts.sources.close();
    await this.#parts.closeParts();
  }

  #attach(provider: Provider): void {
    this.#heard.listenTo(provider);
    this.#parts.catalog.add(provider);
    void this.#levels.tell(provider);
  }

  #detach(provider: Provider): void {
    const { id } = provider.source;
    this.#heard.leave(provider);
    this.#noted.forget(id);
    this.#parts.catalog.remove(id);
  }
}

function isUnderWay({ state, isListing = false }: ProviderStatus, lists: boolean): boolean {
  return state === "starting" || (lists && isListing);
}
