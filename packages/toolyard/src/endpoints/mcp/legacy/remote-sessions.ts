import { setTimeout as sleep } from "node:timers/promises";
import { callerKey } from "../../../core/ports/profiles.ts";
import { stringifyExact } from "../../../core/json/exact-json.ts";
import { sendEmpty, sendJson } from "../../../http/answer/send.ts";
import type { HttpAnswer } from "../../../http/answer/answer.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import type { ForwardResult } from "../../../http/relay/forwarding.ts";
import type { HubRelay } from "../../../http/relay/hub-relay.ts";
import { RELAY_HEADER, RELAYED } from "../../../http/relay/relayed-headers.ts";
import type { HeldSession } from "../../../state/ports/session-records.ts";
import { StoreLostError, type HubState } from "../../../state/ports/store.ts";
import { rpcError, type RpcRequest } from "../../../wire/messages.ts";
import { HUB_LOST } from "../hub-lost.ts";
import { refuseStoreLost } from "../refuse-store-lost.ts";
import type { LocalSessions, RemoteHubsDeps, RemoteSessionRequest, RemoteSessionServer } from "../remote-hubs.ts";
import { isRepeatable } from "../repeatable.ts";
import type { LegacyExchange } from "./exchange.ts";
import { requestsOf } from "./replies.ts";
import { sendProblem, SESSION_ELSEWHERE, SESSION_NOT_FOUND } from "./http-checks.ts";

interface KnownHolder {
  readonly hub: string;
  /** `callerKey` of the session's principal. */
  readonly caller: string;
}

/** Maximum number of sessions in the cache of hubs. */
const MAX_KNOWN = 10_000;
/** Milliseconds between two attempts to pass a request. */
const RETRY_MS = 200;
/** Maximum number of times that the named hub may answer that it does not hold the session. */
const MAX_ABSENCES = 3;
/** Milliseconds to wait beyond the lease of a hub that does not answer. */
const LEASE_MARGIN_MS = 2000;

/**
 * Serves requests of sessions that other hubs hold. A request is passed to the hub of its session. If that hub has
 * exited, this hub takes the session over. The hub of a session is cached, so a further request of the session needs no
 * access to the store.
 */
export class RemoteSessions implements RemoteSessionServer {
  readonly #deps: RemoteHubsDeps;
  readonly #relay: HubRelay;
  readonly #local: LocalSessions;
  readonly #known = new Map<string, KnownHolder>();
  readonly #taking = new Map<string, Promise<boolean>>();

  constructor(deps: RemoteHubsDeps, relay: HubRelay, local: LocalSessions) {
    this.#deps = deps;
    this.#relay = relay;
    this.#local = local;
  }

  async answer(request: RemoteSessionRequest): Promise<void> {
    const { http } = request.exchange;
    if (http.relayedFrom !== undefined) return this.#answerRelayed(request);
    try {
      await this.#answer(request);
    } catch (error) {
      refuseStoreLost(error, http.answer, requestsOf(request.body)[0]?.id);
    }
  }

  /** Answers a request that another hub has passed to this one. It is never passed on again. */
  async #answerRelayed(request: RemoteSessionRequest): Promise<void> {
    // The store names this hub as soon as it has claimed the session, before the session can answer.
    await this.#taking.get(request.id)?.catch(() => false);
    if (this.#local.has(request.id)) return this.#answerLocally(request);
    // This header makes the sending hub look up the session again.
    const { answer } = request.exchange.http;
    answer.setHeader(RELAY_HEADER, RELAYED.absent);
    sendProblem(answer, SESSION_ELSEWHERE);
  }

  async #answer(request: RemoteSessionRequest): Promise<void> {
    const { exchange, id } = request;
    const { answer, principal } = exchange.http;
    const until = performance.now() + this.#state.leaseMs + LEASE_MARGIN_MS;
    const counts = { lost: 0, absent: 0 };
    for (; !answer.isGone; await sleep(RETRY_MS)) {
      await this.#taking.get(id);
      if (this.#local.has(id)) return this.#answerLocally(request);
      const hub = await this.#otherHub(id, callerKey(principal));
      if (typeof hub !== "string") return sendProblem(answer, hub);
      const result = await this.#pass(request, hub);
      if (result === "answered") return;
      this.#known.delete(id);
      if (result === "lost" || result === "absent") counts[result] += 1;
      if (result === "lost" && !(await this.#mayRepeat(request, counts.lost))) return this.#answerLost(request);
      if (counts.absent >= MAX_ABSENCES || performance.now() > until) return refuse(answer, counts.absent);
    }
  }

  /** Returns the other hub that holds the caller's session, or the problem if there is none. */
  async #otherHub(id: string, caller: string): Promise<string | typeof SESSION_NOT_FOUND> {
    const holder = await this.#holderOf(id);
    if (holder?.caller !== caller) return SESSION_NOT_FOUND;
    return holder.hub === this.#state.hub ? SESSION_ELSEWHERE : holder.hub;
  }

  #answerLocally(request: RemoteSessionRequest): void | Promise<void> {
    const { exchange } = request;
    if (this.#local.isCallers(exchange)) return this.#local.serve(request);
    return sendProblem(exchange.http.answer, SESSION_NOT_FOUND);
  }

  get #state(): HubState {
    return this.#deps.state;
  }

  /** Finds the hub of a session, which may have exited. */
  async #holderOf(id: string): Promise<KnownHolder | undefined> {
    const known = this.#known.get(id);
    if (known) return known;
    const held = await this.#state.sessions.find(id);
    if (!held) return undefined;
    const holder = { hub: held.hub, caller: callerKey(held.record.principal) };
    if (held.isAlive && held.hub !== this.#state.hub) this.#remember(id, holder);
    return holder;
  }

  /** Passes a request to a hub, or takes its session over and serves it here. */
  async #pass(request: RemoteSessionRequest, hub: string): Promise<ForwardResult> {
    const { exchange, id, body } = request;
    let isGone = false;
    if (hub !== "") {
      const result = await this.#relay.forward(hub, {
        http: exchange.http,
        body: body === undefined ? "" : stringifyExact(body),
        hasDialects: exchange.dialects !== undefined,
      });
      if (result !== "unsent" && result !== "gone") return result;
      isGone = result === "gone";
    }
    const held = await this.#state.sessions.find(id);
    if (!held || held.hub !== hub || (held.isAlive && !isGone) || !(await this.#takeOver(id, held, exchange)))
      return "unsent";
    await this.#local.serve(request);
    return "answered";
  }

  /** Takes a session over once, however many of its requests arrive. */
  #takeOver(id: string, held: HeldSession, exchange: LegacyExchange): Promise<boolean> {
    let taking = this.#taking.get(id);
    if (!taking) {
      taking = this.#claim(id, held, exchange).finally(() => this.#taking.delete(id));
      this.#taking.set(id, taking);
    }
    return taking;
  }

  async #claim(id: string, { hub }: HeldSession, exchange: LegacyExchange): Promise<boolean> {
    const record = await this.#state.sessions.claim(id, hub);
    if (!record) return false;
    this.#known.delete(id);
    this.#deps.logger.info("A session of a hub that ended was taken over.", { from: hub });
    return this.#local.open(id, record, exchange);
  }

  /** Returns true if a request may be repeated although a hub that has stopped may already have executed it. */
  async #mayRepeat({ exchange, body }: RemoteSessionRequest, losses: number): Promise<boolean> {
    return losses === 1 && this.#areRepeatable(requestsOf(body), exchange.http);
  }

  /** Answers a request with an error, because a hub that has stopped may already have executed it. */
  #answerLost({ exchange, id: session, body }: RemoteSessionRequest): void {
    const { answer } = exchange.http;
    if (answer.isGone) return;
    const errors = requestsOf(body).map(({ id }) => rpcError(id, HUB_LOST));
    if (errors.length === 0) return sendEmpty(answer, 202);
    answer.setHeader("mcp-session-id", session);
    sendJson(answer, 200, stringifyExact(Array.isArray(body) ? errors : errors[0]));
  }

  async #areRepeatable(requests: readonly RpcRequest[], { principal }: HttpExchange): Promise<boolean> {
    for (const request of requests) if (!(await isRepeatable(request, this.#deps.hub, principal))) return false;
    return true;
  }

  #remember(id: string, holder: KnownHolder): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(id, holder);
  }
}

/** Answers a request that no hub has answered. */
function refuse(answer: HttpAnswer, absences: number): void {
  // The store still names a hub that has ended the session, for example while the store was lost.
  if (absences >= MAX_ABSENCES) return sendProblem(answer, SESSION_NOT_FOUND);
  throw new StoreLostError();
}
