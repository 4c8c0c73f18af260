import { setTimeout as sleep } from "node:timers/promises";
import { callerKey } from "../../../core/ports/profiles.ts";
import { stringifyExact } from "../../../core/json/exact-json.ts";
import { sendEmpty, sendJson } from "../../../http/answer/send.ts";
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
/**
 * Milliseconds in which the hub that the store names may answer that it does not hold the session. It may be releasing
 * the session, and the store may be slow.
 */
const ABSENT_MS = 5000;
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
    const patience = new Patience(this.#state.leaseMs + LEASE_MARGIN_MS);
    for (let losses = 0; !answer.isGone; await sleep(RETRY_MS)) {
      await this.#taking.get(id);
      if (this.#local.has(id)) return this.#answerLocally(request);
      const hub = await this.#holder(id, callerKey(principal));
      if (hub === undefined) return sendProblem(answer, SESSION_NOT_FOUND);
      const result = hub === this.#state.hub ? "absent" : await this.#pass(request, hub);
      if (result === "answered") return;
      this.#known.delete(id);
      if (result === "lost" && !(await this.#mayRepeat(request, ++losses))) return this.#answerLost(request);
      if (patience.isOver(result)) return sendProblem(answer, SESSION_NOT_FOUND);
    }
  }

  /** Returns the hub that holds the caller's session, or undefined if there is no such session. */
  async #holder(id: string, caller: string): Promise<string | undefined> {
    const holder = await this.#holderOf(id);
    return holder?.caller === caller ? holder.hub : undefined;
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

/** Time in which a request waits for a hub that serves its session. */
export class Patience {
  readonly #now: () => number;
  readonly #end: number;
  #absentSince: number | undefined;

  /** `now` returns the time in milliseconds. */
  constructor(ms: number, now: () => number = () => performance.now()) {
    this.#now = now;
    this.#end = now() + ms;
  }

  /**
   * Returns true if the session has ended: the store still names a hub that does not hold it, for example because the
   * session ended while the store was lost.
   * @throws StoreLostError if no hub has answered in time.
   */
  isOver(result: ForwardResult): boolean {
    const now = this.#now();
    this.#absentSince = result === "absent" ? (this.#absentSince ?? now) : undefined;
    if (this.#absentSince !== undefined && now - this.#absentSince >= ABSENT_MS) return true;
    if (now > this.#end) throw new StoreLostError();
    return false;
  }
}
