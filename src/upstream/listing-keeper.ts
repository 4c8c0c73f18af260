import { stringifyExact } from "../core/exact-json.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Deadline } from "../core/deadline.ts";
import { contentDigest } from "../core/digest.ts";
import { NO_FEATURES } from "../core/records.ts";
import { within } from "../core/wait.ts";
import type { Fail } from "../core/outcome.ts";
import type { Logger } from "../core/ports.ts";
import type { ColdStart, ListingWish } from "../core/provider.ts";
import type { Connection } from "./connection.ts";
import { changedTools } from "../core/definition-digest.ts";
import { failureOf } from "./faults.ts";
import { LISTING_BOUNDS, readListing, type ServerListing } from "./listing.ts";

export interface ListingKeeperOptions {
  connection(): Connection | undefined;
  /** Connects, for a listing that nobody has. */
  wake(): void;
  /** Connected or about to be. */
  isUp(): boolean;
  onChanged(): void;
  save(listing: ServerListing): void;
  /** Lists wait for the first one until this long after `open()`. @default 5000 */
  readonly coldWaitMs: number | undefined;
  readonly logger: Logger;
}

const COLD_WAIT_MS = 5000;
/** A list waits this long for a server whose list is changing. */
const PATIENCE_MS = 3000;
/** Changes that come together are read once. */
const DEBOUNCE_MS = 50;
const READ_MS = 60_000;
const RETRY_MS = 5000;
/** A server that says its lists hold for no time at all is not asked more often than this. */
const MIN_TTL_MS = 1000;

/** Names of changed tools that are told. */
const MAX_CHANGED_TOOLS = 50;
const CHANGED =
  "What it says of itself changed since it was last read. Look at it again; `pins` keeps a tool as it was approved.";

const NOTHING: ServerListing = Object.freeze({
  tools: [],
  resources: [],
  templates: [],
  prompts: [],
  features: NO_FEATURES,
  problems: [],
});

/** The last known listing of one server: read after connecting and whenever it changed, one reading at a time. */
export class ListingKeeper {
  readonly #options: ListingKeeperOptions;
  #listing: ServerListing | undefined;
  #digest = "";
  readonly #changedTools = new Set<string>();
  #recalling: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  /** Counts what makes a reading old; a reading that began before the latest is followed by another. */
  #version = 0;
  /** When the server said that its lists changed, until they have been read. */
  #changedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #staleAt = Infinity;
  /** When the time of its lists was over, until they have been read. */
  #expiredAt: number | undefined;
  #failure: Fail | undefined;
  #openedAt = 0;
  #isClosed = false;
  /** Present until the first listing, or the failure to get one. */
  #first: First | undefined = pending();

  constructor(options: ListingKeeperOptions) {
    this.#options = options;
  }

  /** Why the last reading failed; absent when it did not. */
  get failure(): Fail | undefined {
    return this.#failure;
  }

  /** Present while nothing was ever listed and nothing failed. */
  coldStart(): ColdStart | undefined {
    const { coldWaitMs = COLD_WAIT_MS } = this.#options;
    return this.#first && { waitUntil: this.#openedAt + coldWaitMs, over: this.#first.over };
  }

  open(recalled: Promise<ServerListing | undefined>): void {
    this.#openedAt = performance.now();
    this.#recalling = this.#recall(recalled);
  }

  listing({ mayBeOld = false }: ListingWish = {}): ServerListing | Promise<ServerListing> {
    if (this.#isClosed) return NOTHING;
    if (this.#recalling) return this.#recalling.then(() => this.listing({ mayBeOld }));
    if (!this.#listing) return this.#waitForFirst();
    if (!mayBeOld && performance.now() >= this.#staleAt) this.#expire();
    const patienceMs = patienceAfter(this.#changedAt ?? (mayBeOld ? undefined : this.#expiredAt));
    return patienceMs > 0 && this.#options.connection()
      ? this.#waitForChange(this.#listing, patienceMs)
      : this.#listing;
  }

  /** A connection is there: what it offers is read, whatever was known. */
  connected(): void {
    this.#version += 1;
    // It failed before, and is about to be listed for the first time all the same.
    if (!this.#listing && !this.#isClosed) this.#first ??= pending();
    void this.refresh();
  }

  /** No connection could be had; whoever waits for the first listing gets what there is. */
  unreachable(): void {
    this.#resolveFirst();
  }

  /** The server said that something changed. */
  outdated(): void {
    this.#version += 1;
    this.#changedAt ??= performance.now();
    this.#later(DEBOUNCE_MS);
  }

  /** Reads the listing now; a reading under way is followed by another if the list changed meanwhile. */
  refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Reads the listing with questions that are asked from now on, whatever is being read already. */
  reread(): Promise<void> {
    this.#version += 1;
    return this.refresh();
  }

  /** Writes down what is known, for a fact beside the listing that changed. */
  remember(): void {
    if (this.#listing) this.#options.save(this.#listing);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#resolveFirst();
  }

  async #recall(recalled: Promise<ServerListing | undefined>): Promise<void> {
    const listing = await recalled;
    this.#recalling = undefined;
    // What the server itself said meanwhile is newer.
    if (listing && !this.#listing) this.#keep(listing);
  }

  async #waitForFirst(): Promise<ServerListing> {
    if (!this.#options.isUp()) this.#options.wake();
    const { waitUntil = 0, over } = this.coldStart() ?? {};
    const patienceMs = waitUntil - performance.now();
    if (over && patienceMs > 0) await within(over, patienceMs, { keepsAlive: false });
    return this.#listing ?? NOTHING;
  }

  async #waitForChange(known: ServerListing, patienceMs: number): Promise<ServerListing> {
    await within(this.refresh(), patienceMs, { keepsAlive: false });
    return this.#listing ?? known;
  }

  /** The time that the server gave its lists is over. */
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
      const deadline = new Deadline({ idleMs: READ_MS, totalMs: READ_MS });
      try {
        const listing = await readListing(connection, LISTING_BOUNDS, deadline.signal);
        // As large as it may be, it was checked in this turn, and is compared in the next.
        await nextTurn();
        const read = this.#compare(listing);
        await nextTurn();
        this.#accept(read);
      } catch (error) {
        return this.#failed(failureOf(error), connection);
      } finally {
        deadline.clear();
      }
    } while (version !== this.#version);
    this.#changedAt = undefined;
    this.#expiredAt = undefined;
  }

  #compare({ ttlMs, ...content }: ServerListing): ReadListing {
    const told = this.#withChanges(content);
    return { ttlMs, content, told, digest: digestOf(told) };
  }

  #accept({ ttlMs, content, told, digest }: ReadListing): void {
    if (this.#isClosed) return;
    this.#failure = undefined;
    this.#staleAt = ttlMs === undefined ? Infinity : performance.now() + Math.max(MIN_TTL_MS, ttlMs);
    if (!this.#keep(told, digest)) return;
    for (const { subject, message } of told.problems) this.#options.logger.warning(message, { subject });
    this.#options.save(content);
    this.#options.onChanged();
  }

  /**
   * A tool that says something else of itself than before was perhaps trusted for what it said (S12), so that is told
   * from then on.
   */
  #withChanges(listing: ServerListing): ServerListing {
    for (const name of changedTools(this.#listing?.tools ?? [], listing.tools)) {
      if (this.#changedTools.size < MAX_CHANGED_TOOLS) this.#changedTools.add(name);
    }
    const problems = Array.from(this.#changedTools, (subject) => ({ subject, message: CHANGED }));
    return problems.length === 0 ? listing : { ...listing, problems: [...listing.problems, ...problems] };
  }

  /** Whether it differs from what was known; an equal one leaves the known object in its place. */
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
    // A lost connection is told of by whoever lost it, and read anew by the next.
    if (connection.closed || this.#isClosed) return;
    this.#failure = failure;
    this.#expiredAt = undefined;
    this.#options.logger.warning("The server's lists could not be read; the last known ones are kept.", {
      error: failure.message,
    });
    this.#later(RETRY_MS);
  }

  #later(delayMs: number): void {
    if (this.#isClosed || this.#timer || this.#reading) return;
    this.#timer = setTimeout(() => void this.refresh(), delayMs);
    this.#timer.unref();
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

/** How long to wait yet for a list that changed then. */
function patienceAfter(changedAt: number | undefined): number {
  return changedAt === undefined ? 0 : PATIENCE_MS - (performance.now() - changedAt);
}

/** What a server listed, made ready to be taken. */
interface ReadListing {
  readonly ttlMs: number | undefined;
  readonly content: ServerListing;
  /** With what is told of its changes. */
  readonly told: ServerListing;
  readonly digest: string;
}

function digestOf(listing: ServerListing): string {
  return contentDigest(stringifyExact(listing));
}
