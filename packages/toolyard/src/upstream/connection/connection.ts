import { cancellationOf, type Call } from "../../core/calls/call.ts";
import { CallSet } from "../../core/calls/call-map.ts";
import { FailError } from "../../core/errors.ts";
import { objectMember, stringMember, withMember, type JsonObject } from "../../core/json/json.ts";
import { fail, type Fail, type Ok, type Outcome } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { RequestId, RpcNotification } from "../../wire/messages.ts";
import { toOutcome } from "./answers.ts";
import { ServerRequests } from "./server-requests.ts";
import type { Era, HandshakeOptions } from "./era.ts";
import { type RequestIds, Exchange } from "./exchange.ts";
import { failureOf, FaultLog } from "../faults.ts";
import { CallsInFlight } from "./calls-in-flight.ts";
import { LegacySubscriptions } from "../legacy/subscriptions.ts";
import { isAsking, withAnswers } from "../../core/calls/input-rounds.ts";
import { ListenConnection } from "../modern/listen.ts";
import { negotiate } from "./negotiate.ts";
import type { CloseOptions, Transport } from "../transports/transport.ts";
import { Turns } from "./turns.ts";
import type { Watcher } from "../links/watcher.ts";
import { firstChars } from "../../core/text/truncate.ts";

export interface ConnectionOptions extends Omit<HandshakeOptions, "logger"> {
  /** Counter that continues the request ids of an earlier connection. @default new ids */
  readonly requestIds?: RequestIds | undefined;
  /** Roots with which the hub answers `roots/list` outside a call. */
  readonly roots: readonly JsonObject[];
  /** True if callers of several clients use the connection. */
  readonly isShared: boolean;
  /** True if the server is known to send requests, so that callers take turns from the start. */
  readonly asks: boolean;
  readonly logger: Logger;
}

export type ChangedList = "tools" | "resources" | "prompts";

export interface ConnectionEvents {
  onListChanged(list: ChangedList | "all"): void;
  onResourceUpdated(uri: string, params: JsonObject): void;
  /** Called with a log message that belongs to no call. */
  onLog(params: JsonObject): void;
  /** Called when the server sends a request that names no call. */
  onAsked(): void;
  /** Called when a request that names no call is sent to a caller of this principal. */
  onPlaced(principal: string): void;
  onStderr(line: string): void;
  /** Called when the connection ended without a `close`. */
  onClose(failure: Fail): void;
}

/** The content of a call's request: `params` are complete except for `_meta`. */
export interface CallRequest {
  readonly params: JsonObject;
  readonly inputSchema?: JsonObject | undefined;
  /** Method that is sent. @default the call's method */
  readonly method?: string;
  /** True if the call is repeated, because its session was lost. */
  readonly afterLoss?: boolean | undefined;
  /** The tool's `execution`, which states whether the call may be a task. */
  readonly execution?: JsonObject | undefined;
  /** Converts the reply. @default `toOutcome` */
  readonly readReply?: typeof toOutcome;
}

/** One open connection to one MCP server, in either era, over any transport. After its end it is never opened again. */
export class Connection {
  readonly #transport: Transport;
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #exchange: Exchange;
  readonly #faults: FaultLog;
  readonly #inFlight = new CallsInFlight();
  readonly #turns: Turns;
  readonly #asks: ServerRequests;
  #era: Era | undefined;
  #watcher: Watcher | undefined;
  #isClosing = false;
  readonly #inUse = new CallSet<Call>();
  #repliesAtStart = 0;

  constructor(transport: Transport, options: ConnectionOptions, events: ConnectionEvents) {
    this.#transport = transport;
    this.#options = options;
    this.#events = events;
    this.#faults = new FaultLog(options.logger);
    this.#turns = new Turns(options.asks);
    this.#exchange = new Exchange(
      transport,
      {
        onRequest: (request, related) => this.#asks.receive(request, related),
        onNotification: (notification, related) => this.#onNotification(notification, related),
        onClose: (failure) => this.#onClose(failure),
        onStderr: (line) => events.onStderr(line),
        onResumed: () => events.onListChanged("all"),
      },
      { faults: this.#faults, ids: options.requestIds },
    );
    this.#asks = new ServerRequests({
      inFlight: this.#inFlight,
      turns: this.#turns,
      faults: this.#faults,
      roots: options.roots,
      // During the start of a shared server, requests are not sent to a caller: most servers that request roots do so
      // at their start, and one caller's folders would then be given to all callers.
      isStarting: () => options.isShared && this.#repliesAtStart === this.#exchange.replies,
      onAsked: () => events.onAsked(),
      onPlaced: (principal) => events.onPlaced(principal),
      answer: (reply, relatedTo) => void this.#exchange.post(reply, relatedTo),
    });
  }

  /**
   * Opens the transport and determines the era. On failure, closes everything and rejects with a `FailError` with the
   * reason.
   */
  async open(signal: AbortSignal): Promise<void> {
    try {
      await this.#exchange.open(signal);
      this.#era = await negotiate(
        { exchange: this.#exchange, transport: this.#transport, options: this.#options },
        signal,
      );
    } catch (error) {
      // The transport's own reason is used if there is one, because it is more precise than the failure that followed
      // from it.
      const failure = this.#exchange.closed ?? failureOf(error);
      await this.close(failure, { isUseless: true });
      throw new FailError(failure);
    }
    this.#repliesAtStart = this.#exchange.replies;
    this.#watcher =
      this.#era.name === "modern"
        ? new ListenConnection(this.#exchange, this.#era, () => this.#events.onListChanged("all"))
        : new LegacySubscriptions(this.#exchange);
  }

  /** Result of the handshake. Available only after `open`. */
  get era(): Era {
    if (!this.#era) throw new Error("The connection is not open.");
    return this.#era;
  }

  get closed(): Fail | undefined {
    return this.#exchange.closed;
  }

  /** True while a caller waits for an answer, including the time between two requests while a user is asked. */
  get isInUse(): boolean {
    return this.#inUse.values().some((call) => !cancellationOf(call).aborted);
  }

  get callsInFlight(): number {
    return this.#inFlight.size;
  }

  /** Principals of the calls in flight, the earliest first. */
  get principals(): readonly string[] {
    return this.#inFlight.values().map(({ principal }) => principal.id);
  }

  /** Time of the last message from the server, on the clock of `performance.now()`. */
  get heardAt(): number {
    return this.#exchange.heardAt;
  }

  /** True if one stream carries everything. A server that sends no answers on it then hangs as a whole. */
  get isPipe(): boolean {
    return !this.#transport.perRequestStreams;
  }

  get mirrorsParams(): boolean {
    return this.#transport.mirrorsParams;
  }

  /**
   * Sends a call to the server, and repeats it with the caller's answers to server requests. Expected failures are
   * outcomes; never throws.
   */
  async call(call: Call, request: CallRequest): Promise<Outcome> {
    let hasTurn = false;
    try {
      this.#inUse.add(call);
      // Turns are needed only in the legacy era. In the modern era, a server request is part of the answer to its own
      // call.
      if (this.era.name === "legacy") {
        const entering = this.#turns.enter(call);
        if (entering) await entering;
        hasTurn = true;
      }
      const outcome = await this.#attempt(call, request);
      return isAsking(outcome, call) ? await this.#answering(outcome, call, request) : outcome;
    } catch (error) {
      return failureOf(error);
    } finally {
      this.#inUse.delete(call);
      if (hasTurn) this.#turns.leave(call);
    }
  }

  /** Sends a request of the hub itself. Rejects with a `FailError`. */
  request(method: string, params: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const meta = this.era.envelope({});
    const hasMeta = Object.keys(meta).length > 0;
    return this.#exchange.request(method, hasMeta ? withMember(params, "_meta", meta) : params, {
      signal,
      cancelBy: this.era.cancelBy,
    });
  }

  /** Resolves when the server answers, even with an error. */
  async ping(signal: AbortSignal): Promise<void> {
    try {
      await this.request(this.era.name === "legacy" ? "ping" : "server/discover", {}, signal);
    } catch (error) {
      if (!failureOf(error).rpcError) throw error;
    }
  }

  /** Subscribes to changes of these resources and of the server's lists. */
  async watch(uris: ReadonlySet<string>): Promise<void> {
    await this.#watcher?.watch(uris);
  }

  async setLogLevel(level: string, signal?: AbortSignal): Promise<void> {
    // In the modern era, each request contains the level, so nothing is sent.
    if (this.era.name === "modern" || !objectMember(this.era.capabilities, "logging")) return;
    await this.request("logging/setLevel", { level }, signal);
  }

  async rootsChanged(): Promise<void> {
    if (this.era.name === "legacy")
      await this.#exchange.post({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
  }

  describe(): JsonObject {
    const faults = this.#faults.counts();
    return {
      ...this.#transport.describe(),
      ...(this.#era && { era: this.#era.name, revision: this.#era.revision, server: this.#era.serverInfo }),
      ...(this.#turns.isSerial && this.#era?.name === "legacy" && { takesTurns: true }),
      ...(Object.keys(faults).length > 0 && { faults }),
    };
  }

  /** Ends the connection. Calls in flight end with `failure`. */
  async close(failure: Fail = CLOSED, options?: CloseOptions): Promise<void> {
    this.#isClosing = true;
    this.#watcher?.close();
    await this.#exchange.close(failure, options);
  }

  /** Asks the caller for the input that the server requests, and repeats the call with it. */
  #answering(asking: Ok, call: Call, request: CallRequest): Promise<Outcome> {
    return withAnswers(asking, call, (extra) =>
      this.#attempt(call, { ...request, params: { ...request.params, ...extra } }),
    );
  }

  async #attempt(call: Call, request: CallRequest): Promise<Outcome> {
    const { params, inputSchema, afterLoss, method = call.method, readReply = toOutcome } = request;
    const era = this.era;
    const meta = era.envelope(call.meta, { client: call.client, logLevel: call.wants.logLevel });
    const sent = this.#exchange.start(method, isEmpty(meta) ? params : withMember(params, "_meta", meta), {
      signal: cancellationOf(call),
      cancelBy: era.cancelBy,
      onProgress: (progress) => {
        this.#inFlight.speaks(call);
        onProgress(call, progress);
      },
      send: { inputSchema, caller: call, afterLoss },
    });
    this.#inFlight.set(sent.id, call);
    try {
      return readReply(call.method, await sent.reply);
    } finally {
      this.#inFlight.delete(sent.id);
      this.#asks.ended(call);
    }
  }

  #onNotification(notification: RpcNotification, related: RequestId | undefined): void {
    const { method, params = {} } = notification;
    if (this.#watcher?.takes(notification, related)) return;
    const list = LIST_CHANGES.get(method);
    // Accepted with any declared capabilities and on any stream, even that of a call, because reading a list
    // unnecessarily does no harm.
    if (list) return this.#events.onListChanged(list);
    switch (method) {
      case "notifications/resources/updated": {
        const uri = stringMember(params, "uri");
        if (uri !== undefined && this.#watcher?.accepts(notification, related))
          this.#events.onResourceUpdated(uri, params);
        return;
      }
      case "notifications/message":
        return this.#onLog(params, related);
      case "notifications/cancelled":
        return this.#onCancelled(params, related);
      default:
        // Other notifications go to the calls in flight, such as `notifications/elicitation/complete` and those of
        // later revisions.
        if (this.#inFlight.tell({ method, params }, related)) return;
        this.#options.logger.debug("A notification that belongs to no call was dropped.", {
          method: firstChars(method, 100),
        });
    }
  }

  /**
   * Handles a cancellation by the server. In MCP, servers cancel only their own requests, but some servers also cancel
   * a client's request, for example at shutdown, and then never answer the request.
   */
  #onCancelled({ requestId, reason }: JsonObject, related: RequestId | undefined): void {
    if (this.#asks.cancel(requestId, related)) return;
    const why = typeof reason === "string" && reason !== "" ? `: ${firstChars(reason, MAX_REASON_CHARS)}` : ".";
    this.#exchange.withdraw(requestId, fail("tool_error", `The server cancelled this request${why}`));
  }

  #onLog(params: JsonObject, related: RequestId | undefined): void {
    if (this.#inFlight.tell({ method: "notifications/message", params }, related)) return;
    if (this.#inFlight.size === 0) return this.#events.onLog(params);
    this.#faults.report(
      "log-of-several",
      "The server logs during calls of several callers; such messages go to none of them.",
    );
  }

  #onClose(failure: Fail): void {
    this.#asks.close(failure);
    this.#watcher?.close();
    if (!this.#isClosing) this.#events.onClose(failure);
  }
}

/** Maximum number of characters of a server's reason that is passed on. */
const MAX_REASON_CHARS = 1000;

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

const CLOSED = fail("unavailable", "The connection to the server was closed by the hub.", {
  retryable: false,
  details: { sent: true },
});

const LIST_CHANGES = new Map<string, ChangedList>([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/resources/list_changed", "resources"],
  ["notifications/prompts/list_changed", "prompts"],
]);

function onProgress(call: Call, progress: JsonObject): void {
  call.deadline?.touch();
  if (!call.wants.progress) return;
  const { progressToken: _token, ...params } = progress;
  call.notify({ method: "notifications/progress", params });
}
