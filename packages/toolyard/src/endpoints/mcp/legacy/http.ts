import { CallSet } from "../../../core/calls/call-map.ts";
import { callerKey } from "../../../core/ports/profiles.ts";
import { stringifyExact } from "../../../core/json/exact-json.ts";
import { isJsonObject } from "../../../core/json/json.ts";
import type { HttpAnswer } from "../../../http/answer/answer.ts";
import { sendEmpty, sendJson } from "../../../http/answer/send.ts";
import type { EventLog, RecoveredEvents } from "../../../state/ports/event-log.ts";
import type { HubNotification } from "../../../state/ports/hub-notifications.ts";
import type { SessionRecord } from "../../../state/ports/session-records.ts";
import {
  classifyMessage,
  hasMethod,
  RPC,
  rpcResult,
  type ClassifiedMessage,
  type RequestId,
} from "../../../wire/messages.ts";
import type { LegacyExchange } from "./exchange.ts";
import {
  batchProblem,
  ENDING,
  FULL,
  getHeaderProblem,
  headProblems,
  ONE_STREAM_ONLY,
  ONLY_ONE_INITIALIZE,
  sendProblem,
  SESSION_ELSEWHERE,
  SESSION_NOT_FOUND,
  SESSION_REQUIRED,
  versionProblem,
} from "./http-checks.ts";
import type { HttpProblem } from "./http-problem.ts";
import { HttpSession } from "./http-session.ts";
import { PostReply, replay } from "./post-reply.ts";
import type { Outlet } from "./outlet.ts";
import type { MessageContext } from "./session-start.ts";
import type { SessionDeps } from "./session.ts";
import { parseEventId } from "./session-events.ts";
import type { RemoteSessionServer } from "../remote-hubs.ts";
import { SessionTable } from "./session-table.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/**
 * Streamable HTTP of the legacy era on one endpoint. `post` gets the parsed body, because the body was parsed to
 * determine the era. Every method answers its exchange; none rejects because of client input.
 */
export class LegacyHttp {
  readonly #deps: SessionDeps;
  readonly #log: EventLog;
  readonly #table: SessionTable<HttpSession>;
  readonly #waiting = new CallSet<PostReply>();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #unlisten: () => void;
  #isDraining = false;
  readonly #remote: RemoteSessionServer | undefined;
  #closing: AbortSignal | undefined;

  constructor(deps: SessionDeps) {
    const { options } = deps;
    this.#deps = deps;
    this.#log = deps.state.openEventLog({
      maxBytes: options.replayMaxBytes,
      maxEvents: options.replayMaxEvents,
      keepMs: options.replayMs,
    });
    this.#table = new SessionTable(options);
    this.#timers = [setInterval(() => this.sweep(), SWEEP_MS), setInterval(() => this.#streamTheQuiet(), QUIET_MS / 3)];
    for (const timer of this.#timers) timer.unref();
    const unlisten = [
      deps.state.notifications.on((notification) => this.#heard(notification)),
      deps.state.sessions.onTaken((id) => this.#dropTaken(id)),
    ];
    this.#unlisten = () => {
      for (const stop of unlisten) stop();
    };
    this.#remote = deps.remote?.sessions({
      has: (id) => this.#table.find(id) !== undefined,
      isCallers: (exchange) => this.#session(exchange) !== undefined,
      open: (id, record, exchange) => this.#takeOver(id, record, exchange),
      serve: ({ exchange, body }) => this.#serve(exchange, body),
    });
  }

  /** Number of sessions. */
  get size(): number {
    return this.#table.size;
  }

  post(exchange: LegacyExchange, body: unknown): Promise<void> | void {
    const { http } = exchange;
    const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
    const { types, version } = headProblems(http, exchange.head);
    const problem = types ?? batchProblem(messages);
    if (problem) return sendProblem(http.answer, problem);
    if (messages.some(isInitialize)) return this.#initialize(exchange, messages);
    const session = this.#session(exchange);
    if (!session) return this.#withoutSession(exchange, body);
    if (version) return sendProblem(http.answer, version);
    if (Array.isArray(body) && !session.protocol.revision.batches)
      return sendProblem(named(http.answer, session), noBatches(session));
    return this.#receive(exchange, session, body);
  }

  /** Opens the standing stream, or resumes a lost stream. */
  get(exchange: LegacyExchange): void | Promise<void> {
    const { http } = exchange;
    const problem = getHeaderProblem(http);
    if (problem) return sendProblem(http.answer, problem);
    const session = this.#session(exchange);
    if (!session) return this.#withoutLocal(exchange);
    const version = versionProblem(http);
    if (version) return sendProblem(http.answer, version);
    if (http.closing.aborted) return sendProblem(http.answer, ENDING);
    this.#endStreamsOn(http.closing);
    const lastEventId = http.header("last-event-id");
    if (lastEventId !== undefined && lastEventId !== "") return this.#resume(exchange, session, lastEventId);
    if (session.standing.isOpen) return sendProblem(named(http.answer, session), ONE_STREAM_ONLY);
    const stream = http.openLastingStream(sessionHeader(session));
    if (session.primingRetryMs !== undefined)
      stream.send("", { id: session.events.mark(0), retryMs: session.primingRetryMs });
    return session.standing.attach(stream);
  }

  /** Ends the session, even if another hub holds it. */
  delete(exchange: LegacyExchange): void | Promise<void> {
    const session = this.#session(exchange);
    if (!session) return this.#remote ? this.#withoutLocal(exchange) : this.#endRemotely(exchange);
    const version = versionProblem(exchange.http);
    if (version) return sendProblem(exchange.http.answer, version);
    this.#terminate(session);
    sendEmpty(named(exchange.http.answer, session), 200);
  }

  /** Ends idle sessions and removes old events. Runs once a minute. */
  sweep(now = performance.now()): void {
    this.#table.sweep(now);
    this.#log.sweep(now);
  }

  /** Hands each session over to the other hubs as soon as it has no running requests. */
  drain(): void {
    if (!this.#deps.remote) return;
    this.#isDraining = true;
    this.#handOverIdle();
  }

  #handOverIdle(): void {
    for (const session of Array.from(this.#table)) if (!session.isBusy) this.#handOver(session);
  }

  /** Ends all sessions and answers running requests with an error. Other hubs can continue the sessions. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#unlisten();
    if (this.#deps.remote) for (const session of Array.from(this.#table)) this.#handOver(session);
    this.#table.close();
  }

  #handOver(session: HttpSession): void {
    this.#table.remove(session);
    session.handOver();
  }

  /** Drops a session that another hub has taken over, because the lease of this hub had expired. */
  #dropTaken(id: string): void {
    const session = this.#table.find(id);
    if (session) this.#handOver(session);
  }

  async #takeOver(id: string, record: SessionRecord, { principal }: LegacyExchange): Promise<boolean> {
    const events = (await this.#log.recover?.(id)) ?? NO_EVENTS;
    const session = new HttpSession(this.#deps, this.#log, { principal, taken: { id, record, events } });
    if (await this.#table.add(session)) return true;
    session.handOver();
    return false;
  }

  /** Serves a request of a session that this endpoint holds. */
  #serve(exchange: LegacyExchange, body: unknown): void | Promise<void> {
    switch (exchange.http.method) {
      case "GET":
        return this.get(exchange);
      case "DELETE":
        return this.delete(exchange);
      default:
        return this.post(exchange, body);
    }
  }

  /**
   * Starts a session. Ignores `Mcp-Session-Id`: a client that reconnects may send the id of a previous session, because
   * it cannot know that the session has ended. The previous session, if it still exists, ends when its idle time is
   * over.
   */
  async #initialize(exchange: LegacyExchange, messages: readonly unknown[]): Promise<void> {
    const { http, principal, head } = exchange;
    if (messages.length > 1) return sendProblem(http.answer, ONLY_ONE_INITIALIZE);
    const session = new HttpSession(this.#deps, this.#log, { principal });
    const reply = new PostReply(http, session, messages[0]);
    await session.protocol.receive(messages[0], { outlet: reply, mode: head.mode });
    if (session.protocol.opened && (await this.#table.add(session))) return reply.end();
    if (session.protocol.opened) sendProblem(http.answer, FULL);
    session.close();
  }

  /** Handles the body, one message or a batch. */
  async #receive(exchange: LegacyExchange, session: HttpSession, body: unknown): Promise<void> {
    const { http, principal, head, dialects } = exchange;
    const isBatch = Array.isArray(body);
    const messages: readonly unknown[] = isBatch ? body : [body];
    const receivedFor = (outlet: Outlet): MessageContext => ({ outlet, mode: head.mode, principal, dialects });
    const single = isBatch ? undefined : (exchange.classified ?? classifyMessage(body));
    if (single?.type === "invalid")
      return sendProblem(named(http.answer, session), messageProblem(messages[0], single));
    if (single ? needsNoAnswer(single) : messages.every((message) => needsNoAnswer(classifyMessage(message)))) {
      for (const message of messages) void session.protocol.receive(message, receivedFor(session.standing), single);
      return sendEmpty(named(http.answer, session), 202);
    }
    const reply = new PostReply(http, session, body);
    this.#waiting.add(reply);
    const received = receivedFor(reply);
    if (isBatch) await Promise.all(messages.map((message) => session.protocol.receive(message, received)));
    else await session.protocol.receive(body, received, single);
    this.#waiting.delete(reply);
    reply.end();
    if (this.#isDraining) this.#handOverIdle();
  }

  #resume(exchange: LegacyExchange, session: HttpSession, lastEventId: string): void | Promise<void> {
    const { http } = exchange;
    const at = parseEventId(lastEventId);
    if (!at) return sendProblem(named(http.answer, session), nothingToResume(lastEventId));
    const sender = session.sender(at.stream);
    if (sender) return sender.attach(http.openLastingStream(sessionHeader(session)), at.sequence);
    session.answerLost(at.stream);
    return session.events.after(at.stream, at.sequence, (missed) => {
      if (!missed) return sendProblem(named(http.answer, session), nothingToResume(lastEventId));
      // Clients of server-sent events reconnect to an ended stream until they receive the status 204, so this status is
      // sent if no events were missed.
      if (missed.length === 0) return sendEmpty(named(http.answer, session), 204);
      const stream = http.openStream(sessionHeader(session));
      replay(stream, missed);
      stream.end();
    });
  }

  /** Returns the session that the request names, if this endpoint holds it and it belongs to the caller. */
  #session({ http }: LegacyExchange): HttpSession | undefined {
    const id = http.header("mcp-session-id");
    return id !== undefined ? this.#table.use(id, http.principal) : undefined;
  }

  /** Answers requests without a session. Before `initialize`, only a ping is allowed (2025-11-25, "Lifecycle"). */
  #withoutSession(exchange: LegacyExchange, body: unknown): void | Promise<void> {
    const single: unknown = Array.isArray(body) && body.length === 1 ? body[0] : body;
    const classified = classifyMessage(single);
    const request = classified.type === "request" ? classified.message : undefined;
    const isPing = request?.method === "ping" && !Array.isArray(body);
    if (isPing && exchange.http.header("mcp-session-id") === undefined)
      return sendJson(exchange.http.answer, 200, stringifyExact(rpcResult(request.id, {})));
    return this.#withoutLocal(exchange, body, request?.id);
  }

  /** Answers a request of a session that this endpoint does not hold. */
  async #withoutLocal(exchange: LegacyExchange, body?: unknown, id: RequestId | null = null): Promise<void> {
    const session = exchange.http.header("mcp-session-id");
    if (session === undefined) return sendProblem(exchange.http.answer, { ...SESSION_REQUIRED, id });
    if (this.#remote) return this.#remote.answer({ exchange, id: session, body });
    if ((await this.#idOfRemoteSession(exchange)) !== undefined) sendProblem(exchange.http.answer, SESSION_ELSEWHERE);
  }

  /**
   * Returns the id of the caller's session if another endpoint or hub holds the session. Otherwise answers the request
   * with an error.
   */
  async #idOfRemoteSession({ http }: LegacyExchange): Promise<string | undefined> {
    const id = http.header("mcp-session-id");
    if (id === undefined) return refuse(http.answer, SESSION_REQUIRED);
    const held = await this.#deps.state.sessions.find(id);
    const isOwn = held?.isAlive === true && callerKey(held.record.principal) === callerKey(http.principal);
    return isOwn ? id : refuse(http.answer, SESSION_NOT_FOUND);
  }

  async #endRemotely(exchange: LegacyExchange): Promise<void> {
    const id = await this.#idOfRemoteSession(exchange);
    if (id === undefined) return;
    this.#deps.state.notifications.publish({ type: "end-session", session: id });
    sendEmpty(exchange.http.answer.setHeader("mcp-session-id", id), 200);
  }

  #heard(notification: HubNotification): void {
    if (notification.type !== "end-session") return;
    const session = this.#table.find(notification.session);
    if (session) this.#terminate(session);
  }

  #terminate(session: HttpSession): void {
    session.terminate();
    this.#table.end(session);
  }

  #streamTheQuiet(): void {
    const now = performance.now();
    for (const reply of this.#waiting.values()) {
      if (now - reply.startedAt < QUIET_MS) continue;
      this.#waiting.delete(reply);
      reply.stream();
    }
  }

  // All streams share one listener of the abort signal, because there may be thousands of streams.
  #endStreamsOn(closing: AbortSignal): void {
    if (this.#closing === closing) return;
    this.#closing = closing;
    closing.addEventListener("abort", () => {
      for (const session of this.#table) session.standing.end();
    });
  }
}

/** Milliseconds without a message after which a call becomes a stream, whose comments keep the connection alive. */
const QUIET_MS = 15_000;
const SWEEP_MS = 60_000;

const NO_EVENTS: RecoveredEvents = Object.freeze({ lastSequence: 0, lastStream: 0, unanswered: new Map() });

function sessionHeader({ id }: HttpSession): Record<string, string> {
  return { "mcp-session-id": id };
}

function named(answer: HttpAnswer, { id }: HttpSession): HttpAnswer {
  return answer.setHeader("mcp-session-id", id);
}

function refuse(answer: HttpAnswer, problem: HttpProblem): undefined {
  sendProblem(answer, problem);
  return undefined;
}

function isInitialize(message: unknown): boolean {
  return isJsonObject(message) && message["method"] === "initialize" && "id" in message;
}

/** Returns true for notifications and replies, including malformed ones. They get no answer. */
function needsNoAnswer({ type }: ClassifiedMessage): boolean {
  return type === "notification" || type === "reply";
}

function messageProblem(
  message: unknown,
  { id: given, reason }: Extract<ClassifiedMessage, { readonly type: "invalid" }>,
): HttpProblem {
  const id = isJsonObject(message) && hasMethod(message) ? given : null;
  return { status: 400, code: RPC.invalidRequest, message: `Invalid Request: ${reason}`, id };
}

function noBatches(session: HttpSession): HttpProblem {
  const { date } = session.protocol.revision;
  const message = `Invalid Request: revision ${date} has no batches. Send one message per request.`;
  return { status: 400, code: RPC.invalidRequest, message };
}

function nothingToResume(lastEventId: string): HttpProblem {
  return {
    status: 400,
    code: -32000,
    message: `Bad Request: nothing to resume after the event id ${JSON.stringify(firstChars(lastEventId, 40))}`,
  };
}
