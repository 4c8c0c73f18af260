import type { CallTarget, ListingRequest } from "../core/sources/provider.ts";
import type { Source } from "../core/sources/records.ts";
import { mightUse, namedSources, type RequestedName } from "./cold-owners.ts";
import { askAll, isCold, type ListingGate } from "./listing-gate.ts";
import { KnownNames, type KnownName } from "./known-names.ts";
import { isGuessed, isSpelledAsListed, isUnknown, stillStarting, type Lookup } from "./lookup.ts";
import { comparePrecedence } from "./precedence.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Spellings } from "../core/names/spelling.ts";

/** Parts of a catalog that a finder needs. */
export interface Findable {
  /** Text between a namespace and a name. */
  readonly separator: string;
  /** All sources in order of precedence, the highest first. */
  readonly gates: readonly ListingGate[];
  /** Returns the latest known snapshot, without requests to sources. */
  latest(): Snapshot;
}

export type Find<T extends CallTarget> = (snapshot: Snapshot) => Lookup<T>;

/**
 * Resolves names while sources are added, removed, changed and started. Requests only the sources that could change the
 * result.
 */
export class Finder {
  readonly #catalog: Findable;
  readonly #known = new KnownNames();

  constructor(catalog: Findable) {
    this.#catalog = catalog;
  }

  /** Implements `Catalog.lookUp`. */
  lookUp<T extends CallTarget>(asked: RequestedName, find: Find<T>): Lookup<T> | Promise<Lookup<T>> {
    const known = this.#known.find(asked, this.#catalog.gates);
    // The type assertion is safe: only look-ups of tools are cached, and `find` then returns tools too.
    if (known && !known.asked.some(isCold)) return this.#lookUpKnown(known as KnownName<T>, { asked, find });
    const starts = this.#startsFor(asked);
    const lookup = this.#lookUpNow(asked, find);
    return starts.length === 0 ? lookup : this.#afterStart(lookup, starts, { asked, find });
  }

  async #afterStart<T extends CallTarget>(
    first: Lookup<T> | Promise<Lookup<T>>,
    starts: readonly SourceStart[],
    { asked, find }: LookedFor<T>,
  ): Promise<Lookup<T>> {
    let lookup = await first;
    for (let before = starts; isUnknown(lookup); lookup = await this.#lookUpNow(asked, find)) {
      if (this.#named(asked).length > 0) {
        await Promise.all(before.map(({ over }) => over));
        return this.#lookUpNow(asked, find);
      }
      const left = this.#startsFor(asked);
      // If all these sources are still not listed, the failure names them. Otherwise the name is looked up again,
      // because the previous look-up did not include the sources that were listed since.
      if (before.every(({ source }) => left.some((one) => one.source === source)))
        return stillStarting(
          asked.text,
          left.map(({ source }) => source),
        );
      if (left.length === 0) return this.#lookUpNow(asked, find);
      before = left;
    }
    return lookup;
  }

  /** Returns the sources that were never listed, may have the name, and may be used by the caller. */
  #startsFor(asked: RequestedName): readonly SourceStart[] {
    const gates = this.#catalog.gates;
    if (!gates.some(isCold)) return [];
    return this.#withSay(gates, asked).flatMap((gate) => {
      const { source } = gate.provider;
      const start = gate.coldStart();
      return start && mightUse(asked, source, this.#names) ? [{ source, over: start.over }] : [];
    });
  }

  #lookUpNow<T extends CallTarget>(asked: RequestedName, find: Find<T>): Lookup<T> | Promise<Lookup<T>> {
    const snapshot = this.#catalog.latest();
    const lookup = find(snapshot);
    const all = this.#catalog.gates;
    const gates = this.#withSay(all, asked);
    const isGuess = isGuessed(lookup) && gates.some(isCold);
    if (isGuess || !isSpelledAsListed(lookup, asked.text)) return this.#lookUpEverywhere(asked, find);
    const known = { snapshot, lookup, asked: gates.filter((gate) => mayTake(gate, lookup.source)) };
    // The result is cached only if no source was omitted, because an omitted source may have the name after its start.
    if (gates === all) this.#known.keep(asked, known, all);
    return this.#lookUpKnown(known, { asked, find });
  }

  /** Requests the sources that may have the name now, and returns the known result if it is still valid. */
  #lookUpKnown<T extends CallTarget>(known: KnownName<T>, wanted: LookedFor<T>): Lookup<T> | Promise<Lookup<T>> {
    const { id } = known.lookup.source;
    const waits = askAll(known.asked, (gate) => (gate.provider.source.id === id ? FOR_ITSELF : FOR_OTHER));
    // Not async: a call that does not wait must not be overtaken by later calls.
    return waits.size === 0
      ? this.#current(known, wanted)
      : Promise.all(waits.values()).then(() => this.#current(known, wanted));
  }

  /** Returns the known result, or that of a new look-up if the snapshot has changed. */
  #current<T extends CallTarget>(
    { snapshot, lookup }: KnownName<T>,
    { asked, find }: LookedFor<T>,
  ): Lookup<T> | Promise<Lookup<T>> {
    const latest = this.#catalog.latest();
    if (latest === snapshot) return lookup;
    const found = find(latest);
    // If the tool was removed, or now belongs to another source, sources of lower precedence may have the name.
    return isSpelledAsListed(found, asked.text) && found.source.id === lookup.source.id
      ? found
      : this.#lookUpEverywhere(asked, find);
  }

  #lookUpEverywhere<T extends CallTarget>(asked: RequestedName, find: Find<T>): Lookup<T> | Promise<Lookup<T>> {
    const waits = askAll(this.#withSay(this.#catalog.gates, asked));
    const early = find(this.#catalog.latest());
    const isSure =
      waits.size === 0 ||
      (isSpelledAsListed(early, asked.text) &&
        !isGuessed(early) &&
        !Array.from(waits.keys()).some((gate) => mayTake(gate, early.source)));
    return isSure ? early : Promise.all(waits.values()).then(() => find(this.#catalog.latest()));
  }

  /**
   * Returns the gates that can change the result. Omits sources that were never listed if the name has the prefix of
   * another source.
   */
  #withSay(gates: readonly ListingGate[], asked: RequestedName): readonly ListingGate[] {
    if (!gates.some(isCold)) return gates;
    const named = this.#named(asked);
    return named.length === 0 ? gates : gates.filter((gate) => !isCold(gate) || named.includes(gate.provider.source));
  }

  get #names(): { readonly separator: string; readonly spellings: Spellings } {
    return { separator: this.#catalog.separator, spellings: this.#catalog.latest().spellings };
  }

  #named(asked: RequestedName): readonly Source[] {
    const sources = this.#catalog.gates.map(({ provider }) => provider.source);
    return namedSources(asked, sources, {
      spellings: this.#names.spellings,
      sourceOfUri: (uri) => this.#catalog.latest().sourceOfUri(uri),
    });
  }
}

/**
 * Freshness that a call to a known tool requires of lists. `FOR_ITSELF`: list of the tool's own source. `FOR_OTHER`:
 * lists of sources that may have taken over the name.
 */
const FOR_ITSELF: ListingRequest = Object.freeze({ mayBeOld: true });
const FOR_OTHER: ListingRequest = Object.freeze({ mayBeOld: true, isForOther: true });

interface SourceStart {
  readonly source: Source;
  readonly over: Promise<void>;
}

interface LookedFor<T extends CallTarget> {
  readonly asked: RequestedName;
  readonly find: Find<T>;
}

/** Returns true for the source itself and for sources of higher precedence. */
function mayTake({ provider }: ListingGate, source: Source): boolean {
  return comparePrecedence(provider.source, source) <= 0;
}
