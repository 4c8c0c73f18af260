import type { Ask, Call } from "../core/call.ts";
import { FailError } from "../core/errors.ts";
import { objectMember, type JsonObject } from "../core/json.ts";
import { fail, type Fail } from "../core/outcome.ts";
import { rpcError, rpcResult, RPC, type RequestId, type RpcReply, type RpcRequest } from "../wire/messages.ts";
import { failureOf, type FaultLog } from "./faults.ts";
import type { InFlight } from "./in-flight.ts";
import type { Turns } from "./turns.ts";

export interface AsksOptions {
  readonly inFlight: InFlight;
  readonly turns: Turns;
  readonly faults: FaultLog;
  /** Answer to `roots/list` outside a call. */
  readonly roots: readonly JsonObject[];
  /** Nothing but the handshake has been answered yet. */
  isStarting(): boolean;
  /** The server asked on a stream that does not say for which call. */
  onAsked(): void;
  answer(reply: RpcReply, relatedTo?: RequestId): void;
}

/** Asks of one server that may be open at once. */
const MAX_OPEN = 64;

const ASKABLE = new Set(["elicitation/create", "sampling/createMessage", "roots/list"]);

/** Requests of a legacy server: finds the call that each belongs to and lets that caller answer. */
export class Asks {
  readonly #options: AsksOptions;
  readonly #open = new Map<RequestId, { readonly call: Call; readonly controller: AbortController }>();

  constructor(options: AsksOptions) {
    this.#options = options;
  }

  receive(request: RpcRequest, related: RequestId | undefined): void {
    const { answer } = this.#options;
    if (request.method === "ping") return answer(rpcResult(request.id, {}), related);
    if (!ASKABLE.has(request.method)) return answer(rpcError(request.id, RPC.methodNotFound, `Method not found: ${request.method.slice(0, 100)}`), related);
    const owner = this.#ownerOf(request, related);
    if (owner === "configured") return answer(rpcResult(request.id, { roots: this.#options.roots }), related);
    if ("kind" in owner) return answer(toRpcError(request.id, owner), related);
    void this.#pass(request, owner, related);
  }

  /** The server takes a request back. */
  cancel(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") this.#open.get(id)?.controller.abort();
  }

  /** The call is over, and with it whatever was asked for its sake. */
  ended(call: Call): void {
    for (const open of this.#open.values()) if (open.call === call) open.controller.abort();
  }

  close(failure: Fail): void {
    for (const { controller } of this.#open.values()) controller.abort(new FailError(failure));
  }

  #ownerOf({ method }: RpcRequest, related: RequestId | undefined): Call | Fail | "configured" {
    const { inFlight, turns, faults } = this.#options;
    const owner = inFlight.owner(related);
    if (method === "roots/list") {
      if (related === undefined && this.#options.isStarting()) return "configured";
      const canTell = owner !== undefined && owner !== "several" && objectMember(owner.client.capabilities, "roots") !== undefined;
      return canTell ? owner : "configured";
    }
    if (related === undefined && !turns.isSerial) {
      turns.serialise();
      this.#options.onAsked();
    }
    if (owner === undefined) {
      faults.report("ask-without-call", `The server asked \`${method}\` while no call was under way; nobody can answer it.`);
      return fail("unavailable", `\`${method}\` is answered only while a call is under way, and none is.`);
    }
    if (owner === "several") {
      const advice = 'Calls to it take turns from now on; isolation = "session" gives each client its own server.';
      faults.report("ask-of-several", `The server asked \`${method}\` while calls of several clients were under way; it does not say whose it is. ${advice}`);
      return fail("unavailable", `\`${method}\` cannot be answered: calls of several clients are under way and the request does not say which it belongs to.`);
    }
    return owner;
  }

  async #pass(request: RpcRequest, call: Call, related: RequestId | undefined): Promise<void> {
    const { answer } = this.#options;
    if (this.#open.size >= MAX_OPEN) {
      return answer(toRpcError(request.id, fail("limited", `${MAX_OPEN} requests of this server are open already.`)), related);
    }
    const controller = new AbortController();
    this.#open.set(request.id, { call, controller });
    try {
      const result = await askCaller(call, { method: request.method, params: askParams(request.params) }, controller.signal);
      if (!controller.signal.aborted) answer(rpcResult(request.id, result), related);
    } catch (error) {
      if (!controller.signal.aborted) answer(toRpcError(request.id, failureOf(error)), related);
    } finally {
      this.#open.delete(request.id);
    }
  }
}

/** How often a waiting ask tells the deadline that the call lives, at most. */
const TOUCH_MS = 5000;
/** People take their time to answer; after this the call's idle time runs again. */
const MAX_PATIENCE_MS = 10 * 60_000;

/** Asks and keeps the call's idle time from running out meanwhile: it is the caller who is being waited for, within a bound. */
export async function askCaller(call: Call, ask: Ask, signal?: AbortSignal): Promise<JsonObject> {
  const { deadline } = call;
  if (!deadline) return call.ask(ask, signal);
  const everyMs = Math.max(20, Math.min(TOUCH_MS, deadline.remainingMs / 2));
  const patientUntil = performance.now() + MAX_PATIENCE_MS;
  const timer = setInterval(() => {
    if (performance.now() < patientUntil) deadline.touch();
    else clearInterval(timer);
  }, everyMs);
  timer.unref();
  try {
    return await call.ask(ask, signal);
  } finally {
    clearInterval(timer);
    deadline.touch();
  }
}

// The token belongs to the server's own connection; the caller's has its own.
function askParams(params: JsonObject = {}): JsonObject {
  const meta = objectMember(params, "_meta");
  if (!meta || !("progressToken" in meta)) return params;
  const { progressToken: _token, ...rest } = meta;
  return { ...params, _meta: rest };
}

function toRpcError(id: RequestId, failure: Fail): RpcReply {
  const { rpcError: own } = failure;
  if (own) return rpcError(id, own.code, own.message, own.data);
  return rpcError(id, RPC.internal, failure.message);
}
