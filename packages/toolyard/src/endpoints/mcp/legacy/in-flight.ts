import { stringifyExact } from "../../../core/json/exact-json.ts";
import { CallMap } from "../../../core/calls/call-map.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { RpcErrorObject } from "../../../core/calls/outcome.ts";
import { isRequestId, RPC, type RequestId } from "../../../wire/messages.ts";
import type { CallScope } from "./call-scope.ts";
import { replyError } from "./replies.ts";

/** Running requests of one session. The key of a request without an id is a symbol, so no client can cancel it. */
export class InFlight {
  readonly #max: number;
  readonly #scopes = new CallMap<RequestId | symbol, CallScope>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#scopes.size;
  }

  /** Returns the error if a request may not run now, otherwise `undefined`. */
  problemOf(id: RequestId | symbol): { code: number; message: string } | undefined {
    if (this.#scopes.has(id))
      return {
        code: RPC.invalidRequest,
        message: `Invalid Request: a request with the id ${stringifyExact(id)} is still running.`,
      };
    if (this.#scopes.size < this.#max) return undefined;
    return {
      code: RPC.internal,
      message: `Too many concurrent requests: ${this.#max} are running. Wait until one of these is answered.`,
    };
  }

  add(id: RequestId | symbol, scope: CallScope): void {
    this.#scopes.set(id, scope);
  }

  /** Removes a request. The scope is compared too, because after a cancellation another request may use the same id. */
  remove(id: RequestId | symbol, scope: CallScope): void {
    if (this.#scopes.get(id) === scope) this.#scopes.delete(id);
  }

  /** Handles `notifications/cancelled`. A reply, if any, is sent before the id becomes free. */
  cancel(params: JsonObject | undefined): void {
    const id = params?.["requestId"];
    if (!isRequestId(id)) return;
    const scope = this.#scopes.get(id);
    if (!scope) return;
    this.#scopes.delete(id);
    const reason = params?.["reason"];
    const answers = scope.outlet.answersCancelled === true;
    if (answers) scope.end();
    scope.cancel("The caller cancelled.", typeof reason === "string" ? reason : undefined);
    if (answers) replyError(scope.outlet, id, REQUEST_CANCELLED);
  }

  /** Cancels all requests without an answer. */
  cancelAll(reason: string): void {
    this.#takeAll(reason);
  }

  /** Cancels all requests and answers those that have an id with an error. */
  endAll(reason: string, error: RpcErrorObject = unknownResult(reason)): void {
    for (const [id, scope] of this.#takeAll(reason)) if (typeof id !== "symbol") replyError(scope.outlet, id, error);
  }

  #takeAll(reason: string): [RequestId | symbol, CallScope][] {
    const running = this.#scopes.entries();
    this.#scopes.clear();
    for (const [, scope] of running) {
      scope.end();
      scope.cancel(reason);
    }
    return running;
  }
}

function unknownResult(reason: string): RpcErrorObject {
  return { code: RPC.internal, message: `${reason} The result of this request is unknown.` };
}

/** Error that servers of the Python SDK use; MCP defines no code for a cancelled request. */
const REQUEST_CANCELLED = { code: 0, message: "Request cancelled" };
