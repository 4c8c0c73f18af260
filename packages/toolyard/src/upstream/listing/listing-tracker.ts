import { stringifyExact } from "../../core/json/exact-json.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Deadline } from "../../core/calls/deadline.ts";
import { contentDigest } from "../../core/json/digest.ts";
import { NO_FEATURES } from "../../core/sources/records.ts";
import { within } from "../../core/timing/wait.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { ColdStart, ListingRequest } from "../../core/sources/provider.ts";
import type { ChangedList, Connection } from "../connection/connection.ts";
import { Backoff } from "../links/backoff.ts";
import { failureOf } from "../faults.ts";
import { ListChanges, type ListReading } from "./list-changes.ts";
import { LISTING_BOUNDS, readListing, type ServerListing } from "./listing.ts";
import { ListingProblems } from "./listing-problems.ts";

export interface ListingTrackerOptions {
  connection(): Connection | undefined;
  /** Connects if the listing is not known yet. */
  wake(): void;
  /** Returns whether the server is connected or about to be. */
  isUp(): boolean;
  /** Called if the listing differs, or if these lists were read after the server announced a change. */
  onChanged(announced: ReadonlySet<ChangedList>, differs: boolean): void;
  save(listing: ServerListing): void;
  /** Maximum wait of list requests for the first listing, from `open()`, in milliseconds. @default 5000 */
  readonly coldWaitMs: number | undefined;
  readonly logger: Logger;
}

const COLD_WAIT_MS = 5000;
/**
 * Maximum wait of a list request for new lists after an announced change, or after the lists expired. It is short,
 * because the wait delays the lists of all sources, and the server may hang. Calls to listed tools do not wait.
 */
const FRESH_WAIT_MS = 250;
const READ_MS = 60_000;
/** Pauses before lists that could not be read are read again. */
const RETRY = { firstMs: 5000, maxMs: 60_000, stableMs: Infinity };
/** Minimum interval between readings of lists that a server declares as immediately stale. */
const MIN_TTL_MS = 1000;

const NOTHING: ServerListing = Object.freeze({
  tools: [],
  resources: [],
  templates: [],
  prompts: [],
  features: NO_FEATURES,
  problems: [],
});

/** The last known listing of one server. It is read after connecting and after every change, one reading at a time. */
export class ListingTracker {
  readonly #options: ListingTrackerOptions;
  readonly #changes = new ListChanges();
  readonly #problems: ListingProblems;
  /** The listing as the server returned it. */
  #content: ServerListing | undefined;
  /** The listing with the problems that were found over time. */
  #listing: ServerListing | undefined;
  #digest = "";
  #recalling: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  /**
   * Counts the events that make a reading stale. A reading that started before the latest event is followed by another
   * one.
   */
  #version = 0;
  /** Time of the first announced change that the current reading covers. */
  #coveredSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #staleAt = Infinity;
  /** Time at which the lists expired; absent after they were read. */
  #expiredAt: number | undefined;
  #failure: Fail | undefined;
  #retry = new Backoff(RETRY);
  #retryAt: number | undefined;
  #openedAt = 0;
  #isClosed = false;
  /** Pending until the first listing or the failure to get it. */
  #first: First | undefined = pending();

  constructor(options: ListingTrackerOptions) {
    this.#options = options;
    this.#problems = new ListingProblems(options.logger);
  }

  /** The failure of the last reading; absent if it succeeded. */
  get failure(): Fail | undefined {
    return this.#failure;
  }

  /** Returns the wait for the first listing; undefined after a listing or a failure. */
  coldStart(): ColdStart | undefined {
    const { coldWaitMs = COLD_WAIT_MS } = this.#options;
    return this.#first && { waitUntil: this.#openedAt + coldWaitMs, over: this.#first.over };
  }

  open(recalled: Promise<ServerListing | undefined>): void {
    this.#openedAt = performance.now();
    this.#recalling = this.#recall(recalled);
  }

  listing({ mayBeOld = false }: ListingRequest = {}): ServerListing | Promise<ServerListing> {
    if (this.#isClosed) return NOTHING;
    if (this.#recalling) return this.#recalling.then(() => this.listing({ mayBeOld }));
    if (!this.#listing) return this.#waitForFirst();
    if (!mayBeOld && performance.now() >= this.#staleAt) this.#expire();
    const waitMs = mayBeOld ? 0 : this.#freshWaitMs();
    return waitMs > 0 ? this.#waitForChange(this.#listing, waitMs) : this.#listing;
  }

  /** True if changed lists are about to be read. False for a server that announces changes without end. */
  get isChanging(): boolean {
    const since = this.#changes.since ?? this.#coveredSince;
    return since !== undefined && !this.#changes.isRestless && this.#options.connection() !== undefined;
  }

  /** Reads the offered lists after a new connection, even if they are known. */
  connected(): void {
    this.#version += 1;
    // After a failed attempt, the first listing is about to arrive again, so lists wait for it.
    if (!this.#listing && !this.#isClosed) this.#first ??= pending();
    void this.refresh();
  }

  /**
   * Ends the waits for the first listing, because no connection could be opened. The lists then have their current
   * state.
   */
  unreachable(): void {
    this.#resolveFirst();
  }

  /** Handles the server's announcement that a list changed. */
  outdated(list: ChangedList | "all"): void {
    this.#changes.announce(list);
    this.#plan();
  }

  /** Reads the listing now, or joins a running reading. */
  refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
      this.#plan();
    });
    return this.#reading;
  }

  /** Reads the listing with new requests, even if a reading is running. */
  reread(): Promise<void> {
    this.#version += 1;
    return this.refresh();
  }

  /** Saves the known listing after a fact stored with it has changed. */
  remember(): void {
    if (this.#content) this.#options.save(this.#content);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#resolveFirst();
  }

  async #recall(recalled: Promise<ServerListing | undefined>): Promise<void> {
    const listing = await recalled;
    this.#recalling = undefined;
    // A listing that was read from the server in the meantime is newer than the stored one.
    if (!listing || this.#listing) return;
    this.#content = listing;
    this.#keep(listing);
  }

  async #waitForFirst(): Promise<ServerListing> {
    if (!this.#options.isUp()) this.#options.wake();
    const { waitUntil = 0, over } = this.coldStart() ?? {};
    const patienceMs = waitUntil - performance.now();
    if (over && patienceMs > 0) await within(over, patienceMs, { keepsAlive: false });
    return this.#listing ?? NOTHING;
  }

  async #waitForChange(known: ServerListing, waitMs: number): Promise<ServerListing> {
    await within(this.#readChanges(), waitMs, { keepsAlive: false });
    return this.#listing ?? known;
  }

  async #readChanges(): Promise<void> {
    await this.#reading;
    // The reading that is running does not cover a change that was announced after its start, so another one is needed.
    if (this.#changes.since !== undefined && this.#changes.mayHurry) await this.refresh();
  }

  #freshWaitMs(): number {
    const announcedAt = this.#changes.mayHurry ? (this.#changes.since ?? this.#coveredSince) : undefined;
    const since = announcedAt ?? this.#expiredAt;
    const connection = this.#options.connection();
    if (since === undefined || !connection || isSilent(connection)) return 0;
    return since + FRESH_WAIT_MS - performance.now();
  }

  /** Marks the lists as expired. */
  #expire(): void {
    this.#staleAt = Infinity;
    this.#expiredAt = performance.now();
    this.#version += 1;
    void this.refresh();
  }

  async #read(): Promise<void> {
    let version: number;
    do {
      version = this.#version;
      const connection = this.#options.connection();
      if (!connection || this.#isClosed) return;
      const reading = this.#changes.begin();
      this.#coveredSince = reading.since;
      const failure = await this.#readOnce(connection, reading);
      this.#coveredSince = undefined;
      this.#changes.end(reading, failure === undefined);
      if (failure) return this.#failed(failure, connection);
    } while (version !== this.#version);
    this.#expiredAt = undefined;
  }

  async #readOnce(connection: Connection, { announced }: ListReading): Promise<Fail | undefined> {
    const deadline = new Deadline({ idleMs: READ_MS, totalMs: READ_MS });
    try {
      const listing = await readListing(connection, LISTING_BOUNDS, deadline.signal);
      // The list is compared in a separate turn of the event loop, because it may be large. It was checked in the
      // previous turn.
      await nextTurn();
      const read = this.#compare(listing);
      await nextTurn();
      this.#accept(read, announced);
      return undefined;
    } catch (error) {
      return failureOf(error);
    } finally {
      deadline.clear();
    }
  }

  #compare({ ttlMs, ...content }: ServerListing): ReadListing {
    this.#problems.compare(this.#content, content);
    this.#problems.setRestless(this.#changes.isRestless);
    const told = this.#problems.addTo(content);
    return { ttlMs, content, told, digest: digestOf(told) };
  }

  #accept({ ttlMs, content, told, digest }: ReadListing, announced: ReadonlySet<ChangedList>): void {
    if (this.#isClosed) return;
    this.#failure = undefined;
    this.#retryAt = undefined;
    this.#retry = new Backoff(RETRY);
    this.#staleAt = ttlMs === undefined ? Infinity : performance.now() + Math.max(MIN_TTL_MS, ttlMs);
    this.#content = content;
    const isNew = this.#keep(told, digest);
    if (isNew) {
      this.#problems.log(told.problems);
      this.#options.save(content);
    }
    if (isNew || announced.size > 0) this.#options.onChanged(announced, isNew);
  }

  /** Stores a listing. Returns whether it differs from the known one. If it does not, the known object is kept. */
  #keep(listing: ServerListing, digest = digestOf(listing)): boolean {
    const isNew = digest !== this.#digest;
    if (isNew) {
      this.#listing = listing;
      this.#digest = digest;
    }
    this.#resolveFirst();
    return isNew;
  }

  #resolveFirst(): void {
    this.#first?.resolve();
    this.#first = undefined;
  }

  #failed(failure: Fail, connection: Connection): void {
    this.#resolveFirst();
    // A failure of a lost connection is not handled here: it is reported elsewhere, and the next connection reads the
    // lists again.
    if (connection.closed || this.#isClosed) return;
    const isNews = this.#failure?.message !== failure.message;
    this.#failure = failure;
    this.#expiredAt = undefined;
    this.#retryAt = performance.now() + this.#retry.nextMs();
    if (isNews)
      this.#options.logger.warning("The server's lists could not be read; the last known ones are kept.", {
        error: failure.message,
      });
  }

  /** Sets the timer for the next reading, or for the moment at which the server counts as calm. */
  #plan(): void {
    clearTimeout(this.#timer);
    // No reading is planned without a connection, because the next connection reads the lists.
    if (this.#isClosed || this.#reading || !this.#options.connection()) return;
    const now = performance.now();
    const calmInMs = this.#changes.calmInMs(now);
    this.#reportRestless();
    const dueInMs = this.#changes.dueInMs(now);
    const retryInMs = this.#retryAt === undefined ? undefined : Math.max(this.#retryAt - now, dueInMs ?? 0);
    const readInMs = retryInMs ?? dueInMs;
    if (readInMs !== undefined) this.#timer = setTimeout(() => void this.refresh(), readInMs);
    else if (calmInMs !== undefined) this.#timer = setTimeout(() => this.#plan(), calmInMs);
    this.#timer?.unref();
  }

  #reportRestless(): void {
    if (!this.#problems.setRestless(this.#changes.isRestless) || !this.#content) return;
    const told = this.#problems.addTo(this.#content);
    this.#keep(told);
    this.#problems.log(told.problems);
    this.#options.onChanged(NO_LISTS, false);
  }
}

interface First {
  readonly over: Promise<void>;
  resolve(): void;
}

function pending(): First {
  let resolve = (): void => {};
  const over = new Promise<void>((settle) => (resolve = settle));
  return { over, resolve };
}

const NO_LISTS: ReadonlySet<ChangedList> = new Set();

/** Returns whether the server has a pending call and has sent nothing for longer than a caller waits for lists. */
function isSilent({ callsInFlight, heardAt }: Connection): boolean {
  return callsInFlight > 0 && performance.now() - heardAt > FRESH_WAIT_MS;
}

/** A server's listing, prepared for use. */
interface ReadListing {
  readonly ttlMs: number | undefined;
  readonly content: ServerListing;
  /** The listing with the problems found over time. */
  readonly told: ServerListing;
  readonly digest: string;
}

function digestOf(listing: ServerListing): string {
  return contentDigest(stringifyExact(listing));
}
