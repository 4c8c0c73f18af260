import type { ListKind } from "../core/ports/hub-port.ts";
import { Deadline } from "../core/calls/deadline.ts";
import { FailError } from "../core/errors.ts";
import { Emitter } from "../core/events.ts";
import { orAborted } from "../core/timing/wait.ts";
import type { ProviderStatus } from "../core/sources/provider.ts";
import type { ChangedList } from "./connection/connection.ts";
import { ServerLogLevel } from "./connection/server-log-level.ts";
import { IdleStop } from "./idle-stop.ts";
import { LinkOpener } from "./link-opener.ts";
import type { Link } from "./links/link.ts";
import { Links, type LinkCaller } from "./links/links.ts";
import { ListingTracker } from "./listing/listing-tracker.ts";
import type { ServerListing } from "./listing/listing.ts";
import { ServerJournal } from "./server-journal.ts";
import { ServerMemory } from "./server-memory.ts";
import { UpstreamCalls } from "./upstream-calls.ts";
import type { UpstreamDeps, UpstreamEvents, UpstreamOptions } from "./upstream-contract.ts";
import { toStatus } from "./upstream-status.ts";

/** Maximum wait of a subscription for its connection. */
const SUBSCRIBE_MS = 30_000;
const DECIDED = Promise.resolve();

/**
 * The life of one MCP server from its callers' point of view: connected on demand, reconnected after a loss, and listed
 * while it is disconnected. Calls, listings and links are separate parts.
 */
export class Upstream {
  readonly events: UpstreamEvents = {
    changed: new Emitter(),
    announced: new Emitter(),
    resourceUpdated: new Emitter(),
    log: new Emitter(),
  };
  readonly calls: UpstreamCalls;
  readonly listings: ListingTracker;
  readonly links: Links;
  readonly #options: UpstreamOptions;
  readonly #deps: UpstreamDeps;
  readonly #journal: ServerJournal;
  readonly #logLevel: ServerLogLevel;
  readonly #memory = new ServerMemory(() => this.listings.remember());
  /** Absent for a server that is never stopped. */
  readonly #idle: IdleStop | undefined;
  #isClosed = false;

  constructor(options: UpstreamOptions, deps: UpstreamDeps) {
    const { logger } = deps;
    this.#options = options;
    this.#deps = deps;
    this.#logLevel = new ServerLogLevel(options.logLevel, logger);
    this.#journal = new ServerJournal(logger);
    const isNeeded = () => this.#isClosed || this.links.first.subscriptions.size > 0;
    if (options.start === "lazy")
      this.#idle = new IdleStop(options.idleStopMs, isNeeded, () => void this.#first.stop());
    this.links = this.#createLinks();
    this.listings = this.#createListings();
    const { links, listings } = this;
    const { source = "" } = options;
    const { pulseMs } = deps;
    this.calls = new UpstreamCalls({ links, listings, idle: this.#idle, source, logger, pulseMs });
  }

  /** Starts in the background, and returns immediately. */
  open(): void {
    const recalled = this.#recall();
    this.listings.open(recalled);
    // Waits for the stored facts: with them, the first connection needs no probe, and the hub knows whether the server
    // sends requests.
    const deciding = this.calls.waitFor(Promise.all([this.#decide(), recalled]));
    if (this.#options.start === "eager") void deciding.then(() => this.#first.start());
  }

  /**
   * Reads the listing from the server now, connecting if needed. Rejects with a `FailError`; the last known listing is
   * then kept.
   */
  async refresh(signal: AbortSignal): Promise<void> {
    await this.calls.deciding;
    // The connection is tried again instead of returning a recent failure, because a user requested this.
    this.#first.forgive();
    await this.#first.get(signal);
    await orAborted(this.listings.reread(), signal);
    if (this.listings.failure) throw new FailError(this.listings.failure);
    this.#idle?.restart();
  }

  /**
   * Emits `resourceUpdated` for `uri` until the returned function is called, over the link of this caller. Rejects with
   * a `FailError` if the server does not support subscriptions or refuses this one.
   */
  async subscribe(uri: string, caller: LinkCaller): Promise<() => Promise<void>> {
    const deadline = new Deadline({ idleMs: SUBSCRIBE_MS, totalMs: SUBSCRIBE_MS });
    try {
      await this.calls.deciding;
      const { subscriptions } = await this.links.subscribingFor(caller, deadline.cancellation);
      const release = await subscriptions.add(uri);
      return async () => {
        await release();
        this.#idle?.restart();
      };
    } finally {
      deadline.clear();
    }
  }

  /**
   * Restarts a running server that has carried no call and no subscription, so that its process gets the current
   * environment. A server that was called may keep state in its process, so it is not restarted.
   */
  async restartUnused(): Promise<void> {
    if (this.calls.hasCalled || this.#first.state !== "ready" || this.links.first.subscriptions.size > 0) return;
    await this.#first.stop();
    if (this.#options.start === "eager") this.#first.start();
  }

  async setLogLevel(level: string): Promise<void> {
    await this.#logLevel.set(
      level,
      this.links.all().flatMap(({ current }) => current ?? []),
    );
  }

  status(): ProviderStatus {
    return toStatus({
      link: this.#first,
      isClosed: this.#isClosed,
      isLazy: this.#options.start === "lazy",
      isCold: this.listings.coldStart() !== undefined,
      isListing: this.listings.isChanging,
      listingFailure: this.listings.failure,
      era: this.links.era,
      further: this.links.describe(),
      stderr: this.#journal.stderr.lines(),
      installer: this.#deps.installer,
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.calls.close();
    this.#idle?.cancel();
    this.listings.close();
    await Promise.all([this.links.close(), this.#deps.cache?.close()]);
  }

  /** The link that supplies the lists. */
  get #first(): Link {
    return this.links.first.link;
  }

  #createLinks(): Links {
    const { era, isolation, opensCheaply, legacyProcess, maxSessions, idleStopMs: idleMs } = this.#options;
    const opener = new LinkOpener(this.#options, this.#deps, () => ({
      links: this.links,
      listings: this.listings,
      journal: this.#journal,
      logLevel: this.#logLevel,
      memory: this.#memory,
      idle: this.#idle,
      events: this.events,
      isClosed: () => this.#isClosed,
    }));
    return new Links({
      era,
      isolation,
      opensCheaply,
      legacyProcess,
      maxSessions,
      idleMs,
      open: (wish) => opener.open(wish),
      memory: this.#memory,
      onUnasked: () => this.#journal.notAsked(),
      onVerdict: () => this.listings.remember(),
    });
  }

  #createListings(): ListingTracker {
    const { cache, coldWaitMs, logger } = this.#deps;
    return new ListingTracker({
      connection: () => this.#first.current,
      wake: () => void (this.calls.deciding ?? DECIDED).then(() => this.#first.wake()),
      isUp: () => this.#first.state === "ready" || this.#first.state === "connecting",
      onChanged: (announced, differs) => {
        if (differs && announced.size > 0 && this.calls.hasCalled) this.#memory.noteState();
        if (announced.size > 0) this.events.announced.emit({ lists: announcedKinds(announced) });
        this.events.changed.emit();
      },
      save: (listing) => {
        const { asks, hasState } = this.#memory;
        return cache?.save({ ...this.links.verdict, asks, hasState, listing });
      },
      coldWaitMs,
      logger,
    });
  }

  /** Decides the era of the first connection, before anything is opened. */
  async #decide(): Promise<void> {
    const preferred = await this.#deps.firstCallerEra;
    if (preferred) this.links.prefer(preferred);
  }

  async #recall(): Promise<ServerListing | undefined> {
    const remembered = await this.#deps.cache?.load();
    if (!remembered) return undefined;
    this.links.recall(remembered);
    this.#memory.recall(remembered);
    return remembered.listing;
  }
}

/** Returns the lists that a change concerns in the hub: the server announces templates together with resources. */
function announcedKinds(lists: ReadonlySet<ChangedList>): readonly ListKind[] {
  return Array.from(lists).flatMap((list): ListKind[] => (list === "resources" ? ["resources", "templates"] : [list]));
}
