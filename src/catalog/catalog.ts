import { LOCAL_PRINCIPAL } from "../core/call.ts";
import { OptionError } from "../core/errors.ts";
import { Emitter } from "../core/events.ts";
import type { ListChange, ListKind, View } from "../core/hub-port.ts";
import type { SearchAnswer, SearchFilter } from "../core/ports.ts";
import type { CallTarget, Provider } from "../core/provider.ts";
import type { Listing, Problem, Source } from "../core/records.ts";
import { ListingGate } from "./listing-gate.ts";
import type { Found, Lookup } from "./lookup.ts";
import type { CatalogOptions } from "./options.ts";
import { comparePrecedence } from "./precedence.ts";
import type { SemanticSearch } from "./search/semantic/semantic-search.ts";
import { Snapshot } from "./snapshot.ts";
import { PartMaker, type SourcePart } from "./source-part.ts";

interface Entry {
  readonly gate: ListingGate;
  readonly stopListening: () => void;
  part: SourcePart | undefined;
}

/** What one snapshot was made of, to tell whether it still holds. */
interface Ingredient {
  readonly entry: Entry;
  readonly listing: Listing;
  readonly problem: Problem | undefined;
}

/**
 * The tools, resources and prompts of all providers under the names that callers use. Providers come and go while it runs; opening and
 * closing them is their owner's business.
 */
export class Catalog {
  /** A list changed in at least one view. Bursts of changes make one event; a change that no list shows makes none. */
  readonly changed = new Emitter<ListChange>();
  readonly #options: CatalogOptions;
  readonly #parts: PartMaker;
  #entries: readonly Entry[] = [];
  #ingredients: readonly Ingredient[] = [];
  #current: Snapshot;
  #announced: Snapshot | undefined;
  #timer: NodeJS.Timeout | undefined;
  #announcing = 0;
  #semantic: () => Promise<SemanticSearch> | undefined = () => undefined;
  #isClosed = false;

  /** `hide` takes the configuration's secrets out of what sources say of themselves. */
  constructor(options: CatalogOptions, providers: Iterable<Provider> = [], hide?: (text: string) => string) {
    this.#options = options;
    this.#parts = new PartMaker(options, hide);
    this.#current = new Snapshot([], options.naming, []);
    for (const provider of providers) this.add(provider);
  }

  /** The latest snapshot, without asking anybody. */
  get current(): Snapshot {
    return this.#current;
  }

  /** Throws an `OptionError` when another provider has the same source id. */
  add(provider: Provider): void {
    const { id } = provider.source;
    if (this.#entries.some((entry) => entry.gate.provider.source.id === id)) {
      throw new OptionError(`Two sources are called \`${id}\`. Give one of them another name.`);
    }
    const schedule = (): void => this.#schedule();
    const gate = new ListingGate(provider, this.#options.listWaitMs, schedule);
    const entry: Entry = { gate, stopListening: provider.events.changed.on(schedule), part: undefined };
    this.#entries = [...this.#entries, entry].toSorted((a, b) => comparePrecedence(a.gate.provider.source, b.gate.provider.source));
    this.#schedule();
  }

  /** Takes a source out. Tells whether it was there. */
  remove(sourceId: string): boolean {
    const entry = this.#entries.find((one) => one.gate.provider.source.id === sourceId);
    if (!entry) return false;
    release(entry);
    this.#entries = this.#entries.filter((one) => one !== entry);
    this.#schedule();
    return true;
  }

  /**
   * What all providers offer as of this moment: each is asked, and whatever was changed before the question is in the answer. Only
   * the parts of sources that answered with a new listing are made anew; when none did, the same snapshot comes back. Whoever has not
   * answered after `waitMs` is in it with what was known before.
   */
  async snapshot(waitMs = Infinity): Promise<Snapshot> {
    const waits = this.#ask(this.#entries);
    if (waits.size > 0) await within(Promise.all(waits.values()), waitMs);
    return this.#rebuild();
  }

  /** The best tools for a query among those that the view may use (T23, T26): by words, and by likeness where there are embeddings. */
  async search(query: string, view: View, limit: number, filter: SearchFilter = {}): Promise<SearchAnswer> {
    const snapshot = await this.snapshot();
    const semantic = await this.#semantic();
    return semantic ? snapshot.searchFused(query, view, limit, filter, semantic) : snapshot.search(query, view, limit, filter);
  }

  /** From now on embeddings take part in searches, if there are any by then. Closing them is their owner's business. */
  searchWith(semantic: () => Promise<SemanticSearch> | undefined): void {
    this.#semantic = semantic;
  }

  /**
   * Finds what a name means, as fresh as `snapshot()` does. Who could not change the answer is not even asked: when the name is spelt as
   * it is shown, those that come after its source. Neither a slow server nor a large folder then delays calls to anybody else. Where nobody
   * has to look, the answer is there at once.
   */
  lookUp<T extends CallTarget>(asked: string, find: (snapshot: Snapshot) => Lookup<T>): Lookup<T> | Promise<Lookup<T>> {
    const known = find(this.#rebuild());
    if (!isSpelt(known, asked)) return this.#lookUpEverywhere(asked, find);
    const look = (): Lookup<T> | Promise<Lookup<T>> => {
      const found = find(this.#rebuild());
      // Where it is gone or somebody else's by now, those behind have a say, too.
      return isSpelt(found, asked) && found.source.id === known.source.id ? found : this.#lookUpEverywhere(asked, find);
    };
    const waits = this.#ask(this.#entries.filter(({ gate }) => mayTake(gate, known.source)));
    // Not async: whoever need not wait is not overtaken by somebody who came later.
    return waits.size === 0 ? look() : Promise.all(waits.values()).then(look);
  }

  #lookUpEverywhere<T extends CallTarget>(asked: string, find: (snapshot: Snapshot) => Lookup<T>): Lookup<T> | Promise<Lookup<T>> {
    const waits = this.#ask(this.#entries);
    const early = find(this.#rebuild());
    const isSure = waits.size === 0 || (isSpelt(early, asked) && !Array.from(waits.keys()).some(({ gate }) => mayTake(gate, early.source)));
    return isSure ? early : Promise.all(waits.values()).then(() => find(this.#rebuild()));
  }

  /** Stops listening and announcing. The last snapshot stays readable. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const entry of this.#entries) release(entry);
    this.#entries = [];
  }

  /** Asks providers what they offer; the promises of those that have to look first. They never reject. */
  #ask(entries: readonly Entry[]): Map<Entry, Promise<void>> {
    const waits = new Map<Entry, Promise<void>>();
    for (const entry of entries) {
      const wait = entry.gate.refresh();
      if (wait) waits.set(entry, wait);
    }
    return waits;
  }

  // Not async: callers that come at once find the first one's snapshot.
  #rebuild(): Snapshot {
    if (this.#isClosed || this.#isUpToDate()) return this.#current;
    const parts = this.#entries.map((entry) => this.#partOf(entry));
    this.#ingredients = this.#entries.map((entry) => ({ entry, listing: entry.gate.listing, problem: entry.gate.problem }));
    const problems = this.#entries.flatMap(({ gate }) => gate.problem ?? []);
    this.#current = new Snapshot(parts, this.#options.naming, problems);
    // Nobody has seen a list before the first one, so there is no change to tell.
    if (!this.#announced) this.#announced = this.#current;
    else if (this.#announcing === 0) this.#schedule();
    return this.#current;
  }

  #isUpToDate(): boolean {
    const { length } = this.#ingredients;
    if (length !== this.#entries.length || !this.#announced) return false;
    return this.#entries.every((entry, at) => {
      const last = this.#ingredients[at]!;
      return last.entry === entry && last.listing === entry.gate.listing && last.problem === entry.gate.problem;
    });
  }

  #partOf(entry: Entry): SourcePart {
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
    await this.snapshot();
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
  return WIDEST_VIEWS.some((view) => !before.rowList(kind, view).equals(after.rowList(kind, view)));
}

async function within(work: Promise<unknown>, waitMs: number): Promise<void> {
  if (waitMs === Infinity) return void (await work);
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitMs)));
  try {
    await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}

function isSpelt<T extends CallTarget>(lookup: Lookup<T>, asked: string): lookup is Found<T> {
  return lookup.found && lookup.name === asked;
}

/** True for the source itself, and for those with a better right to its names. */
function mayTake({ provider }: ListingGate, source: Source): boolean {
  return comparePrecedence(provider.source, source) <= 0;
}

function release(entry: Entry): void {
  entry.stopListening();
  entry.gate.close();
}
