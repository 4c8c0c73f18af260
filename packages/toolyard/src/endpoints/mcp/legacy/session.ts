import { randomInt } from "node:crypto";
import type { Span, Tracing } from "../../../core/ports/tracing.ts";
import { endRequestSpan, startRequestSpan, type TracedRequest } from "../request-span.ts";
import type { ServerRequest, Client, Principal, ToolMode } from "../../../core/calls/call.ts";
import type { HubPort, View } from "../../../core/ports/hub-port.ts";
import type { Tasks } from "../../../core/ports/tasks.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../../core/json/json.ts";
import type { RpcErrorObject } from "../../../core/calls/outcome.ts";
import { permissionOf } from "../../../core/ports/rights.ts";
import type { SessionRecord } from "../../../state/ports/session-records.ts";
import type { HubState } from "../../../state/ports/store.ts";
import { answerInDialects, type DialectRequest } from "../../dialect.ts";
import {
  ASSUMED_LEGACY_REVISION,
  legacyRevision,
  negotiateLegacyRevision,
  type LegacyRevision,
} from "../../../wire/legacy/revisions.ts";
import {
  classifyMessage,
  RPC,
  type ClassifiedMessage,
  type RpcNotification,
  type RpcRequest,
} from "../../../wire/messages.ts";
import { errorAnswer, resultAnswer, type McpAnswer } from "../answers.ts";
import { readOffer, serverInfo, withoutListChanges, type HubOffer } from "../capabilities.ts";
import { isLogLevel, reachesLevel } from "../../../wire/log-level.ts";
import { answerCall } from "../call-methods.ts";
import {
  faultAnswer,
  answerList,
  isPassedOn,
  SHARED_METHODS,
  methodNotFound,
  type MethodRequest,
  type MethodsDeps,
} from "../methods.ts";
import { progressGap } from "../progress-gap.ts";
import type { RemoteHubs } from "../remote-hubs.ts";
import { isSamePrincipal } from "../../../http/adapters/workers/principal-text.ts";
import { defaultModeFor, toolModeOfMeta } from "../../tool-mode.ts";
import { askProblem, SessionServerRequests } from "./session-server-requests.ts";
import type { ListVersions } from "../list-watch.ts";
import type { BoardMember, SessionBoard } from "./board.ts";
import { CallScope, type ScopeOwner } from "./call-scope.ts";
import { describeClient, metaWithoutToken, readHandshake, takesAnyLineAsAnswer } from "./client-info.ts";
import type { LegacyCodecs } from "./codec.ts";
import { InFlight } from "./in-flight.ts";
import { KnownLists } from "./known-lists.ts";
import type { LegacySessionOptions } from "./options.ts";
import { lastingOutlet, type Outlet } from "./outlet.ts";
import { findNullIdRequest, refuseInvalid, reply, replyError } from "./replies.ts";
import type { MessageContext, SessionStart } from "./session-start.ts";
import { SessionSubscriptions } from "./subscriptions.ts";
import type { SessionTasks, TaskOwner } from "./session-tasks.ts";

const DONE = Promise.resolve();
/**
 * Lowest number of the first request to the client after another hub took the session over. The client may still answer
 * a request of the previous hub, which must not be taken for an answer to a new one.
 */
const FIRST_RESTORED_ASK = 1_000_000_000;
/** Maximum number of pending requests to one client. */
const MAX_WAITING_ASKS = 64;

/** Parts that all sessions of one endpoint share. */
export interface SessionDeps extends MethodsDeps {
  readonly board: SessionBoard;
  readonly codecs: LegacyCodecs;
  readonly options: LegacySessionOptions;
  /** Tool mode of sessions that name no tool mode. */
  readonly defaultMode: ToolMode;
  readonly state: HubState;
  /** Tasks. Absent: no call becomes a task. */
  readonly tasks?: Tasks | undefined;
  /** The other hubs of the store. Absent: there are none. */
  readonly remote?: RemoteHubs | undefined;
}

/**
 * One client of the legacy era: handshake, requests in both directions, notifications, subscriptions. Independent of
 * the transport, which passes parsed messages and outlets. Messages are handled concurrently; a pending request does
 * not delay others.
 */
export class LegacySession implements BoardMember, ScopeOwner, TaskOwner {
  readonly endpoint: string;
  readonly #deps: SessionDeps;
  readonly #outlet: Outlet;
  readonly #asks: SessionServerRequests;
  readonly #inFlight: InFlight;
  readonly #subscriptions: SessionSubscriptions;
  readonly #onRecord: ((record: SessionRecord) => void) | undefined;
  /** State of this session that can be serialised. */
  #record: SessionRecord;
  /** Revision that the record names. */
  #revision: LegacyRevision = ASSUMED_LEGACY_REVISION;
  /**
   * Phase of the session: `opening` after `initialize` arrives, `open` after it is answered, `ready` after the client
   * has also sent `initialized`.
   */
  #phase: "new" | "opening" | "open" | "ready" | "closed" = "new";
  #isInitialized = false;
  /** Present after the first request of this session about a task. */
  #tasks: Promise<SessionTasks> | undefined;
  readonly #lists = new KnownLists();

  constructor(deps: SessionDeps, start: SessionStart) {
    this.#deps = deps;
    this.endpoint = start.endpoint;
    this.#outlet = start.outlet;
    this.#onRecord = start.onRecord;
    this.#record = {
      principal: start.principal,
      client: { ...(start.connection === undefined ? {} : { connection: start.connection }), capabilities: {} },
      revision: this.#revision.date,
      mode: defaultModeFor(start.principal, deps.defaultMode),
      subscriptions: [],
    };
    this.#inFlight = new InFlight(deps.options.maxInFlight);
    this.#asks = new SessionServerRequests({ timeoutMs: deps.options.askTimeoutMs, maxWaiting: MAX_WAITING_ASKS });
    this.#subscriptions = new SessionSubscriptions(deps, this, (subscriptions) => this.#note({ subscriptions }));
    if (start.restored) this.#restore(start.restored);
  }

  /**
   * Continues a session that another hub held: with its handshake, mode and subscriptions, but with the current rights
   * of the caller and a new connection to the sources.
   */
  #restore(record: SessionRecord): void {
    const { connection } = this.#record.client;
    const client = { ...record.client, ...(connection !== undefined && { connection }) };
    this.#record = { ...record, principal: this.#record.principal, client };
    this.#revision = legacyRevision(record.revision) ?? ASSUMED_LEGACY_REVISION;
    this.#isInitialized = record.isInitialized ?? false;
    this.#phase = "open";
    this.#asks.startAfter(randomInt(FIRST_RESTORED_ASK, 2 * FIRST_RESTORED_ASK));
    const codec = this.#deps.codecs.for(this.#revision);
    for (const uri of record.subscriptions) void this.#subscriptions.add({ uri }, codec);
    if (record.logLevel !== undefined && connection !== undefined)
      void this.#deps.hub.setLogLevel(connection, record.logLevel);
    void this.#restoreLists();
  }

  /** Records the current lists as those that the client has seen. */
  async #restoreLists(): Promise<void> {
    const { lists, capabilities } = await readOffer(this.#deps.hub, this.view);
    if (this.#phase !== "closed") this.#lists.offered(lists, capabilities);
    this.#becomeReady();
  }

  get record(): SessionRecord {
    return this.#record;
  }

  get revision(): LegacyRevision {
    return this.#revision;
  }

  /** True after `initialize` was answered. */
  get opened(): boolean {
    return this.#phase === "open" || this.#phase === "ready";
  }

  get principal(): Principal {
    return this.#record.principal;
  }

  get busy(): boolean {
    return this.#inFlight.size > 0;
  }

  get view(): View {
    return this.#viewIn(this.#record.mode);
  }

  get client(): Client {
    return this.#record.client;
  }

  get logLevel(): string {
    return this.#record.logLevel ?? "debug";
  }

  get hub(): HubPort {
    return this.#deps.hub;
  }

  /**
   * Handles one parsed message of any type. Resolves when nothing more will be sent to its outlet: a request has its
   * reply or was cancelled. Never rejects. `classified` is the result of `classifyMessage` for the value, if the caller
   * has it.
   */
  receive(
    value: unknown,
    received: MessageContext,
    classified: ClassifiedMessage = classifyMessage(value),
  ): Promise<void> {
    if (this.#phase === "closed") return DONE;
    const { principal } = received;
    if (principal && !isSamePrincipal(principal, this.#record.principal)) this.#note({ principal });
    switch (classified.type) {
      case "reply":
        this.#asks.settle(classified.message);
        return DONE;
      case "notification":
        return this.#notified(classified.message, received) ?? DONE;
      case "request":
        return this.#answer(classified.message, received);
      case "invalid":
        return this.#invalid(value, classified, received);
    }
  }

  #invalid(
    value: unknown,
    { id, reason }: Extract<ClassifiedMessage, { type: "invalid" }>,
    received: MessageContext,
  ): Promise<void> {
    const nullId = findNullIdRequest(value);
    if (nullId && isJsonObject(value)) return this.#runNameless(nullId, received, value);
    refuseInvalid(value, { id, reason }, received);
    return DONE;
  }

  /**
   * Rejects the pending server requests, because the client can no longer answer them. Running requests continue,
   * because the client may still read their answers.
   */
  endQuestions(): void {
    this.#asks.close();
  }

  /** Cancels the running requests without an answer. */
  abandon(reason: string): void {
    this.#inFlight.cancelAll(reason);
  }

  /**
   * Ends the session: running requests are cancelled and answered with `error`, subscriptions end, and the hub
   * releases the connection.
   */
  close(reason = "The session has ended.", error?: RpcErrorObject): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    this.#deps.board.leave(this);
    this.#inFlight.endAll(reason, error);
    this.#asks.close();
    this.#subscriptions.close();
    void this.#tasks?.then((tasks) => tasks.close());
    const { connection } = this.client;
    if (connection !== undefined) this.#deps.hub.release(connection);
  }

  wantsLog(level: unknown): boolean {
    const { logLevel, client } = this.#record;
    if (logLevel === undefined && takesAnyLineAsAnswer(client, this.#revision)) return false;
    // Log messages are sent even if logging was not advertised: many servers log without declaring it, and directly
    // connected clients receive those messages.
    return logLevel === undefined || reachesLevel(level, logLevel);
  }

  askProblem(ask: ServerRequest): string | undefined {
    return askProblem(ask, this.client.capabilities, this.#revision);
  }

  /** Sends a notification that belongs to no request. */
  note(text: string): void {
    if (this.#phase !== "closed" && !takesAnyLineAsAnswer(this.client, this.#revision)) this.#outlet.note(text);
  }

  put(ask: ServerRequest, outlet: Outlet, signal: AbortSignal): Promise<JsonObject> {
    return this.#asks.put(ask, ask.outlivesCall ? lastingOutlet(outlet, this.#outlet) : outlet, signal);
  }

  listsMayHaveChanged(versions: ListVersions): void {
    if (this.#phase !== "ready" || takesAnyLineAsAnswer(this.client, this.#revision)) return;
    for (const notification of this.#lists.outdated(versions)) this.#outlet.note(notification);
  }

  resourceUpdated(text: string): void {
    this.#outlet.note(text);
  }

  logged(level: unknown, text: string): void {
    // A message that belongs to no call may contain anything, so callers with narrowed rights do not receive it.
    if (this.#phase === "ready" && !permissionOf(this.principal.rights).isNarrowed && this.wantsLog(level))
      this.#outlet.note(text);
  }

  async #answer(request: RpcRequest, received: MessageContext): Promise<void> {
    const { id } = request;
    const { outlet } = received;
    const { tracing } = this.#deps;
    const problem = this.#inFlight.problemOf(id);
    if (problem) return replyError(outlet, id, problem);
    const scope = new CallScope(this, outlet, request.params);
    this.#inFlight.add(id, scope);
    if (tracing) scope.requestSpan = this.#startSpan(request, tracing);
    let answer: McpAnswer;
    try {
      answer = await this.#dispatch(request, scope, received);
    } catch (error) {
      answer = faultAnswer(error, request, this.#deps);
    }
    if (scope.requestSpan) endRequestSpan(scope.requestSpan, request, scope.cancellation.aborted ? undefined : answer);
    if (outlet.isShared) await progressGap(scope.progressAt);
    this.#inFlight.remove(id, scope);
    scope.end();
    if (!scope.cancellation.aborted) reply(outlet, id, answer);
    if (request.method === "initialize") this.#becomeReady();
  }

  /** Starts the server span of a request. Calls of the request get its context from the scope. */
  #startSpan(request: TracedRequest, tracing: Tracing): Span | undefined {
    return startRequestSpan(tracing, request, { endpoint: this.endpoint, revision: this.#revision.date });
  }

  /**
   * Runs a request of another dialect without an id, or with the id `null`. Such a request cannot be cancelled. Without
   * an id, it gets no answer. `refused`: the message with the id `null`, which is refused if no dialect knows its
   * method.
   */
  async #runNameless(
    { method, params = {} }: RpcNotification,
    received: MessageContext,
    refused?: JsonObject,
  ): Promise<void> {
    const key = Symbol(method);
    const problem = this.#inFlight.problemOf(key);
    if (problem && refused) return replyError(received.outlet, null, problem);
    if (problem)
      return this.#deps.logger.warning("A request without an id was not run.", { method, reason: problem.message });
    const scope = new CallScope(this, received.outlet, params);
    const { tracing } = this.#deps;
    const request = { method, params };
    const span = tracing && this.#startSpan(request, tracing);
    scope.requestSpan = span;
    const answering = this.#inDialects(request, scope, received);
    if (!answering) {
      if (span) endRequestSpan(span, request, methodNotFound(method));
      return (
        refused && refuseInvalid(refused, { id: null, reason: "member `id` must be a string or a number" }, received)
      );
    }
    this.#inFlight.add(key, scope);
    let answer: Awaited<typeof answering> | undefined;
    try {
      answer = await answering;
    } finally {
      this.#inFlight.remove(key, scope);
      if (span) endRequestSpan(span, request, answer);
    }
    scope.end();
    if (refused && !scope.cancellation.aborted) reply(received.outlet, null, answer);
  }

  #inDialects(
    request: DialectRequest,
    scope: CallScope,
    { mode, dialects = [] }: MessageContext,
  ): Promise<McpAnswer> | undefined {
    return answerInDialects(dialects, request, { view: this.#viewIn(mode), link: scope });
  }

  #dispatch(request: RpcRequest, scope: CallScope, received: MessageContext): Promise<McpAnswer> | McpAnswer {
    const { mode } = received;
    const { method, params = {} } = request;
    switch (method) {
      case "initialize":
        return this.#initialize(params, mode);
      case "ping":
        return resultAnswer({});
      case "logging/setLevel":
        return this.#setLogLevel(params);
      case "resources/subscribe":
        return this.#subscriptions.add(params, this.#deps.codecs.for(this.#revision));
      case "resources/unsubscribe":
        return this.#subscriptions.remove(params);
      default:
        if (isAboutTask(method, params) && this.#offersTasks) return this.#aboutTask({ method, params }, scope);
        if (SHARED_METHODS.has(method))
          return this.#shared({ method, params, meta: metaWithoutToken(params) }, scope, mode);
        return this.#inDialects({ method, params }, scope, received) ?? this.#passedOn({ method, params }, scope, mode);
    }
  }

  get #offersTasks(): boolean {
    return this.#revision.tasks && this.#deps.tasks?.isOffered === true;
  }

  /** Answers a request of 2025-11-25 about a task. */
  async #aboutTask({ method, params }: DialectRequest, scope: CallScope): Promise<McpAnswer> {
    this.#tasks ??= import("./session-tasks.ts").then(
      ({ SessionTasks: Created }) => new Created(this.#deps.tasks!, this, this.#deps.codecs.for(this.#revision)),
    );
    return (await this.#tasks).answer({ method, params }, scope);
  }

  #passedOn(
    { method, params }: DialectRequest,
    scope: CallScope,
    mode: ToolMode | undefined,
  ): Promise<McpAnswer> | McpAnswer {
    return isPassedOn(method, { deps: this.#deps, view: this.#viewIn(mode) })
      ? this.#shared({ method, params, meta: metaWithoutToken(params) }, scope, mode)
      : methodNotFound(method);
  }

  #shared(request: MethodRequest, scope: CallScope, mode: ToolMode | undefined): Promise<McpAnswer> {
    const view = this.#viewIn(mode);
    const codec = this.#deps.codecs.for(this.#revision);
    const context = { deps: this.#deps, view, link: scope, codec };
    if (SHARED_METHODS.get(request.method) !== "list") return answerCall(request, context);
    const answering = answerList(request, context);
    return view.mode === this.#record.mode ? this.#noting(answering) : answering;
  }

  async #noting(answering: Promise<McpAnswer>): Promise<McpAnswer> {
    const answer = await answering;
    if (answer.type === "list") this.#lists.saw(answer.kind, answer.list.version);
    return answer;
  }

  async #initialize(params: JsonObject, mode: ToolMode | undefined): Promise<McpAnswer> {
    const { date, problem } = readHandshake(params);
    if (date === undefined) return errorAnswer(RPC.invalidParams, problem);
    this.#revision = negotiateLegacyRevision(date);
    this.#note({
      revision: this.#revision.date,
      mode: mode ?? toolModeOfMeta(objectMember(params, "_meta") ?? {}) ?? this.#defaultMode,
      client: describeClient(this.client.connection, params),
    });
    if (this.#phase === "new") this.#phase = "opening";
    const offer = await readOffer(this.#deps.hub, this.view);
    return this.#open(offer);
  }

  get #defaultMode(): ToolMode {
    return defaultModeFor(this.principal, this.#deps.defaultMode);
  }

  #open({ facts, lists, capabilities }: HubOffer): McpAnswer {
    if (this.#phase === "opening") this.#phase = "open";
    this.#lists.offered(lists, capabilities);
    // `listChanged` is not advertised to a client that cannot receive notifications.
    const receivable = takesAnyLineAsAnswer(this.client, this.#revision)
      ? withoutListChanges(capabilities)
      : capabilities;
    return resultAnswer({
      protocolVersion: this.#revision.date,
      capabilities: this.#offersTasks ? { ...receivable, tasks: TASKS_CAPABILITY } : receivable,
      serverInfo: serverInfo(facts),
      ...(facts.instructions === undefined ? {} : { instructions: facts.instructions }),
    });
  }

  async #setLogLevel(params: JsonObject): Promise<McpAnswer> {
    const { level } = params;
    if (!isLogLevel(level))
      return errorAnswer(RPC.invalidParams, "Invalid params: `level` must be one of MCP's eight log levels.");
    this.#note({ logLevel: level });
    const { connection } = this.client;
    if (connection !== undefined) await this.#deps.hub.setLogLevel(connection, level);
    return resultAnswer({});
  }

  #notified(message: RpcNotification, received: MessageContext): Promise<void> | void {
    const { method, params } = message;
    switch (method) {
      case "notifications/initialized":
        if (!this.#isInitialized) this.#note({ isInitialized: true });
        this.#isInitialized = true;
        return this.#becomeReady();
      case "notifications/cancelled":
        return this.#inFlight.cancel(params);
      case "notifications/roots/list_changed":
        if (this.client.connection !== undefined) this.#deps.hub.rootsChanged(this.client.connection);
        return;
      default:
        return this.#runNameless(message, received);
    }
  }

  // Makes the session ready after both messages. A client may send `initialized` before `initialize` is answered; it
  // receives no notification before that answer.
  #becomeReady(): void {
    if (this.#phase !== "open" || !this.#isInitialized) return;
    this.#phase = "ready";
    this.#deps.board.join(this);
  }

  #viewIn(mode: ToolMode = this.#record.mode): View {
    return { mode, principal: this.#record.principal };
  }

  #note(change: Partial<SessionRecord>): void {
    this.#record = { ...this.#record, ...change };
    this.#onRecord?.(this.#record);
  }
}

/** Returns true for a method of tasks, and for a call that its client wants to be a task (2025-11-25). */
function isAboutTask(method: string, params: JsonObject): boolean {
  return method === "tools/call" ? params["task"] !== undefined : TASK_METHODS.has(method);
}

const TASK_METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"]);

/** Capability of 2025-11-25 for tasks. */
const TASKS_CAPABILITY: JsonObject = Object.freeze({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
