import { LOCAL_PRINCIPAL, type Principal } from "../core/calls/call.ts";
import { OptionError } from "../core/errors.ts";
import { Emitter } from "../core/events.ts";
import type { ListChange, ListKind, View } from "../core/ports/hub-port.ts";
import { EVERYBODY } from "../core/calls/link-key.ts";
import { renderMcpName } from "../core/names/names.ts";
import type { Logger, SearchAnswer, SearchBounds } from "../core/ports/ports.ts";
import type { CallTarget, ListAnnouncement, Provider } from "../core/sources/provider.ts";
import { EMPTY_LISTING, type Listing, type Problem, type Source } from "../core/sources/records.ts";
import { within } from "../core/timing/wait.ts";
import type { RequestedName } from "./cold-owners.ts";
import { Finder, type Find, type Findable } from "./finder.ts";
import { askAll, isCold, ListingGate } from "./listing-gate.ts";
import type { Lookup } from "./lookup.ts";
import type { CatalogOptions } from "./options.ts";
import { comparePrecedence } from "./precedence.ts";
import type { EvidenceSource } from "./search/likeness/table-search.ts";
import { ListingShaper, withLog } from "./shape-listing.ts";
import { NO_ANNOUNCEMENTS, Snapshot, type Announcements } from "./snapshot.ts";
import { PartMaker, type HideSecrets, type SourcePart } from "./source-part.ts";

interface SourceEntry {
  readonly gate: ListingGate;
  readonly stopListening: () => void;
  part: SourcePart | undefined;
  /** Number of announced changes by list. Each announcement replaces the map. */
  announcements: Announcements;
}

/**
 * State of one source when a snapshot was built. The catalog compares it to decide whether the snapshot is still valid.
 */
interface Ingredient {
  readonly entry: SourceEntry;
  readonly listing: Listing;
  readonly problem: Problem | undefined;
  readonly announcements: Announcements;
}

/** Parameters of a catalog besides its options and providers. */
export interface CatalogParts {
  /** Removes a source's own secrets from its definitions. @default returns texts unchanged */
  readonly hide?: HideSecrets;
  /** Principal of a personal catalog. @default the catalog is shared by all principals */
  readonly owner?: Principal;
  /** Cache that several catalogs of the same sources share. @default a new cache */
  readonly maker?: PartMaker;
  /** Logs definitions that are withheld or repaired. @default no log */
  readonly logger?: Logger;
  /** All configured sources, including sources that are not in the catalog. @default the sources of the providers */
  readonly configured?: readonly Source[];
}

/** Maximum number of personal catalogs. A further one evicts the least recently used. */
const MAX_PERSONAL = 256;

/**
 * Tools, resources and prompts of the providers under the names that callers use. Providers can be added and removed at
 * any time; the owner opens and closes them. If a source is personal, each principal has a separate catalog.
 */
export class Catalog implements Findable {
  /**
   * Emitted when a list changed in at least one view, or a source announced a change. Changes in quick succession emit
   * one event. A change that is not visible in any list emits no event.
   */
  readonly changed = new Emitter<ListChange>();
  readonly #options: CatalogOptions;
  readonly #owner: Principal | undefined;
  readonly #parts: PartMaker;
  readonly #logger: Logger | undefined;
  readonly #personal = new Map<string, Catalog>();
  #isPerPerson = false;
  readonly #finder: Finder;
  #entries: readonly SourceEntry[] = [];
  /** Gate of each entry of `#entries`, in the same order. Only this class sets it; `Finder` reads it in each call. */
  gates: readonly ListingGate[] = [];
  #ingredients: readonly Ingredient[] = [];
  #current: Snapshot;
  #announced: Snapshot | undefined;
  #timer: NodeJS.Timeout | undefined;
  #announcing = 0;
  #evidence: () => Promise<EvidenceSource> | undefined = () => undefined;
  #isClosed = false;
  #configured: readonly Source[];
  /** Value of `#configured` from which the current snapshot was built. */
  #configuredThen: readonly Source[];

  constructor(
    options: CatalogOptions,
    providers: Iterable<Provider> = [],
    { hide, owner, maker, logger, configured = [] }: CatalogParts = {},
  ) {
    this.#options = options;
    this.#owner = owner;
    this.#logger = logger;
    this.#configured = this.#configuredThen = configured;
    this.#parts = maker ?? new PartMaker(options, hide);
    this.#current = this.#snapshotOf([], []);
    this.#finder = new Finder(this);
    for (const provider of providers) this.add(provider);
  }

  /** Returns the catalog that this principal sees. It is this catalog, unless a source is personal. */
  for(principal: Principal): Catalog {
    if (!this.#isPerPerson) return this;
    const own = this.#personal.get(principal.id) ?? this.#createFor(principal);
    // Moves this catalog to the end of the map: the first one is the least recently used.
    this.#personal.delete(principal.id);
    this.#personal.set(principal.id, own);
    return own;
  }

  /** Returns the personal catalog of a principal, if it exists. */
  known(principal: string): Catalog | undefined {
    return this.#personal.get(principal);
  }

  #createFor(owner: Principal): Catalog {
    for (const [oldest, catalog] of this.#personal) {
      if (this.#personal.size < MAX_PERSONAL) break;
      catalog.close();
      this.#personal.delete(oldest);
    }
    const providers = this.#entries.map(({ gate }) => gate.provider);
    const own = new Catalog(this.#options, providers, {
      owner,
      maker: this.#parts,
      configured: this.#configured,
    });
    own.changed.on((change) => this.changed.emit(change));
    own.searchWith(() => this.#evidence());
    return own;
  }

  /** Latest snapshot. Reading it requests no listing from a source. */
  get current(): Snapshot {
    return this.#current;
  }

  /** Text between a namespace and a name. */
  get separator(): string {
    return this.#options.naming.separator;
  }

  /**
   * Returns the last listing of a source, with the configured changes. Empty if the catalog does not have the source.
   */
  listingOf(sourceId: string): Listing {
    return this.#entries.find(({ gate }) => gate.provider.source.id === sourceId)?.gate.listing ?? EMPTY_LISTING;
  }

  /** Adds a source. Throws an `OptionError` if another provider has the same source id. */
  add(provider: Provider): void {
    const { id } = provider.source;
    if (this.#entries.some((entry) => entry.gate.provider.source.id === id)) {
      throw new OptionError(`Two sources are called \`${id}\`. Give one source another name.`);
    }
    const schedule = (): void => this.#schedule();
    const { listWaitMs, naming } = this.#options;
    const shaper = new ListingShaper(provider.source, (tool) => renderMcpName(tool, naming));
    const gate = new ListingGate(provider, {
      link: (this.#owner && provider.linkFor?.(this.#owner)) ?? EVERYBODY,
      maxWaitMs: listWaitMs,
      shape: (listing) => withLog(listing, shaper.shape(listing), this.#logger),
      steps: (listing) => this.#stepsOf(listing, shaper),
      onLate: schedule,
    });
    const stops = [
      provider.events.changed.on(schedule),
      provider.events.announced?.on((announcement) => this.#count(entry, announcement)),
    ];
    const entry: SourceEntry = {
      gate,
      stopListening: () => stops.forEach((stop) => stop?.()),
      part: undefined,
      announcements: new Map(),
    };
    this.#entries = [...this.#entries, entry].toSorted((a, b) =>
      comparePrecedence(a.gate.provider.source, b.gate.provider.source),
    );
    this.#providersChanged((personal) => personal.add(provider));
  }

  /** Removes a source. Returns true if it was present. */
  remove(sourceId: string): boolean {
    const entry = this.#entries.find((one) => one.gate.provider.source.id === sourceId);
    if (!entry) return false;
    release(entry);
    this.#entries = this.#entries.filter((one) => one !== entry);
    this.#providersChanged((personal) => void personal.remove(sourceId));
    return true;
  }

  /**
   * Sets the configured sources. Their names are reserved even if the catalog does not have these sources, so that a
   * command that starts only some sources resolves names like the whole hub.
   */
  configure(sources: readonly Source[]): void {
    if (JSON.stringify(sources) === JSON.stringify(this.#configured)) return;
    this.#configured = sources;
    for (const personal of this.#personal.values()) personal.configure(sources);
    this.#schedule();
  }

  #providersChanged(change: (personal: Catalog) => void): void {
    this.gates = this.#entries.map(({ gate }) => gate);
    this.#isPerPerson = this.#owner === undefined && this.#entries.some(({ gate }) => gate.provider.linkFor);
    for (const personal of this.#personal.values()) change(personal);
    this.#schedule();
  }

  /**
   * Returns the current offer of all providers. Each provider is requested, and the snapshot includes every change that
   * was made before the request. Only the parts of sources with a new listing are rebuilt; if there are none, the same
   * snapshot is returned. A source that has not answered after `waitMs` contributes its last listing.
   */
  async snapshot(waitMs = Infinity): Promise<Snapshot> {
    const waits = askAll(this.gates);
    if (waits.size > 0) await within(Promise.all(waits.values()), waitMs);
    return this.latest();
  }

  /**
   * Returns the best tools for a query among those that the view may use (T23, T26): by words, and by similarity if
   * vectors are available.
   */
  async search(query: string, view: View, bounds: SearchBounds): Promise<SearchAnswer> {
    // Loads the search with the first query. A hub whose clients only list tools never loads it.
    const [{ prepareSearch, searchTools, searchWith }, snapshot] = await Promise.all([
      import("./search/search-tools.ts"),
      this.snapshot(),
    ]);
    await prepareSearch(snapshot, view);
    const evidence = await this.#evidence();
    const { limit, ...filter } = bounds;
    const asked = { query, view, limit, filter };
    return evidence ? searchWith(snapshot, asked, evidence) : searchTools(snapshot, asked);
  }

  /** Sets the evidence that later searches use in addition to words. The caller closes the evidence. */
  searchWith(evidence: () => Promise<EvidenceSource> | undefined): void {
    this.#evidence = evidence;
  }

  /**
   * Resolves a name with the same freshness as `snapshot()`. Skips sources that cannot change the result: for a name
   * that is spelled as listed, the sources of lower precedence. Therefore a slow server or a large folder does not
   * delay calls to others. Returns synchronously if no source must be requested.
   *
   * A name that no source lists may belong to a source that was never listed. With the prefix of that source, the call
   * waits until the source is listed or fails, within the caller's own time limit. Without a prefix, the call waits
   * until the cold start of the possible sources ends; if they are still not listed, the failure names them.
   */
  lookUp<T extends CallTarget>(asked: RequestedName, find: Find<T>): Lookup<T> | Promise<Lookup<T>> {
    return this.#finder.lookUp(asked, find);
  }

  /** Stops listening and announcing. The last snapshot stays readable. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const entry of this.#entries) release(entry);
    for (const personal of this.#personal.values()) personal.close();
    this.#personal.clear();
    this.#entries = [];
    this.gates = [];
  }

  /**
   * Returns the snapshot of the known listings, without requests to sources. Not async, so that concurrent callers
   * share the snapshot of the first one.
   */
  latest(): Snapshot {
    if (this.#isClosed || this.#isUpToDate()) return this.#current;
    const parts = this.#entries.map((entry) => this.#partOf(entry));
    this.#ingredients = this.#entries.map((entry) => ({
      entry,
      listing: entry.gate.listing,
      problem: entry.gate.problem,
      announcements: entry.announcements,
    }));
    this.#configuredThen = this.#configured;
    const problems = this.#entries.flatMap(({ gate }) => gate.problem ?? []);
    this.#current = this.#snapshotOf(parts, problems);
    // The first snapshot announces no change, because no client has seen an earlier list.
    if (!this.#announced) this.#announced = this.#current;
    else if (this.#announcing === 0) this.#schedule();
    return this.#current;
  }

  #snapshotOf(parts: readonly SourcePart[], problems: readonly Problem[]): Snapshot {
    const { naming, reserveNames } = this.#options;
    const announcements = announcementsOf(this.#entries);
    return new Snapshot(parts, { naming, reserveNames, problems, announcements, sources: this.#configured });
  }

  #isUpToDate(): boolean {
    const { length } = this.#ingredients;
    if (length !== this.#entries.length || !this.#announced || this.#configured !== this.#configuredThen) return false;
    for (let at = 0; at < length; at += 1) {
      const entry = this.#entries[at]!;
      const last = this.#ingredients[at]!;
      const { listing, problem } = entry.gate;
      const isSame = last.listing === listing && last.problem === problem && last.announcements === entry.announcements;
      if (last.entry !== entry || !isSame) return false;
    }
    return true;
  }

  /** Prepares one record per step, so that the synchronous work afterwards only reads caches. */
  *#stepsOf(listing: Listing, shaper: ListingShaper): Generator<void, void> {
    yield* shaper.steps(listing);
    yield* this.#parts.steps(shaper.shape(listing));
  }

  /** Counts an announcement, unless it is for another principal. */
  #count(entry: SourceEntry, { lists, principal }: ListAnnouncement): void {
    if (principal !== undefined && principal !== this.#owner?.id) return;
    const counts = new Map(entry.announcements);
    for (const kind of lists) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    entry.announcements = counts;
  }

  #partOf(entry: SourceEntry): SourcePart {
    const { provider, listing } = entry.gate;
    if (entry.part?.listing !== listing) entry.part = this.#parts.make(provider.source, listing);
    return entry.part;
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer) return;
    this.#timer = setTimeout(() => void this.#announce(), this.#options.changeDelayMs);
    this.#timer.unref();
  }

  async #announce(): Promise<void> {
    // A change after this line starts another announcement. Changes that this announcement finds do not.
    this.#timer = undefined;
    this.#announcing += 1;
    // A source that is starting announces itself when it is ready. Until then, changes of the other sources are
    // reported without it.
    const waits = askAll(this.gates);
    await Promise.all(Array.from(waits, ([gate, wait]) => (isCold(gate) ? undefined : wait)));
    this.latest();
    this.#announcing -= 1;
    if (this.#isClosed || !this.#announced) return;
    const [before, after] = [this.#announced, this.#current];
    this.#announced = after;
    after.prepare();
    const lists = before === after ? [] : LIST_KINDS.filter((kind) => isChanged(kind, before, after));
    if (lists.length > 0) this.changed.emit({ lists });
  }
}

const LIST_KINDS: readonly ListKind[] = ["tools", "resources", "templates", "prompts"];

/** Views of which every other view is a subset. A change in any view is a change in one of these. */
const WIDEST_VIEWS: readonly View[] = [
  { mode: "normal", principal: LOCAL_PRINCIPAL },
  { mode: "all", principal: LOCAL_PRINCIPAL },
];

function isChanged(kind: ListKind, before: Snapshot, after: Snapshot): boolean {
  return WIDEST_VIEWS.some((view) => {
    const [old, now] = [before.rowList(kind, view), after.rowList(kind, view)];
    return old.announcements !== now.announcements || !old.equals(now);
  });
}

function announcementsOf(entries: readonly SourceEntry[]): ReadonlyMap<string, Announcements> {
  const known = entries.filter(({ announcements }) => announcements.size > 0);
  return known.length === 0
    ? NO_ANNOUNCEMENTS
    : new Map(known.map(({ gate, announcements }) => [gate.provider.source.id, announcements]));
}

function release(entry: SourceEntry): void {
  entry.stopListening();
  entry.gate.close();
}
