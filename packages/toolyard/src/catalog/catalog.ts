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
import { Finder, type Find } from "./finder.ts";
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
  /** Replaced with each announcement. */
  announcements: Announcements;
}

/** What one snapshot was made of, to tell whether it still holds. */
interface Ingredient {
  readonly entry: SourceEntry;
  readonly listing: Listing;
  readonly problem: Problem | undefined;
  readonly announcements: Announcements;
}

/** What a catalog is made with beside its options and providers. */
export interface CatalogParts {
  /** Takes a source's own secrets out of its definitions. @default nothing is taken out */
  readonly hide?: HideSecrets;
  /** Whose catalog it is. @default everybody's */
  readonly owner?: Principal;
  /** What several catalogs of the same sources share. @default one of its own */
  readonly maker?: PartMaker;
  /** Hears of definitions that are withheld or repaired. @default nobody does */
  readonly logger?: Logger;
  /** All sources that are configured, whether the catalog has them or not. @default those of the providers */
  readonly configured?: readonly Source[];
}

/** Catalogs of one principal each that are kept at once; one more takes the place of the least used. */
const MAX_PERSONAL = 256;

/**
 * The tools, resources and prompts of all providers under the names that callers use. Providers come and go while it
 * runs; opening and closing them is their owner's business. Where a source is per person, each principal has a catalog
 * of its own.
 */
export class Catalog {
  /**
   * A list changed in at least one view, or a source announced that it did. Bursts of changes make one event; a change
   * that no list shows makes none.
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
  /** Of the entries, in their order. */
  #gates: readonly ListingGate[] = [];
  #ingredients: readonly Ingredient[] = [];
  #current: Snapshot;
  #announced: Snapshot | undefined;
  #timer: NodeJS.Timeout | undefined;
  #announcing = 0;
  #evidence: () => Promise<EvidenceSource> | undefined = () => undefined;
  #isClosed = false;
  #configured: readonly Source[];
  /** What `#configured` was for the current snapshot. */
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
    this.#finder = new Finder({
      separator: options.naming.separator,
      gates: () => this.#gates,
      latest: () => this.#rebuild(),
    });
    for (const provider of providers) this.add(provider);
  }

  /** What this principal sees: this very catalog, unless a source is per person. */
  for(principal: Principal): Catalog {
    if (!this.#isPerPerson) return this;
    const own = this.#personal.get(principal.id) ?? this.#createFor(principal);
    // The one that was used last stands last.
    this.#personal.delete(principal.id);
    this.#personal.set(principal.id, own);
    return own;
  }

  /** The catalog of its own of a principal that was seen before. */
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

  /** The latest snapshot, without asking anybody. */
  get current(): Snapshot {
    return this.#current;
  }

  /** What stands between a namespace and a name. */
  get separator(): string {
    return this.#options.naming.separator;
  }

  /** What a source offered when it was last asked. */
  listingOf(sourceId: string): Listing {
    return this.#entries.find(({ gate }) => gate.provider.source.id === sourceId)?.gate.listing ?? EMPTY_LISTING;
  }

  /** Throws an `OptionError` when another provider has the same source id. */
  add(provider: Provider): void {
    const { id } = provider.source;
    if (this.#entries.some((entry) => entry.gate.provider.source.id === id)) {
      throw new OptionError(`Two sources are called \`${id}\`. Give one of them another name.`);
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

  /** Takes a source out. Tells whether it was there. */
  remove(sourceId: string): boolean {
    const entry = this.#entries.find((one) => one.gate.provider.source.id === sourceId);
    if (!entry) return false;
    release(entry);
    this.#entries = this.#entries.filter((one) => one !== entry);
    this.#providersChanged((personal) => void personal.remove(sourceId));
    return true;
  }

  /**
   * Takes over which sources are configured. Their names are theirs even while the catalog does not have them: a
   * command that starts some sources only reads a name as the whole hub does.
   */
  configure(sources: readonly Source[]): void {
    if (JSON.stringify(sources) === JSON.stringify(this.#configured)) return;
    this.#configured = sources;
    for (const personal of this.#personal.values()) personal.configure(sources);
    this.#schedule();
  }

  #providersChanged(change: (personal: Catalog) => void): void {
    this.#gates = this.#entries.map(({ gate }) => gate);
    this.#isPerPerson = this.#owner === undefined && this.#entries.some(({ gate }) => gate.provider.linkFor);
    for (const personal of this.#personal.values()) change(personal);
    this.#schedule();
  }

  /**
   * What all providers offer as of this moment: each is asked, and whatever was changed before the question is in the
   * answer. Only the parts of sources that answered with a new listing are made anew; when none did, the same snapshot
   * comes back. Whoever has not answered after `waitMs` is in it with what was known before.
   */
  async snapshot(waitMs = Infinity): Promise<Snapshot> {
    const waits = askAll(this.#gates);
    if (waits.size > 0) await within(Promise.all(waits.values()), waitMs);
    return this.#rebuild();
  }

  /**
   * The best tools for a query among those that the view may use (T23, T26): by words, and by likeness where that
   * is known.
   */
  async search(query: string, view: View, bounds: SearchBounds): Promise<SearchAnswer> {
    // Loaded with the first search: a hub whose clients take whole lists never needs it.
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

  /** From now on likeness takes part in searches, if it is known by then. Closing them is their owner's business. */
  searchWith(evidence: () => Promise<EvidenceSource> | undefined): void {
    this.#evidence = evidence;
  }

  /**
   * Finds what a name means, as fresh as `snapshot()` does. Who could not change the answer is not even asked: when the
   * name is spelt as it is shown, those that come after its source. Neither a slow server nor a large folder then
   * delays calls to anybody else. Where nobody has to look, the answer is there at once.
   *
   * What nobody has may be of a source that was never listed: with its prefix it is waited for until it is listed or
   * fails, so the caller's own time is the bound. Without one those that may have it are waited for until their cold
   * wait is over, and are named then.
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
    this.#gates = [];
  }

  // Not async: callers that come at once find the first one's snapshot.
  #rebuild(): Snapshot {
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
    // Nobody has seen a list before the first one, so there is no change to tell.
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
    return this.#entries.every((entry, at) => {
      const last = this.#ingredients[at]!;
      const { listing, problem } = entry.gate;
      const isSame = last.listing === listing && last.problem === problem && last.announcements === entry.announcements;
      return last.entry === entry && isSame;
    });
  }

  /** Everything that a list costs, one record a step: what is done again by its shape and its part is known by then. */
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
    // From here on a change starts the next round; what this round itself finds does not need one.
    this.#timer = undefined;
    this.#announcing += 1;
    // A source that starts tells by itself when it is there; what the others changed is told meanwhile.
    const waits = askAll(this.#gates);
    await Promise.all(Array.from(waits, ([gate, wait]) => (isCold(gate) ? undefined : wait)));
    this.#rebuild();
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

/** Every other view is a part of these two, so nothing changes there that does not change here. */
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
