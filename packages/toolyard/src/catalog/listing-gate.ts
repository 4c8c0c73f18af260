import { messageOf } from "../core/errors.ts";
import { EVERYBODY, type LinkKey } from "../core/calls/link-key.ts";
import type { ColdStart, ListingWish, Provider } from "../core/sources/provider.ts";
import { inSlices } from "../core/timing/slices.ts";
import { EMPTY_LISTING, type Listing, type Problem } from "../core/sources/records.ts";

interface PendingListing {
  /** Fulfilled when the answer came, or when it took too long. */
  readonly done: Promise<void>;
  isLate: boolean;
}

export interface ListingGateOptions {
  /** Whose lists these are. */
  readonly link: LinkKey;
  readonly maxWaitMs: number;
  /** What the catalog makes of a listing. */
  readonly shape: (listing: Listing) => Listing;
  /** What `shape` and whatever comes after it have to do for each record, one a step. */
  readonly steps: (listing: Listing) => Iterator<unknown, void>;
  /** Called when an answer comes that nobody waited for any more. */
  readonly onLate: () => void;
}

/**
 * Keeps the last listing of one provider and asks it for a new one. Nobody gets an answer to a question that was asked
 * before they came; with that, any number of callers at once cost at most two questions. A provider that does not
 * answer in time is not waited for again until it has. A list that takes long to be made ready is shown once it is, and
 * holds nobody up who asks for something else.
 */
export class ListingGate {
  readonly provider: Provider;
  /** As the configuration shapes it. */
  listing: Listing = EMPTY_LISTING;
  /** Why the listing is not fresh. */
  problem: Problem | undefined;
  /** As the source gave it: the same once more needs no shaping. */
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
   * Makes `listing` as fresh as this moment. Returns nothing when that took no waiting. Never rejects. Where another
   * source is meant, what this one listed before will do while a new list is made ready.
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

  /** A call to something that a server listed does not wait for a list request of another caller. */
  #isEnough(wish: ListingWish | undefined): boolean {
    return wish?.mayBeOld === true && this.#given !== EMPTY_LISTING && this.provider.coldStart !== undefined;
  }

  #afterThis(asking: PendingListing): Promise<void> {
    this.#next ??= asking.done.then(() => {
      this.#next = undefined;
      // A question that was asked meanwhile is later than those that wait here, so its answer serves them.
      return this.#asking ? this.#asking.done : this.refresh();
    });
    return this.#next;
  }

  #wait(answer: Promise<void>): Promise<void> {
    const { promise, resolve } = withResolvers();
    const asking: PendingListing = { done: promise, isLate: false };
    this.#asking = asking;
    // A source that starts has its own bound, which may be the longer one.
    const coldMs = (this.coldStart()?.waitUntil ?? 0) - performance.now() + COLD_MARGIN_MS;
    const maxWaitMs = Math.max(this.#maxWaitMs, Math.ceil(coldMs));
    const timer = setTimeout(() => {
      asking.isLate = true;
      this.#report(`It did not say within ${maxWaitMs} ms what it offers, so its last known list is used.`);
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

  /** Makes a list ready and takes it. Returns nothing when that took no waiting. */
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
    // The same object for the same words: a problem that lasts is no change.
    if (this.problem?.message !== message) this.problem = { source: id, subject: id, message };
  }
}

/** It was never listed, and starts. */
export function isCold(gate: ListingGate): boolean {
  return gate.coldStart() !== undefined;
}

/** Asks what is offered now; the promises of those that have to look first. They never reject. */
export function askAll(
  gates: readonly ListingGate[],
  wishOf?: (gate: ListingGate) => ListingWish,
): ReadonlyMap<ListingGate, Promise<void>> {
  // Mostly nobody has to look.
  let waits: Map<ListingGate, Promise<void>> | undefined;
  for (const gate of gates) {
    const wait = gate.refresh(wishOf?.(gate));
    if (wait) (waits ??= new Map()).set(gate, wait);
  }
  return waits ?? NOBODY_WAITS;
}

const NOBODY_WAITS: ReadonlyMap<ListingGate, Promise<void>> = new Map();

/** A source's own bound comes first. */
const COLD_MARGIN_MS = 100;

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
