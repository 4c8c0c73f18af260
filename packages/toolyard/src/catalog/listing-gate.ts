import { messageOf } from "../core/errors.ts";
import { EVERYBODY, type LinkKey } from "../core/calls/link-key.ts";
import type { ColdStart, ListingWish, Provider } from "../core/sources/provider.ts";
import { inSlices } from "../core/timing/slices.ts";
import { EMPTY_LISTING, type Listing, type Problem } from "../core/sources/records.ts";

interface PendingListing {
  /** Resolves when the answer arrived, or when it took too long. */
  readonly done: Promise<void>;
  isLate: boolean;
}

export interface ListingGateOptions {
  /** The link to which these lists belong. */
  readonly link: LinkKey;
  readonly maxWaitMs: number;
  /** Converts a listing to the catalog's form. */
  readonly shape: (listing: Listing) => Listing;
  /** The work of `shape` and the steps after it, one record per step. */
  readonly steps: (listing: Listing) => Iterator<unknown, void>;
  /** Called when an answer arrives for which no request waits any longer. */
  readonly onLate: () => void;
}

/**
 * Keeps the last listing of one provider and requests new ones. A caller never gets an answer to a request sent before
 * it arrived; still, any number of concurrent callers cost at most two requests. A provider that does not answer in
 * time is not awaited again until it has answered. A list that takes long to prepare is shown once it is ready, and
 * does not delay requests for other sources.
 */
export class ListingGate {
  readonly provider: Provider;
  /** The listing after the configured changes. */
  listing: Listing = EMPTY_LISTING;
  /** The reason if the listing is not fresh. */
  problem: Problem | undefined;
  /** The listing as the source returned it: an equal one needs no shaping. */
  #given: Listing = EMPTY_LISTING;
  readonly #link: LinkKey;
  readonly #maxWaitMs: number;
  readonly #onLate: () => void;
  readonly #shape: ListingGateOptions["shape"];
  readonly #steps: ListingGateOptions["steps"];
  #asking: PendingListing | undefined;
  #isPreparing = false;
  #next: Promise<void> | undefined;
  #isClosed = false;

  constructor(provider: Provider, { link, maxWaitMs, shape, steps, onLate }: ListingGateOptions) {
    this.provider = provider;
    this.#link = link;
    this.#maxWaitMs = maxWaitMs;
    this.#onLate = onLate;
    this.#shape = shape;
    this.#steps = steps;
  }

  /**
   * Makes `listing` current. Returns `undefined` if that needed no waiting. Never rejects. If the request concerns
   * another source, the previous list is sufficient while a new one is prepared.
   */
  refresh(wish?: ListingWish): Promise<void> | undefined {
    const isForOther = wish?.isForOther === true;
    if (isForOther && this.#isPreparing) return undefined;
    const wait = this.#refresh(wish);
    return isForOther && this.#isPreparing ? undefined : wait;
  }

  coldStart(): ColdStart | undefined {
    return this.provider.coldStart?.(this.#link);
  }

  close(): void {
    this.#isClosed = true;
  }

  #refresh(wish?: ListingWish): Promise<void> | undefined {
    if (this.#asking) return this.#asking.isLate || this.#isEnough(wish) ? undefined : this.#afterThis(this.#asking);
    try {
      const answer = this.provider.listing(this.#link === EVERYBODY ? wish : { ...wish, link: this.#link });
      if ("then" in answer) return this.#wait(answer.then((listing) => this.#prepare(listing)));
      const prepared = this.#prepare(answer);
      return prepared && this.#wait(prepared);
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** A call to a tool that a server listed does not wait for another caller's list request. */
  #isEnough(wish: ListingWish | undefined): boolean {
    return wish?.mayBeOld === true && this.#given !== EMPTY_LISTING && this.provider.coldStart !== undefined;
  }

  #afterThis(asking: PendingListing): Promise<void> {
    this.#next ??= asking.done.then(() => {
      this.#next = undefined;
      // A request sent in the meantime is later than those that wait here, so its answer serves them.
      return this.#asking ? this.#asking.done : this.refresh();
    });
    return this.#next;
  }

  #wait(answer: Promise<void>): Promise<void> {
    const { promise, resolve } = withResolvers();
    const asking: PendingListing = { done: promise, isLate: false };
    this.#asking = asking;
    // A starting source has its own limit, which may be longer.
    const coldMs = (this.coldStart()?.waitUntil ?? 0) - performance.now() + COLD_MARGIN_MS;
    const maxWaitMs = Math.max(this.#maxWaitMs, Math.ceil(coldMs));
    const timer = setTimeout(() => {
      asking.isLate = true;
      this.#report(`It did not list its tools within ${maxWaitMs} ms, so its last known list is used.`);
      resolve();
    }, maxWaitMs);
    const settle = (): void => {
      clearTimeout(timer);
      this.#asking = undefined;
      resolve();
      if (asking.isLate && !this.#isClosed) this.#onLate();
    };
    answer.catch((error: unknown) => this.#fail(error)).then(settle, settle);
    return promise;
  }

  /** Prepares and sets a list. Returns `undefined` if that needed no waiting. */
  #prepare(listing: Listing): Promise<void> | undefined {
    const rest = listing === this.#given ? undefined : inSlices(this.#steps(listing));
    if (!rest) return void this.#accept(listing);
    this.#isPreparing = true;
    return rest
      .finally(() => {
        this.#isPreparing = false;
      })
      .then(() => this.#accept(listing));
  }

  #accept(listing: Listing): void {
    if (listing !== this.#given) {
      this.#given = listing;
      this.listing = this.#shape(listing);
    }
    this.problem = undefined;
  }

  #fail(error: unknown): undefined {
    this.#report(`Listing failed, so its last known list is used: ${messageOf(error)}`);
  }

  #report(message: string): void {
    const { id } = this.provider.source;
    // The same object for the same message: a lasting problem is not a change.
    if (this.problem?.message !== message) this.problem = { source: id, subject: id, message };
  }
}

/** Returns whether the source was never listed and is starting. */
export function isCold(gate: ListingGate): boolean {
  return gate.coldStart() !== undefined;
}

/** Queries all gates; returns the promises of those that must wait. They never reject. */
export function askAll(
  gates: readonly ListingGate[],
  wishOf?: (gate: ListingGate) => ListingWish,
): ReadonlyMap<ListingGate, Promise<void>> {
  // Usually no gate must wait.
  let waits: Map<ListingGate, Promise<void>> | undefined;
  for (const gate of gates) {
    const wait = gate.refresh(wishOf?.(gate));
    if (wait) (waits ??= new Map()).set(gate, wait);
  }
  return waits ?? NOBODY_WAITS;
}

const NOBODY_WAITS: ReadonlyMap<ListingGate, Promise<void>> = new Map();

/** The source's own limit ends first. */
const COLD_MARGIN_MS = 100;

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
