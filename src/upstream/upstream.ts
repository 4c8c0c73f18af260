import { cancellationOf, type Call } from "../core/call.ts";
import { Deadline } from "../core/deadline.ts";
import { FailError } from "../core/errors.ts";
import { Emitter } from "../core/events.ts";
import type { JsonObject } from "../core/json.ts";
import { fail, type Fail, type Outcome } from "../core/outcome.ts";
import type { Logger } from "../core/ports.ts";
import type { ProviderStatus } from "../core/provider.ts";
import { RPC } from "../wire/messages.ts";
import { sessionCapabilities, SHARED_CAPABILITIES } from "./capabilities.ts";
import type { CallRequest, Connection, ConnectionOptions } from "./connection.ts";
import type { EraName } from "./era.ts";
import { failureOf, untilAborted } from "./faults.ts";
import { CONNECT_GATE } from "./gate.ts";
import { Link, type LinkEvents } from "./link.ts";
import { ListingKeeper } from "./listing-keeper.ts";
import type { ServerListing } from "./listing.ts";
import { hangs } from "./pulse.ts";
import { SessionLinks } from "./session-links.ts";
import { StderrLog } from "./stderr-log.ts";
import { Subscriptions } from "./subscriptions.ts";
import type { UpstreamDeps, UpstreamEvents, UpstreamOptions } from "./upstream-contract.ts";
import { toStatus } from "./upstream-status.ts";

/** How long a server may stay silent on the modern probe before `initialize` is tried beside it. */
const PROBE_SILENCE_MS = 1500;
const BACKOFF = { firstMs: 500, maxMs: 60_000, stableMs: 30_000 };
/** Whoever does not answer this within the time, after a call timed out in silence, hangs. */
const PULSE_MS = 10_000;
/** How long a server may take to note the log level. */
const LOG_LEVEL_MS = 10_000;

/** The life of one MCP server as its callers see it: there when it is needed, back when it was lost, and known while it is away. */
export class Upstream {
  readonly events: UpstreamEvents = { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly #options: UpstreamOptions;
  readonly #logger: Logger;
  readonly #deps: UpstreamDeps;
  readonly #shared: Link;
  readonly #sessions: SessionLinks;
  readonly #keeper: ListingKeeper;
  readonly #subscriptions: Subscriptions;
  readonly #stderr: StderrLog;
  #era: EraName | undefined;
  #asks = false;
  #logLevel: string | undefined;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;
  #callsInFlight = 0;
  #saidLast = "";

  constructor(options: UpstreamOptions, deps: UpstreamDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#logger = deps.logger;
    this.#logLevel = options.logLevel;
    this.#stderr = new StderrLog(deps.logger);
    this.#shared = this.#link(SHARED_CAPABILITIES, options.start === "eager", this.#sharedEvents());
    this.#sessions = new SessionLinks({
      maxSessions: options.maxSessions,
      idleMs: options.idleStopMs,
      open: (client) => this.#link(sessionCapabilities(client.capabilities), false, this.#sessionEvents()),
    });
    this.#subscriptions = new Subscriptions((signal) => this.#shared.get(signal));
    this.#keeper = new ListingKeeper({
      connection: () => this.#shared.current,
      wake: () => this.#shared.wake(),
      isUp: () => this.#shared.state === "ready" || this.#shared.state === "connecting",
      onChanged: () => this.events.changed.emit(),
      save: (listing) => deps.cache?.save({ era: this.#era ?? "legacy", asks: this.#asks, listing }),
      logger: deps.logger,
    });
  }

  /** Starts in the background and returns at once. */
  open(): void {
    const recalled = this.#recall();
    this.#keeper.open(recalled);
    // What is remembered spares the first connection the probe.
    if (this.#options.start === "eager") void recalled.then(() => this.#shared.start());
  }

  /** The last known listing; waits a bounded time for one that changes, or that was never read. */
  listing(): ServerListing | Promise<ServerListing> {
    return this.#keeper.listing();
  }

  /** Reads the listing from the server now, connecting if need be. Rejects with a `FailError`; the last known listing is then kept. */
  async refresh(signal: AbortSignal): Promise<void> {
    await this.#shared.get(signal);
    await untilAborted(this.#keeper.reread(), signal);
    if (this.#keeper.failure) throw new FailError(this.#keeper.failure);
    this.#stopWhenIdle();
  }

  /** Makes a call: over the shared connection, or over that of the caller's session. Expected failures are outcomes. */
  async call(call: Call, request: CallRequest): Promise<Outcome> {
    this.#callsInFlight += 1;
    clearTimeout(this.#idle);
    try {
      return await this.#call(call, request);
    } catch (error) {
      return failureOf(error);
    } finally {
      this.#callsInFlight -= 1;
      this.#stopWhenIdle();
    }
  }

  /** Keeps `resourceUpdated` coming for `uri`. Rejects with a `FailError` when the server cannot or will not. */
  async subscribe(uri: string): Promise<() => Promise<void>> {
    const release = await this.#subscriptions.add(uri);
    return async () => {
      await release();
      this.#stopWhenIdle();
    };
  }

  async setLogLevel(level: string): Promise<void> {
    this.#logLevel = level;
    const connections = [this.#shared, ...this.#sessions.all()].flatMap(({ current }) => current ?? []);
    await Promise.all(connections.map((connection) => this.#tellLogLevel(connection, level)));
  }

  rootsChanged(connection: string): void {
    void this.#sessions.find(connection)?.current?.rootsChanged();
  }

  release(connection: string): void {
    void this.#sessions.release(connection);
  }

  status(): ProviderStatus {
    return toStatus({
      link: this.#shared,
      isClosed: this.#isClosed,
      isLazy: this.#options.start === "lazy",
      listingFailure: this.#keeper.failure,
      era: this.#era,
      sessions: this.#sessions.size,
      stderr: this.#stderr.lines(),
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#keeper.close();
    await Promise.all([this.#shared.close(), this.#sessions.close(), this.#deps.cache?.close()]);
  }

  async #call(call: Call, request: CallRequest): Promise<Outcome> {
    const link = this.#linkFor(call);
    const startedAt = performance.now();
    const connection = await link.get(cancellationOf(call));
    const outcome = await connection.call(call, request);
    if (outcome.ok) return outcome;
    if (outcome.rpcError?.code === RPC.headerMismatch) return await this.#callWithFreshSchema(call, request, connection);
    if (outcome.kind === "timeout") void this.#checkPulse(link, connection, startedAt);
    if (outcome.kind !== "unavailable" || outcome.details?.["sent"] !== false || cancellationOf(call).aborted) return outcome;
    if (!isUseless(connection, outcome)) return outcome;
    // It never reached the server, so another connection may carry it.
    if (outcome.details["sessionLost"] === true) link.retire(connection, outcome);
    // The others on it were on their way: they must not read that they never were.
    else link.replace(connection, { ...outcome, retryable: false, details: { ...outcome.details, sent: true } });
    const next = await link.get(cancellationOf(call));
    return await next.call(call, request);
  }

  // The server compares headers with a schema that is newer than ours.
  async #callWithFreshSchema(call: Call, request: CallRequest, connection: Connection): Promise<Outcome> {
    await this.#keeper.refresh();
    const { name } = request.params;
    const listing = await this.#keeper.listing();
    const inputSchema = listing.tools.find((tool) => tool["name"] === name)?.["inputSchema"];
    return await connection.call(call, inputSchema === undefined ? request : { ...request, inputSchema: inputSchema as JsonObject });
  }

  async #checkPulse(link: Link, connection: Connection, startedAt: number): Promise<void> {
    if (!(await hangs(connection, startedAt, this.#deps.pulseMs ?? PULSE_MS))) return;
    this.#logger.warning("The server hangs: it answers neither calls nor pings. It is ended and started again.");
    link.replace(connection, fail("unavailable", "The server hung and was started again.", { retryable: false, details: { sent: true } }));
  }

  #linkFor(call: Call): Link {
    const { connection } = call.client;
    if (this.#isClosed) throw new FailError(fail("unavailable", "This source was closed.", { retryable: false }));
    return this.#options.isolation === "session" && connection !== undefined ? this.#sessions.get(connection, call.client) : this.#shared;
  }

  #link(capabilities: JsonObject, keepAlive: boolean, events: LinkEvents): Link {
    const { openTransport, connectTimeoutMs } = this.#options;
    const { gate = CONNECT_GATE, logger } = this.#deps;
    const connectionOptions = (): ConnectionOptions => ({
      clientInfo: this.#options.clientInfo,
      isShared: capabilities === SHARED_CAPABILITIES,
      capabilities,
      roots: this.#options.roots,
      asks: this.#asks && this.#options.isolation === "shared",
      probeSilenceMs: PROBE_SILENCE_MS,
      logger,
      ...(this.#era && { knownEra: this.#era }),
    });
    return new Link({ openTransport, connectionOptions, connectTimeoutMs, gate, backoff: BACKOFF, keepAlive, logger }, events);
  }

  #sharedEvents(): LinkEvents {
    return {
      ...this.#sessionEvents(),
      onLog: (params) => this.events.log.emit(params),
      onReady: (connection) => {
        this.#settled(connection);
        this.#keeper.connected();
        this.#stopWhenIdle();
        this.#subscriptions.renew(connection).catch((error: unknown) => {
          if (this.#isClosed) return;
          this.#logger.warning("The server does not tell of changes: the subscription failed.", { error: failureOf(error).message });
        });
      },
      onDown: (failure) => {
        this.#say(failure);
        this.#keeper.unreachable();
      },
      onListChanged: () => this.#keeper.outdated(),
    };
  }

  #sessionEvents(): LinkEvents {
    return {
      onReady: (connection) => this.#settled(connection),
      onDown: (failure) => this.#say(failure),
      // What is listed comes from the shared connection.
      onListChanged: () => {},
      onResourceUpdated: (uri, params) => this.events.resourceUpdated.emit({ uri, params }),
      // Nobody but the one caller may see it, and that one listens only during its calls.
      onLog: (params) => this.#logger.debug("A log message of a session's own server belongs to no call.", { level: params["level"] }),
      onAsked: () => this.#asked(),
      onStderr: (line) => this.#stderr.push(line),
    };
  }

  #settled(connection: Connection): void {
    const { name, revision, serverInfo } = connection.era;
    this.#era = name;
    this.#saidLast = "";
    this.#logger.info("Connected.", { era: name, revision, server: serverInfo["name"], serverVersion: serverInfo["version"] });
    if (this.#logLevel !== undefined) void this.#tellLogLevel(connection, this.#logLevel);
  }

  // That one server refuses is no reason for the others to stay silent.
  async #tellLogLevel(connection: Connection, level: string): Promise<void> {
    const deadline = new Deadline({ idleMs: LOG_LEVEL_MS, totalMs: LOG_LEVEL_MS });
    try {
      await connection.setLogLevel(level, deadline.signal);
    } catch (error) {
      this.#logger.debug("The server refused the log level.", { error: failureOf(error).message });
    } finally {
      deadline.clear();
    }
  }

  #asked(): void {
    if (this.#options.isolation === "session" || this.#asks) return;
    this.#asks = true;
    this.#logger.info("The server asks its callers questions; calls of different clients take turns on it from now on.");
    this.#keeper.remember();
  }

  // A server that cannot be reached is news once, not at every attempt.
  #say(failure: Fail): void {
    const facts = { kind: failure.kind, stderr: this.#stderr.lines().slice(-10) };
    if (failure.message === this.#saidLast) return this.#logger.debug(failure.message, facts);
    this.#saidLast = failure.message;
    this.#logger.warning(failure.message, facts);
  }

  async #recall(): Promise<ServerListing | undefined> {
    const remembered = await this.#deps.cache?.load();
    if (!remembered) return undefined;
    this.#era ??= remembered.era;
    this.#asks ||= remembered.asks;
    return remembered.listing;
  }

  #stopWhenIdle(): void {
    clearTimeout(this.#idle);
    if (this.#options.start === "eager" || this.#isClosed || this.#callsInFlight > 0 || this.#subscriptions.size > 0) return;
    this.#idle = setTimeout(() => void this.#shared.stop(), this.#options.idleStopMs);
    this.#idle.unref();
  }
}

/**
 * Whether a message that did not get through says that the whole connection is of no use. Requests on HTTP fail one by one: a server
 * that is busy, or does not take one more, may still be working for others over the same connection.
 */
function isUseless(connection: Connection, { details }: Fail): boolean {
  if (connection.isPipe || connection.closed !== undefined || details?.["sessionLost"] === true) return true;
  return details?.["status"] === undefined && connection.callsInFlight === 0;
}
