import type { Cancellation } from "../../core/calls/cancellation.ts";
import { FailError } from "../../core/errors.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { orAborted } from "../../core/timing/wait.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { Backoff, type BackoffOptions } from "./backoff.ts";
import { Connection, type ConnectionEvents, type ConnectionOptions } from "../connection/connection.ts";
import { unsent } from "../connection/exchange.ts";
import { failureOf } from "../faults.ts";
import type { Gate } from "./gate.ts";
import type { Installer } from "./installer.ts";
import { startInstalled, StartLines } from "./start-installed.ts";
import { StartClock } from "./start-clock.ts";
import type { CloseOptions, OpenTransport } from "../transports/transport.ts";

export type LinkState = "idle" | "connecting" | "ready" | "down" | "closed";

export interface LinkOptions {
  readonly openTransport: OpenTransport;
  /** Called for each attempt, because more facts about the server become known over time. */
  connectionOptions(): ConnectionOptions;
  readonly connectTimeoutMs: number;
  readonly gate: Gate;
  /** Present if starting the server may download packages. */
  readonly installer?: Installer | undefined;
  readonly backoff: BackoffOptions;
  /** Returns whether the link reconnects automatically after a loss. Otherwise it reconnects on demand. */
  keepAlive(): boolean;
  /** Minimum time in milliseconds between a failed attempt and the next. @default 500 */
  readonly retryFloorMs?: number | undefined;
  readonly logger: Logger;
}

export interface LinkEvents extends Omit<ConnectionEvents, "onClose"> {
  onReady(connection: Connection): void;
  /** Called if a start reported on stderr that its package must be downloaded. */
  onMissing(lines: readonly string[]): void;
  /** Called when a connection was lost or could not be opened. */
  onDown(failure: Fail): void;
}

/** Time after a failed attempt during which callers get its failure instead of a new attempt. */
const RETRY_FLOOR_MS = 500;
/** Time after a failed attempt during which list requests cause no new attempt. */
const WAKE_FLOOR_MS = 10_000;

/** Maintains one connection to a server: opens it, reopens it after a loss, and never has two at a time. */
export class Link {
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  readonly #backoff: Backoff;
  readonly #closing = new AbortController();
  readonly #lines = new StartLines();
  #state: LinkState = "idle";
  /** The open connection, if there is one. Only this link sets it. */
  current: Connection | undefined;
  #attempt: Promise<Connection> | undefined;
  /** The connection that is being opened, during a start. */
  #opening: Connection | undefined;
  #clock: StartClock | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failure: Fail | undefined;
  #failedAt = -Infinity;
  #connects = 0;
  /** Resolves when the connection that was last closed for idleness has ended. */
  #stopping: Promise<void> | undefined;
  readonly #ending = new Set<Promise<void>>();
  since = new Date();

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#backoff = new Backoff(options.backoff);
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Milliseconds of the current start during which the machine was too busy. */
  get delayedMs(): number {
    return this.#clock?.lostMs ?? 0;
  }

  get failure(): Fail | undefined {
    return this.#failure;
  }

  get restarts(): number {
    return Math.max(0, this.#connects - 1);
  }

  /** Connects in the background, unless the last attempt failed a short time ago. */
  wake(): void {
    if (performance.now() - this.#failedAt >= WAKE_FLOOR_MS) this.start();
  }

  /** Connects in the background, limited by the gate. */
  start(): void {
    if (this.#state === "idle" || this.#state === "down") this.#connect(false).catch(() => {});
  }

  /**
   * Returns the open connection, connecting first if needed. Rejects with a `FailError` if connecting fails or is
   * aborted.
   */
  async get(signal: Cancellation): Promise<Connection> {
    if (this.current) return this.current;
    if (this.#state === "closed") throw new FailError(CLOSED);
    const { retryFloorMs = RETRY_FLOOR_MS } = this.#options;
    const isFresh = this.#state === "down" && performance.now() - this.#failedAt < retryFloorMs;
    if (isFresh && this.#failure) throw new FailError(unsent(this.#failure));
    return await orAborted(this.#connect(true), signal);
  }

  /** Removes the last failure, because its cause is fixed. The next attempt then need not wait. */
  forgive(): void {
    this.#failedAt = -Infinity;
  }

  /** Closes an unusable connection; the next `get` opens another. */
  replace(connection: Connection, failure: Fail, options?: CloseOptions): void {
    if (this.current !== connection) return;
    this.#lost(failure);
    void this.#end(connection, failure, options);
  }

  /**
   * Replaces the connection like `replace`, but lets it end by itself: its requests in flight may still be answered, or
   * be reported as never started.
   */
  retire(connection: Connection, failure: Fail): void {
    if (this.current === connection) this.#lost(failure);
  }

  /** Closes an idle connection. It is reopened on demand. */
  async stop(): Promise<void> {
    const connection = this.current;
    if (!connection) return;
    this.#enter("idle");
    this.current = undefined;
    this.#stopping = this.#end(connection);
    await this.#stopping;
  }

  /** Closes the link. `failure` is the outcome of calls in flight. @default a failure that reports the closed link */
  async close(failure?: Fail): Promise<void> {
    if (this.#state === "closed") return void (await Promise.all(this.#ending));
    this.#enter("closed");
    const connection = this.current;
    this.current = undefined;
    clearTimeout(this.#retry);
    const left = this.#options.installer?.leaving();
    this.#closing.abort(new FailError(failure ?? CLOSED));
    const attempt = this.#attempt;
    if (connection) void this.#end(connection, failure);
    await attempt?.catch(() => {});
    await Promise.all(this.#ending);
    left?.();
  }

  #connect(isUrgent: boolean): Promise<Connection> {
    clearTimeout(this.#retry);
    this.#attempt ??= this.#make(isUrgent).finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  async #make(isUrgent: boolean): Promise<Connection> {
    this.#enter("connecting");
    // Waits for the end of the previous process, because a server that saves its state must finish before its next
    // process loads the state.
    if (this.#stopping) await this.#stopping;
    try {
      const work = (): Promise<Connection> => this.#openInTime();
      const { gate, installer } = this.#options;
      const { signal } = this.#closing;
      const start = (): Promise<Connection> => (isUrgent ? work() : gate.run(work, signal));
      const { onMissing } = this.#events;
      const connection = await startInstalled(start, { installer, signal, lines: this.#lines, onMissing });
      this.#ready(connection);
      return connection;
    } catch (error) {
      throw new FailError(this.#failed(failureOf(error)));
    }
  }

  async #openInTime(): Promise<Connection> {
    const { connectTimeoutMs: timeoutMs, installer } = this.#options;
    const clock = new StartClock({
      timeoutMs,
      totalMs: Math.max(timeoutMs, installer?.maxMs ?? 0),
      pid: () => pidOf(this.#opening),
    });
    this.#clock = clock;
    const unwatch = installer?.watch(() => clock.touch());
    try {
      return await this.#open(AbortSignal.any([clock.signal, this.#closing.signal]));
    } catch (error) {
      throw clock.signal.aborted ? new FailError(clock.failure) : error;
    } finally {
      unwatch?.();
      clock.stop();
      this.#clock = undefined;
      this.#opening = undefined;
    }
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const options = this.#options.connectionOptions();
    try {
      return await this.#openOnce(options, signal);
    } catch (error) {
      const otherwise = this.#askedOtherwise(options, failureOf(error));
      if (!otherwise || signal.aborted) throw error;
      return await this.#openOnce(otherwise, signal);
    }
  }

  /**
   * Returns options for a second attempt after a server could not be opened. Returns `undefined` if a second attempt
   * would not help.
   */
  #askedOtherwise(options: ConnectionOptions, { details }: Fail): ConnectionOptions | undefined {
    if (details?.["spokeBoth"] === true) return { ...options, knownEra: "modern" };
    // Some servers exit at any request before `initialize`. They are started again without the probe.
    const hasEnded = options.era === "auto" && details?.["exitCode"] !== undefined;
    if (!hasEnded || this.#options.installer?.verdict(this.#lines.all) !== undefined) return undefined;
    const { prefersLegacy, ...plain } = options;
    if (prefersLegacy) return { ...plain, knownEra: "modern" };
    return options.knownEra === undefined ? { ...options, knownEra: "legacy" } : undefined;
  }

  async #openOnce(options: ConnectionOptions, signal: AbortSignal): Promise<Connection> {
    const connection: Connection = new Connection(this.#options.openTransport(), options, {
      ...this.#events,
      onStderr: (line) => {
        if (this.#state !== "ready") this.#heard(line);
        this.#events.onStderr(line);
      },
      onClose: (failure) => {
        if (this.current === connection) this.#lost(failure);
        // Also ends a connection whose transport has already ended.
        void this.#end(connection);
      },
    });
    this.#opening = connection;
    await connection.open(signal);
    return connection;
  }

  #heard(line: string): void {
    this.#lines.push(line);
    this.#options.installer?.heard();
  }

  #ready(connection: Connection): void {
    if (this.#state === "closed") {
      void this.#end(connection);
      throw new FailError(CLOSED);
    }
    // The connection may have ended directly after its last answer.
    if (connection.closed) throw new FailError(connection.closed);
    this.current = connection;
    this.#connects += 1;
    this.#backoff.succeeded();
    this.#failure = undefined;
    this.#enter("ready");
    this.#events.onReady(connection);
  }

  #failed(failure: Fail): Fail {
    if (this.#state === "closed") return failure;
    this.#failure = failure;
    this.#failedAt = performance.now();
    this.#enter("down");
    this.#retryLater();
    this.#events.onDown(failure);
    return unsent(failure);
  }

  #lost(failure: Fail): void {
    this.current = undefined;
    this.#failure = failure;
    this.#enter("down");
    this.#retryLater();
    this.#events.onDown(failure);
  }

  #retryLater(): void {
    if (!this.#options.keepAlive()) return;
    clearTimeout(this.#retry);
    const { maxMs } = this.#options.backoff;
    // An immediate retry would not help, because a sign-in needs a user and a download takes time.
    const isLasting = this.#failure?.kind === "needs_authorisation" || this.#failure?.details?.["install"] === true;
    const pauseMs = isLasting ? maxMs : this.#backoff.nextMs();
    this.#retry = setTimeout(() => this.start(), pauseMs);
    this.#retry.unref();
  }

  #enter(state: LinkState): void {
    this.#state = state;
    this.since = new Date();
  }

  #end(connection: Connection, failure?: Fail, options?: CloseOptions): Promise<void> {
    const ending = connection.close(failure, options).catch((error: unknown) => {
      this.#options.logger.warning("A connection did not close cleanly.", { error: String(error) });
    });
    this.#ending.add(ending);
    return ending.finally(() => this.#ending.delete(ending));
  }
}

const CLOSED = fail("unavailable", "This source was closed.", { retryable: false });

function pidOf(connection: Connection | undefined): number | undefined {
  const pid = connection?.describe()["pid"];
  return typeof pid === "number" ? pid : undefined;
}
