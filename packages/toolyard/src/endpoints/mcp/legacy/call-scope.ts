import { isRequestId, type RequestId } from "../../../wire/messages.ts";
import { stringifyExact } from "../../../core/json/exact-json.ts";
import { Canceller, type Cancellation } from "../../../core/calls/cancellation.ts";
import type { ServerRequest, Client, CallNotification } from "../../../core/calls/call.ts";
import { FailError } from "../../../core/errors.ts";
import { objectMember, type JsonObject } from "../../../core/json/json.ts";
import { fail } from "../../../core/calls/outcome.ts";
import type { CallerLink } from "../../../core/calls/caller-link.ts";
import type { Span } from "../../../core/ports/tracing.ts";
import { refusal } from "./session-server-requests.ts";
import type { Outlet } from "./outlet.ts";

/** Parts of a session that a running request uses. */
export interface ScopeOwner {
  readonly endpoint: string;
  readonly client: Client;
  /** Lowest level of log messages that the client has requested. All levels until it requests one. */
  readonly logLevel: string;
  wantsLog(level: unknown): boolean;
  askProblem(ask: ServerRequest): string | undefined;
  put(ask: ServerRequest, outlet: Outlet, signal: AbortSignal): Promise<JsonObject>;
}

/** One running request: the link to its caller, and its cancellation. */
export class CallScope implements CallerLink {
  readonly endpoint: string;
  readonly outlet: Outlet;
  readonly cancellation: Cancellation;
  readonly wants: { readonly progress: boolean; readonly logLevel: string };
  readonly relaysInput = false;
  requestSpan: Span | undefined;
  /** Time of the last progress notification. */
  progressAt: number | undefined;
  readonly #owner: ScopeOwner;
  readonly #caller = new Canceller();
  readonly #progressToken: RequestId | undefined;
  /** Aborts the open server requests when the request is answered. */
  #questions: AbortController | undefined;
  #over = false;

  constructor(owner: ScopeOwner, outlet: Outlet, params: JsonObject | undefined) {
    this.#owner = owner;
    this.endpoint = owner.endpoint;
    this.outlet = outlet;
    this.cancellation = this.#caller;
    this.#progressToken = progressToken(params);
    this.wants = { progress: this.#progressToken !== undefined, logLevel: owner.logLevel };
  }

  get client(): Client {
    return this.#owner.client;
  }

  get signal(): AbortSignal {
    return this.#caller.signal;
  }

  notify(notification: CallNotification): void {
    if (this.#over || this.#caller.aborted) return;
    const params = this.#notificationParams(notification);
    if (params) this.outlet.note(stringifyExact({ jsonrpc: "2.0", method: notification.method, params }));
  }

  async ask(ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> {
    if (this.#over) throw refusal(ask, "The call is over, so its caller cannot be asked any more.");
    const problem = this.#owner.askProblem(ask);
    if (problem !== undefined) throw refusal(ask, problem);
    if (ask.outlivesCall && signal) return this.#owner.put(ask, this.outlet, signal);
    this.#questions ??= new AbortController();
    const signals = [this.signal, this.#questions.signal, ...(signal ? [signal] : [])];
    return this.#owner.put(ask, this.outlet, AbortSignal.any(signals));
  }

  /** Cancels the request because the caller cancelled or disconnected. `reason` is the text that the caller sent. */
  cancel(message: string, reason?: string): void {
    this.#caller.abort(new FailError(fail("cancelled", message, reason === undefined ? {} : { details: { reason } })));
  }

  /**
   * Closes the scope before the answer is sent. Open server requests are withdrawn first, since nothing may follow the
   * answer.
   */
  end(): void {
    if (this.#over) return;
    this.#questions?.abort(new FailError(fail("cancelled", "The call of this request has ended.")));
    this.#over = true;
  }

  #notificationParams({ method, params }: CallNotification): JsonObject | undefined {
    if (method === "notifications/progress") {
      if (this.#progressToken === undefined) return undefined;
      this.progressAt = performance.now();
      return { ...params, progressToken: this.#progressToken };
    }
    if (method === "notifications/message") return this.#owner.wantsLog(params["level"]) ? params : undefined;
    return params;
  }
}

function progressToken(params: JsonObject | undefined): RequestId | undefined {
  const token = params && objectMember(params, "_meta")?.["progressToken"];
  return isRequestId(token) ? token : undefined;
}
