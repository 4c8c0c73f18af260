import { cancellationOf, type Call } from "../core/calls/call.ts";
import { Deadline } from "../core/calls/deadline.ts";
import { FailError } from "../core/errors.ts";
import { Emitter } from "../core/events.ts";
import type { JsonObject } from "../core/json/json.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import type { ListKind } from "../core/ports/hub-port.ts";
import { isSharedLink, linkCaller } from "../core/calls/link-key.ts";
import { orAborted } from "../core/timing/wait.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { ColdStart, ListingWish, ProviderStatus } from "../core/sources/provider.ts";
import { RPC } from "../wire/messages.ts";
import type { CallRequest, ChangedList, Connection, ConnectionOptions } from "./connection/connection.ts";
import { couldNotAsk } from "./connection/ask-failure.ts";
import { failureOf } from "./faults.ts";
import { CONNECT_GATE } from "./links/gate.ts";
import type { LinkPlace } from "./links/further-links.ts";
import type { Installer } from "./links/installer.ts";
import { Link, type LinkEvents } from "./links/link.ts";
import { Links, type Caller, type LinkWish, type Reached } from "./links/links.ts";
import { ListingKeeper } from "./listing/listing-keeper.ts";
import type { ServerListing } from "./listing/listing.ts";
import { ServerLogLevel } from "./connection/server-log-level.ts";
import { hangs, isUseless } from "./connection/pulse.ts";
import { ServerJournal } from "./server-journal.ts";
import { Subscriptions } from "./connection/subscriptions.ts";
import type { UpstreamDeps, UpstreamEvents, UpstreamOptions } from "./upstream-contract.ts";
import { toStatus } from "./upstream-status.ts";

/** How long a server may stay silent on the modern probe before `initialize` is tried beside it. */
const PROBE_SILENCE_MS = 1500;
/** The same where silence says less, at most. */
const PATIENCE_MS = 10_000;
const BACKOFF = { firstMs: 500, maxMs: 60_000, stableMs: 30_000 };
/** Whoever does not answer this within the time, after a call timed out in silence, hangs. */
const PULSE_MS = 10_000;
/** How long a subscription may take until its connection is open. */
const SUBSCRIBE_MS = 30_000;
const DECIDED = Promise.resolve();

/**
 * The life of one MCP server as its callers see it: there when it is needed, back when it was lost, and known while it
 * is away.
 */
export class Upstream {
  readonly events: UpstreamEvents = {
    changed: new Emitter(),
    announced: new Emitter(),
    resourceUpdated: new Emitter(),
    log: new Emitter(),
  };
  readonly #options: UpstreamOptions;
  readonly #logger: Logger;
  readonly #deps: UpstreamDeps;
  readonly #links: Links;
  readonly #keeper: ListingKeeper;
  readonly #journal: ServerJournal;
  readonly #logLevel: ServerLogLevel;
  #asks = false;
  /** The server changed its lists after a call, so a second process of it would offer something else. */
  #hasState = false;
  #hasCalled = false;
  #deciding: Promise<void> | undefined;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;
  #callsInFlight = 0;

  constructor(options: UpstreamOptions, deps: UpstreamDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#logger = deps.logger;
    this.#logLevel = new ServerLogLevel(options.logLevel, deps.logger);
    this.#journal = new ServerJournal(deps.logger);
    this.#links = new Links({
      era: options.era,
      isolation: options.isolation,
      opensCheaply: options.opensCheaply,
      legacyProcess: options.legacyProcess,
      maxSessions: options.maxSessions,
      idleMs: options.idleStopMs,
      open: (wish) => this.#open(wish),
      asks: () => this.#asks,
      hasState: () => this.#hasState,
      onUnasked: () => this.#journal.notAsked(),
      onVerdict: () => this.#keeper.remember(),
    });
    this.#keeper = new ListingKeeper({
      connection: () => this.#first.current,
      wake: () => void (this.#deciding ?? DECIDED).then(() => this.#first.wake()),
      isUp: () => this.#first.state === "ready" || this.#first.state === "connecting",
      onChanged: (announced, differs) => {
        if (differs && announced.size > 0 && this.#hasCalled) this.#keepsState();
        if (announced.size > 0) this.events.announced.emit({ lists: announcedKinds(announced) });
        this.events.changed.emit();
      },
      save: (listing) =>
        deps.cache?.save({ ...this.#links.verdict, asks: this.#asks, hasState: this.#hasState, listing }),
      coldWaitMs: deps.coldWaitMs,
      logger: deps.logger,
    });
  }

  /** Starts in the background and returns at once. */
  open(): void {
    const recalled = this.#recall();
    this.#keeper.open(recalled);
    // What is remembered spares the first connection the probe, and says whether the server asks.
    this.#deciding = Promise.all([this.#decide(), recalled]).then(() => void (this.#deciding = undefined));
    if (this.#options.start === "eager") void this.#deciding.then(() => this.#first.start());
  }

  /** The last known listing; waits a bounded time for one that changes, or that was never read. */
  listing(wish?: ListingWish): ServerListing | Promise<ServerListing> {
    return this.#keeper.listing(wish);
  }

  coldStart(): ColdStart | undefined {
    return this.#keeper.coldStart();
  }

  /**
   * Reads the listing from the server now, connecting if need be. Rejects with a `FailError`; the last known listing is
   * then kept.
   */
  async refresh(signal: AbortSignal): Promise<void> {
    await this.#deciding;
    // Whoever asks for this has a reason: the failure of a moment ago is no answer.
    this.#first.forgive();
    await this.#first.get(signal);
    await orAborted(this.#keeper.reread(), signal);
    if (this.#keeper.failure) throw new FailError(this.#keeper.failure);
    this.#stopWhenIdle();
  }

  /** Downloads anew what is broken, and connects. Rejects with a `FailError`. */
  async mend(installer: Installer, signal: AbortSignal): Promise<void> {
    await orAborted(installer.mend(signal), signal);
    await this.refresh(signal);
  }

  /** Makes a call: over the shared connection, or over that of the caller's session. Expected failures are outcomes. */
  async call(call: Call, request: CallRequest): Promise<Outcome> {
    this.#callsInFlight += 1;
    clearTimeout(this.#idle);
    try {
      if (this.#isClosed) throw new FailError(fail("unavailable", "This source was closed.", { retryable: false }));
      if (this.#deciding) await orAborted(this.#deciding, cancellationOf(call));
      const startedAt = performance.now();
      const reaching = this.#links.reach(call, cancellationOf(call), request);
      const reached = reaching instanceof Promise ? await reaching : reaching;
      this.#hasCalled = true;
      const outcome = await reached.connection.call(call, request);
      return outcome.ok ? outcome : await this.#onFail(outcome, { call, request, startedAt, ...reached });
    } catch (error) {
      return failureOf(error);
    } finally {
      this.#callsInFlight -= 1;
      this.#stopWhenIdle();
    }
  }

  /**
   * Keeps `resourceUpdated` coming for `uri`, over the link that this caller uses. Rejects with a `FailError` when the
   * server cannot or will not.
   */
  async subscribe(uri: string, caller: Caller): Promise<() => Promise<void>> {
    const deadline = new Deadline({ idleMs: SUBSCRIBE_MS, totalMs: SUBSCRIBE_MS });
    try {
      await this.#deciding;
      const { subscriptions } = await this.#links.subscribingFor(caller, deadline.cancellation);
      const release = await subscriptions.add(uri);
      return async () => {
        await release();
        this.#stopWhenIdle();
      };
    } finally {
      deadline.clear();
    }
  }

  async setLogLevel(level: string): Promise<void> {
    await this.#logLevel.set(
      level,
      this.#links.all().flatMap(({ current }) => current ?? []),
    );
  }

  rootsChanged(connection: string): void {
    void this.#links.find(connection)?.current?.rootsChanged();
  }

  release(connection: string): void {
    this.#links.release(connection);
  }

  status(): ProviderStatus {
    return toStatus({
      link: this.#first,
      isClosed: this.#isClosed,
      isLazy: this.#options.start === "lazy",
      isCold: this.#keeper.coldStart() !== undefined,
      isListing: this.#keeper.isChanging,
      listingFailure: this.#keeper.failure,
      era: this.#links.era,
      further: this.#links.describe(),
      stderr: this.#journal.stderr.lines(),
      installer: this.#deps.installer,
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#keeper.close();
    await Promise.all([this.#links.close(), this.#deps.cache?.close()]);
  }

  /** From which the lists come. */
  get #first(): Link {
    return this.#links.first.link;
  }

  /** Which era the first connection is opened in; nothing is opened before. */
  async #decide(): Promise<void> {
    const preferred = await this.#deps.firstCallerEra;
    if (preferred) this.#links.prefer(preferred);
  }

  /** Makes a call once more where that helps. */
  async #onFail(failure: Fail, { call, request, link, connection, startedAt }: Attempted): Promise<Outcome> {
    if (failure.rpcError?.code === RPC.headerMismatch)
      return await this.#callWithFreshSchema(call, request, connection);
    if (couldNotAsk(failure) && this.#links.couldNotAsk(link, call, request))
      return await this.#callOverOther(failure, { call, request, link });
    if (failure.kind === "timeout") void this.#checkPulse(link, connection, startedAt);
    const isUnsent = failure.kind === "unavailable" && failure.details?.["sent"] === false;
    if (!isUnsent || cancellationOf(call).aborted || !isUseless(connection, failure)) return failure;
    // It never reached the server, so another connection may carry it.
    leave(link, connection, failure);
    const next = await link.get(cancellationOf(call));
    return await next.call(call, { ...request, afterLoss: failure.details?.["sessionLost"] === true });
  }

  /** Repeats a call over the link that `reach` returns now; the failure stands if that is the same link. */
  async #callOverOther(
    failure: Fail,
    { call, request, link }: Pick<Attempted, "call" | "request" | "link">,
  ): Promise<Outcome> {
    const next = await this.#links.reach(call, cancellationOf(call), request);
    return next.link === link ? failure : await next.connection.call(call, request);
  }

  // The server compares headers with a schema that is newer than ours.
  async #callWithFreshSchema(call: Call, request: CallRequest, connection: Connection): Promise<Outcome> {
    await this.#keeper.refresh();
    const { name } = request.params;
    const listing = await this.#keeper.listing();
    const inputSchema = listing.tools.find((tool) => tool["name"] === name)?.["inputSchema"];
    return await connection.call(
      call,
      inputSchema === undefined ? request : { ...request, inputSchema: inputSchema as JsonObject },
    );
  }

  async #checkPulse(link: Link, connection: Connection, startedAt: number): Promise<void> {
    if (!(await hangs(connection, startedAt, this.#deps.pulseMs ?? PULSE_MS))) return;
    this.#logger.warning("The server hangs: it answers neither calls nor pings. It is ended and started again.");
    link.replace(
      connection,
      fail("unavailable", "The server hung and was started again.", { retryable: false, details: { sent: true } }),
      { isUseless: true },
    );
  }

  #open({ key, capabilities, era: wished, label }: LinkWish): LinkPlace {
    const isShared = isSharedLink(key);
    const { openTransport, connectTimeoutMs, retryFloorMs } = this.#options;
    const { gate = CONNECT_GATE, logger } = this.#deps;
    const connectionOptions = (): ConnectionOptions => {
      const { era: knownEra, preferred } = this.#links;
      const prefersLegacy =
        knownEra !== "legacy" && (wished ?? (label === undefined ? preferred : undefined)) === "legacy";
      return {
        clientInfo: this.#options.clientInfo,
        isShared,
        capabilities,
        roots: this.#options.roots,
        asks: this.#asks && isShared,
        era: this.#options.era,
        prefersLegacy,
        probeSilenceMs: PROBE_SILENCE_MS,
        patienceMs: Math.min(PATIENCE_MS, connectTimeoutMs / 3),
        logger,
        requestIds: this.#deps.requestIds,
        ...(knownEra && { knownEra }),
      };
    };
    // Whoever subscribed hears of changes, also after a loss.
    const keepAlive = (): boolean => (label === undefined && this.#options.start === "eager") || subscriptions.size > 0;
    const events =
      label === undefined
        ? this.#firstEvents(() => subscriptions)
        : this.#furtherEvents(() => subscriptions, { label, isShared });
    const link = new Link(
      {
        openTransport: () => openTransport(linkCaller(key)),
        connectionOptions,
        connectTimeoutMs,
        gate,
        installer: this.#deps.installer,
        backoff: BACKOFF,
        keepAlive,
        retryFloorMs,
        logger,
      },
      events,
    );
    const subscriptions = new Subscriptions((signal) => link.get(signal));
    return { link, subscriptions };
  }

  #firstEvents(subscriptions: () => Subscriptions): LinkEvents {
    return {
      ...this.#commonEvents(),
      onLog: (params) => this.events.log.emit({ params }),
      onReady: (connection) => {
        this.#links.opened(connection.era);
        this.#journal.connected(connection);
        void this.#logLevel.tell(connection);
        this.#keeper.connected();
        this.#stopWhenIdle();
        this.#renew(subscriptions(), connection);
      },
      onDown: (failure) => {
        this.#journal.down(failure);
        this.#keeper.unreachable();
      },
      onAsked: () => this.#asked(),
      onPlaced: (principal) => this.#links.asked(principal),
    };
  }

  #furtherEvents(
    subscriptions: () => Subscriptions,
    { label, isShared }: { readonly label: string; readonly isShared: boolean },
  ): LinkEvents {
    return {
      ...this.#commonEvents(),
      onReady: (connection) => {
        this.#journal.connectedFor(label, connection);
        void this.#logLevel.tell(connection);
        this.#renew(subscriptions(), connection);
      },
      onDown: (failure) => this.#journal.down(failure),
      // A shared one is for everybody to hear; of a client's own one only that client may see it, and it listens only
      // during its calls.
      onLog: (params) =>
        isShared
          ? this.events.log.emit({ params })
          : this.#logger.debug("A log message of a session's own server belongs to no call.", {
              level: params["level"],
            }),
      onAsked: () => isShared && this.#asked(),
      onPlaced: (principal) => isShared && this.#links.asked(principal),
    };
  }

  #commonEvents(): Pick<LinkEvents, "onListChanged" | "onResourceUpdated" | "onStderr" | "onMissing"> {
    return {
      onListChanged: (list) => this.#keeper.outdated(list),
      onResourceUpdated: (uri, params) => this.events.resourceUpdated.emit({ uri, params }),
      onStderr: (line) => this.#journal.stderr.push(line),
      onMissing: (lines) => this.#journal.stderr.forget(lines),
    };
  }

  #renew(subscriptions: Subscriptions, connection: Connection): void {
    subscriptions.renew(connection).catch((error: unknown) => {
      if (!this.#isClosed) this.#journal.notSubscribed(error);
    });
  }

  #asked(): void {
    if (this.#asks) return;
    this.#asks = true;
    this.#logger.info(
      "The server asks its callers questions; calls of different clients take turns on it from now on.",
    );
    this.#keeper.remember();
  }

  #keepsState(): void {
    if (this.#hasState) return;
    this.#hasState = true;
    this.#keeper.remember();
  }

  async #recall(): Promise<ServerListing | undefined> {
    const remembered = await this.#deps.cache?.load();
    if (!remembered) return undefined;
    this.#links.recall(remembered);
    this.#asks ||= remembered.asks;
    this.#hasState ||= remembered.hasState ?? false;
    return remembered.listing;
  }

  #stopWhenIdle(): void {
    clearTimeout(this.#idle);
    if (
      this.#options.start === "eager" ||
      this.#isClosed ||
      this.#callsInFlight > 0 ||
      this.#links.first.subscriptions.size > 0
    )
      return;
    this.#idle = setTimeout(() => void this.#first.stop(), this.#options.idleStopMs);
    this.#idle.unref();
  }
}

/** Lists as the hub counts them: the server announces templates together with resources. */
function announcedKinds(lists: ReadonlySet<ChangedList>): readonly ListKind[] {
  return Array.from(lists).flatMap((list): ListKind[] => (list === "resources" ? ["resources", "templates"] : [list]));
}

/** A call that was made over a connection. */
interface Attempted extends Reached {
  readonly call: Call;
  readonly request: CallRequest;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
}

/** The link goes on without a connection that is of no use any more. */
function leave(link: Link, connection: Connection, failure: Fail): void {
  if (failure.details?.["sessionLost"] === true) link.retire(connection, failure);
  // The others on it were on their way: they must not read that they never were.
  else link.replace(connection, { ...failure, retryable: false, details: { ...failure.details, sent: true } });
}
