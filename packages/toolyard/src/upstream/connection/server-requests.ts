import { stringifyExact } from "../../core/json/exact-json.ts";
import type { Call } from "../../core/calls/call.ts";
import { objectMember, type JsonObject } from "../../core/json/json.ts";
import { RELATED_TASK } from "../../core/ports/tasks.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import {
  isRequestId,
  rpcError,
  rpcResult,
  RPC,
  type RequestId,
  type RpcReply,
  type RpcRequest,
} from "../../wire/messages.ts";
import { withoutTask } from "./capabilities.ts";
import type { FaultLog } from "../faults.ts";
import type { CallsInFlight } from "./calls-in-flight.ts";
import { OpenServerRequest, type ServerRequestAnswer } from "./open-server-request.ts";
import { clientKey, QUIET_MS, type Turns } from "./turns.ts";
import { placeQuestions, type Placement, type Scene } from "./server-request-placement.ts";
import { firstChars } from "../../core/text/truncate.ts";

export interface ServerRequestsOptions {
  readonly inFlight: CallsInFlight;
  readonly turns: Turns;
  readonly faults: FaultLog;
  /** Roots with which the hub answers `roots/list` outside a call. */
  readonly roots: readonly JsonObject[];
  /** Returns true while the server has answered only the handshake. */
  isStarting(): boolean;
  /** Called when the server sends a request on a stream that names no call. */
  onAsked(): void;
  /** Called when a request without a named call is sent to a caller of this principal. */
  onPlaced(principal: string): void;
  answer(reply: RpcReply, relatedTo?: RequestId): void;
}

/** Maximum number of open requests of one server. */
const MAX_OPEN = 64;

const ANSWERED = fail("cancelled", "The request was answered.");

const ASKABLE = new Set(["elicitation/create", "sampling/createMessage", "roots/list"]);

/**
 * Requests of a legacy server. Finds the client to which each belongs and passes its answer on. A request is withdrawn
 * when no call is left that may have caused it.
 */
export class ServerRequests {
  readonly #options: ServerRequestsOptions;
  /** Open requests by stream and id, because a server without sessions starts its ids again on each stream. */
  readonly #open = new Map<string, OpenServerRequest>();
  /** Requests with several possible clients, in order of arrival. */
  #unplaced: readonly OpenServerRequest[] = [];
  #quiet: NodeJS.Timeout | undefined;

  constructor(options: ServerRequestsOptions) {
    this.#options = options;
    options.turns.onFewer = () => this.#place();
  }

  receive(request: RpcRequest, related: RequestId | undefined): void {
    const { answer, inFlight, faults } = this.#options;
    const refuse = (failure: Fail): void => answer(toRpcError(request.id, failure), related);
    if (request.method === "ping") return answer(rpcResult(request.id, {}), related);
    if (!ASKABLE.has(request.method))
      return answer(
        rpcError(request.id, {
          code: RPC.methodNotFound,
          message: `Method not found: ${firstChars(request.method, 100)}`,
        }),
        related,
      );
    const named = inFlight.get(related);
    // A request that arrives on the stream of an ended call belongs to no other call.
    const calls = named ? [named] : related === undefined ? inFlight.values() : [];
    if (request.method === "roots/list" && !this.#canTellRoots(calls, related))
      return answer(rpcResult(request.id, { roots: this.#options.roots }), related);
    if (related === undefined && request.method !== "roots/list") this.#takeTurns();
    if (calls.length === 0) {
      faults.report(
        "ask-without-call",
        `The server asked \`${request.method}\` while no call was running; no client can answer it.`,
      );
      return refuse(
        fail("unavailable", `\`${request.method}\` is answered only while a call is running, and none is.`),
      );
    }
    const key = keyOf(request.id, related);
    if (this.#open.has(key))
      return answer(
        rpcError(request.id, {
          code: RPC.invalidRequest,
          message: "Invalid request: a request with this id is still open.",
        }),
        related,
      );
    if (this.#open.size >= MAX_OPEN)
      return refuse(fail("limited", `${MAX_OPEN} requests of this server are open already.`));
    const question = new OpenServerRequest({ method: request.method, params: askParams(request.params) }, calls, {
      id: request.id,
      related,
    });
    this.#open.set(key, question);
    this.#wait(question);
  }

  /** Withdraws a request that the server cancelled. Returns whether there was such a request. */
  cancel(id: unknown, related: RequestId | undefined): boolean {
    if (!isRequestId(id)) return false;
    const question = this.#open.get(keyOf(id, related)) ?? this.#elsewhere(id, related);
    if (question) this.#close(question, fail("cancelled", "The server withdrew its request."));
    return question !== undefined;
  }

  /** Returns a request with this id from another stream. Used only if the same stream has none. */
  #elsewhere(id: RequestId, related: RequestId | undefined): OpenServerRequest | undefined {
    return id === related ? undefined : Array.from(this.#open.values()).find(({ from }) => from.id === id);
  }

  /** Handles the end of a call. Ends requests that no other call can have caused. */
  ended(call: Call): void {
    for (const question of this.#open.values()) {
      if (!question.calls.has(call)) continue;
      question.without(call);
      if (question.calls.size === 0)
        this.#reply(question, { failure: fail("cancelled", "The call of this request has ended.") });
      else this.#recount(question);
    }
  }

  close(failure: Fail): void {
    for (const question of this.#open.values()) this.#close(question, failure);
  }

  #canTellRoots(calls: readonly Call[], related: RequestId | undefined): boolean {
    if (related === undefined && this.#options.isStarting()) return false;
    // The list may be empty: then all clients only wait for users, which cause no requests.
    const running = calls.filter((call) => !this.#options.turns.hasYielded(clientKey(call)));
    const isOneClient = new Set(running.map(clientKey)).size === 1;
    return isOneClient && objectMember(running.at(-1)!.client.capabilities, "roots") !== undefined;
  }

  #takeTurns(): void {
    const { turns, onAsked } = this.#options;
    if (turns.isSerial) return;
    turns.serialise();
    onAsked();
  }

  /** Admits no further call until the caller of the request is found. */
  #wait(question: OpenServerRequest): void {
    this.#unplaced = [...this.#unplaced, question];
    question.startPatience(() => this.#place());
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      this.#place();
    }, QUIET_MS);
    this.#place();
  }

  #place(): void {
    if (this.#unplaced.length === 0) return;
    const waiting = this.#unplaced;
    const placements = placeQuestions(waiting, this.#scene());
    this.#unplaced = waiting.filter((_, at) => placements[at]!.type === "wait");
    waiting.forEach((question, at) => this.#settle(question, placements[at]!));
    this.#options.turns.hold(this.#unplaced.length > 0);
  }

  #scene(): Scene {
    const { turns, inFlight } = this.#options;
    return {
      hasYielded: (key) => turns.hasYielded(key),
      questionsOf: (key) => turns.questionsOf(key),
      hasQuestion: (call) => Array.from(this.#open.values()).some(({ carrier }) => carrier === call),
      hasSpoken: (call) => inFlight.hasSpoken(call),
      isQuiet: this.#quiet === undefined,
    };
  }

  #settle(question: OpenServerRequest, placement: Placement): void {
    if (placement.type === "wait") return;
    question.endPatience();
    if (placement.type === "to") return void this.#put(question, placement.call);
    const { method } = question.ask;
    const reason =
      placement.why === "nobody"
        ? "the call of this request has ended"
        : "calls of several principals are under way and the request does not say which it belongs to";
    if (placement.why === "several-principals") {
      this.#options.faults.report(
        "ask-of-several",
        `The server asked \`${method}\` while calls of several principals were running; it does not name its call.`,
      );
    }
    this.#reply(question, { failure: fail("unavailable", `\`${method}\` cannot be answered: ${reason}.`) });
  }

  async #put(question: OpenServerRequest, call: Call): Promise<void> {
    const { turns, onPlaced } = this.#options;
    if (turns.isSerial) onPlaced(call.principal.id);
    const answering = question.put(call);
    turns.asked(question.client!);
    const answered = await answering;
    if (question.isOver) return;
    if ("failure" in answered && answered.failure.kind === "cancelled") {
      question.without(call);
      if (question.calls.size > 0) return this.#passOn(question);
    }
    await turns.takeBack(question.client!);
    if (!question.isOver) this.#reply(question, answered);
  }

  /**
   * Assigns a request to another call after the client that received it has disconnected, because other calls may have
   * caused it.
   */
  #passOn(question: OpenServerRequest): void {
    this.#options.turns.settled(question.client!);
    question.takeFrom();
    this.#wait(question);
  }

  /**
   * Moves a request to the count of another client if the current client has no call left that may have caused the
   * request.
   */
  #recount(question: OpenServerRequest): void {
    const { client } = question;
    const calls = Array.from(question.calls);
    if (client === undefined || calls.some((call) => clientKey(call) === client)) return;
    this.#options.turns.settled(client);
    question.client = clientKey(calls.at(-1)!);
    this.#options.turns.asked(question.client);
  }

  #reply(question: OpenServerRequest, answered: ServerRequestAnswer): void {
    const { id, related } = question.from;
    this.#close(question, "failure" in answered ? answered.failure : ANSWERED);
    this.#options.answer(
      "failure" in answered ? toRpcError(id, answered.failure) : rpcResult(id, answered.result),
      related,
    );
  }

  #close(question: OpenServerRequest, failure: Fail): void {
    this.#open.delete(keyOf(question.from.id, question.from.related));
    this.#unplaced = this.#unplaced.filter((one) => one !== question);
    question.end(failure);
    if (question.client !== undefined) this.#options.turns.settled(question.client);
    this.#options.turns.hold(this.#unplaced.length > 0);
  }
}

function keyOf(id: RequestId, related: RequestId | undefined): string {
  return stringifyExact([related ?? null, id]);
}

// Returns the parameters for the caller, without the progress token and the id of the server's task, which belong to
// the server's connection, and without `task`, because the hub declares no tasks for server requests.
function askParams(given: JsonObject = {}): JsonObject {
  const params = withoutTask(given);
  const meta = objectMember(params, "_meta");
  if (meta && !("progressToken" in meta) && !(RELATED_TASK in meta)) return params;
  const { _meta: _faulty, ...bare } = params;
  // `"_meta": null` is removed, because some clients ignore a whole request that contains it.
  if (!meta) return "_meta" in params ? bare : params;
  const { progressToken: _token, [RELATED_TASK]: _task, ...rest } = meta;
  return Object.keys(rest).length > 0 ? { ...params, _meta: rest } : bare;
}

function toRpcError(id: RequestId, failure: Fail): RpcReply {
  return rpcError(id, failure.rpcError ?? { code: RPC.internal, message: failure.message });
}
