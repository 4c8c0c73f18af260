import { messageOf } from "../core/errors.ts";
import { EVERYBODY, type LinkKey } from "../core/calls/link-key.ts";
import type { ColdStart, ListingRequest, Provider } from "../core/sources/provider.ts";
import { inSlices } from "../core/timing/slices.ts";
import { EMPTY_LISTING, type Listing, type Problem } from "../core/sources/records.ts";

interface PendingListing {
  /** Resolves when the answer arrives or the time limit has passed. */
  readonly done: Promise<void>;
  isLate: boolean;
}

export interface ListingGateOptions {
  /** Link whose lists the provider returns. */
  readonly link: LinkKey;
  readonly maxWaitMs: number;
  /** Converts a listing to the catalog's form. */
  readonly shape: (listing: Listing) => Listing;
  /** Performs `shape` and the preparation in steps of one record. */
  readonly steps: (listing: Listing) => Iterator<unknown, void>;
  /** Called when a provider's answer arrives after the time limit, because no request waits for it any more. */
  readonly onLate: () => void;
}

/**
 * Keeps the last listing of one provider and requests new ones. A caller only gets an answer to a request that was sent
 * after the caller arrived. Concurrent callers share requests, so at most two are pending. A provider that does not
 * answer in time is not awaited again until it has answered. A list that takes long to prepare is used when it is
 * ready, and does not delay requests for other sources.
 */
export class ListingGate {
  readonly provider: Provider;
  /** Listing after the configured changes. */
  listing: Listing = EMPTY_LISTING;
  /** Reason why the listing may be outdated. Absent if it is up to date. */
  problem: Problem | undefined;
  /** Listing as the source returned it. If the source returns the same object, no work is needed. */
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
   * Updates `listing`. Returns `undefined` if no wait was needed. Never rejects. With `isForOther`, the previous list
   * is sufficient while a new one is prepared.
   */
  refresh(wish?: ListingRequest): Promise<void> | undefined {
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

  #refresh(wish?: ListingRequest): Promise<void> | undefined {
    if (this.#asking) return this.#asking.isLate || this.#isEnough(wish) ? undefined : this.#afterThis(this.#asking);
    try {
      const answer = this.provider.listing(this.#link === EVERYBODY ? wish : { ...wish, link: this.#link });
      // The source has not changed its list.
      if (answer === this.#given) return void (this.problem = undefined);
      if ("then" in answer) return this.#wait(answer.then((listing) => this.#prepare(listing)));
      const prepared = this.#prepare(answer);
      return prepared && this.#wait(prepared);
    } catch (error) {
      return this.#fail(error);
    }
  }

  /**
   * Returns true if the known list is sufficient. For example, a call to a tool that a server listed does not wait for
   * a list request of another caller.
   */
  #isEnough(wish: ListingRequest | undefined): boolean {
    return wish?.mayBeOld === true && this.#given !== EMPTY_LISTING && this.provider.coldStart !== undefined;
  }

  #afterThis(asking: PendingListing): Promise<void> {
    this.#next ??= asking.done.then(() => {
      this.#next = undefined;
      // A request that was sent during the wait is newer than the callers that wait here, so they can use its answer.
      return this.#asking ? this.#asking.done : this.refresh();
    });
    return this.#next;
  }

  #wait(answer: Promise<void>): Promise<void> {
    const { promise, resolve } = withResolvers();
    const asking: PendingListing = { done: promise, isLate: false };
    this.#asking = asking;
    // A starting source has a separate time limit, which may be longer.
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

  /** Prepares and sets a list. Returns `undefined` if no wait was needed. */
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
    // If the message is the same, the object stays the same, because an unchanged problem is not a change of the list.
    if (this.problem?.message !== message) this.problem = { source: id, subject: id, message };
  }
}

/** Returns true if the source was never listed and is starting. */
export function isCold(gate: ListingGate): boolean {
  return gate.coldStart() !== undefined;
}

/** Requests all gates. Returns the promises of those that must be awaited; they never reject. */
export function askAll(
  gates: readonly ListingGate[],
  wishOf?: (gate: ListingGate) => ListingRequest,
): ReadonlyMap<ListingGate, Promise<void>> {
  // The map is created when the first gate must be awaited, which is rare.
  let waits: Map<ListingGate, Promise<void>> | undefined;
  for (const gate of gates) {
    const wait = gate.refresh(wishOf?.(gate));
    if (wait) (waits ??= new Map()).set(gate, wait);
  }
  return waits ?? NOBODY_WAITS;
}

const NOBODY_WAITS: ReadonlyMap<ListingGate, Promise<void>> = new Map();

/** Additional time, so that the source's own time limit ends before the catalog's. */
const COLD_MARGIN_MS = 100;

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
