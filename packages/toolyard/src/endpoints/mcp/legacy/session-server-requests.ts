import { stringifyExact } from "../../../core/json/exact-json.ts";
import type { ServerRequest } from "../../../core/calls/call.ts";
import { timeoutFailure } from "../../../core/calls/deadline.ts";
import { FailError } from "../../../core/errors.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../../core/json/json.ts";
import { fail, type RpcErrorObject } from "../../../core/calls/outcome.ts";
import { abortFailure } from "../../../core/timing/wait.ts";
import type { LegacyRevision } from "../../../wire/legacy/revisions.ts";
import { RPC, type RpcReply } from "../../../wire/messages.ts";
import type { Outlet } from "./outlet.ts";

export interface SessionServerRequestOptions {
  /** Maximum milliseconds to wait for a client's answer. A user may have to read and type. */
  readonly timeoutMs: number;
  /** Maximum number of pending requests of one session. */
  readonly maxWaiting: number;
}

interface PendingReply {
  resolve(result: JsonObject): void;
  reject(error: FailError): void;
}

/** Requests that one session sends to its client: elicitation, sampling, roots. */
export class SessionServerRequests {
  readonly #options: SessionServerRequestOptions;
  #waiting: Map<number, PendingReply> | undefined;
  #lastId = 0;

  constructor(options: SessionServerRequestOptions) {
    this.#options = options;
  }

  /** Gives the next request the number after `id`. */
  startAfter(id: number): void {
    this.#lastId = id;
  }

  /**
   * Sends a request on `outlet` and resolves with its result. On failure, rejects with a `FailError` and notifies the
   * client to cancel the request.
   */
  async put(ask: ServerRequest, outlet: Pick<Outlet, "note" | "reachable">, signal: AbortSignal): Promise<JsonObject> {
    if (signal.aborted) throw abortFailure(signal);
    if (!outlet.reachable) throw refusal(ask, "The calling client is no longer connected, so it cannot be asked.");
    const waiting = (this.#waiting ??= new Map<number, PendingReply>());
    if (waiting.size >= this.#options.maxWaiting)
      throw refusal(ask, `The calling client has ${waiting.size} unanswered server requests, which is the limit.`);
    const id = (this.#lastId += 1);
    let timer: NodeJS.Timeout | undefined;
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        const giveUp = (error: FailError) => {
          outlet.note(cancelledText(id, error.message));
          reject(error);
        };
        onAbort = () => giveUp(abortFailure(signal));
        signal.addEventListener("abort", onAbort, { once: true });
        timer = setTimeout(() => giveUp(timeoutFailure(this.#options.timeoutMs)), this.#options.timeoutMs);
        timer.unref();
        outlet.note(stringifyExact({ jsonrpc: "2.0", id, method: ask.method, params: ask.params }));
      });
    } finally {
      clearTimeout(timer);
      if (onAbort) signal.removeEventListener("abort", onAbort);
      waiting.delete(id);
    }
  }

  /**
   * Passes a client's reply to the pending request with its id. Returns false if there is none, and ignores the reply.
   */
  settle(reply: RpcReply): boolean {
    const waiting = typeof reply.id === "number" ? this.#waiting?.get(reply.id) : undefined;
    if (!waiting) return false;
    if ("error" in reply) waiting.reject(declined(reply.error));
    else waiting.resolve(reply.result);
    return true;
  }

  /** Rejects all pending requests, because the session ends. */
  close(): void {
    if (!this.#waiting) return;
    const gone = new FailError(fail("cancelled", "The calling client disconnected."));
    for (const waiting of this.#waiting.values()) waiting.reject(gone);
    this.#waiting = undefined;
  }
}

/** Returns the reason why a client cannot receive this request, or `undefined` if it can. */
export function askProblem(ask: ServerRequest, capabilities: JsonObject, revision: LegacyRevision): string | undefined {
  switch (ask.method) {
    case "elicitation/create":
      return elicitationProblem(ask, capabilities, revision);
    case "sampling/createMessage":
      return objectMember(capabilities, "sampling") ? undefined : undeclared("sampling");
    case "roots/list":
      return objectMember(capabilities, "roots") ? undefined : undeclared("roots");
    case "ping":
      return undefined;
    default:
      return `A client of protocol revision ${revision.date} cannot be asked \`${ask.method}\`.`;
  }
}

/** Returns the refusal of a server request. An upstream receives it as "method not found". */
export function refusal(ask: ServerRequest, message: string): FailError {
  return new FailError(
    fail("denied", message, { details: { ask: ask.method }, rpcError: { code: RPC.methodNotFound, message } }),
  );
}

function elicitationProblem(
  ask: ServerRequest,
  capabilities: JsonObject,
  revision: LegacyRevision,
): string | undefined {
  const declared = objectMember(capabilities, "elicitation");
  if (!declared || !revision.elicitation) return undeclared("elicitation");
  if (ask.params["mode"] !== "url") {
    // An empty `elicitation` object means forms, as before elicitation had modes. A client that names modes supports
    // only these.
    const formOnly =
      Object.keys(declared).length === 0 || isJsonObject(declared["form"]) || !isJsonObject(declared["url"]);
    return formOnly ? undefined : undeclared("elicitation.form");
  }
  return revision.urlElicitation && isJsonObject(declared["url"]) ? undefined : undeclared("elicitation.url");
}

function undeclared(capability: string): string {
  return `The calling client cannot be asked: it did not declare the capability \`${capability}\`.`;
}

function declined(error: RpcErrorObject): FailError {
  return new FailError(
    fail("denied", `The calling client declined: ${error.message}`, { details: { ask: "declined" }, rpcError: error }),
  );
}

function cancelledText(requestId: number, reason: string): string {
  return stringifyExact({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason } });
}
