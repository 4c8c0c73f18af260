import type { Principal } from "../../../core/call.ts";
import { FailError } from "../../../core/errors.ts";
import type { ToolMode } from "../../../core/hub-port.ts";
import { fail } from "../../../core/outcome.ts";
import { classifyMessage, isRequestId, RPC, rpcError, type RequestId, type RpcRequest } from "../../../wire/messages.ts";
import type { ModernEndpoint } from "./endpoint.ts";
import type { ModernOutlet } from "./outlet.ts";

export interface ConnectionParts {
  readonly endpoint: ModernEndpoint;
  /** Unique among all connections; see `Client.connection`. */
  readonly id: string;
  /** `mcp-stdio`. */
  readonly door: string;
  readonly principal: Principal;
  readonly mode: ToolMode;
}

/** Requests that may run at once on one connection. */
const MAX_IN_FLIGHT = 1000;

/** The modern era on a lasting connection without headers, such as a pipe: ids in flight, cancellation, the end. */
export class ModernConnection {
  readonly #parts: ConnectionParts;
  readonly #inFlight = new Map<RequestId, { readonly caller: AbortController; readonly outlet: ModernOutlet }>();

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /**
   * Takes one parsed message whose `_meta` claims the modern era, well-formed or not. `send` writes one JSON text. Resolves when nothing
   * more will be sent for it. Never rejects.
   */
  async receive(message: unknown, send: (text: string) => void): Promise<void> {
    const classified = classifyMessage(message);
    switch (classified.type) {
      case "invalid":
        return send(JSON.stringify(rpcError(classified.id, RPC.invalidRequest, `Invalid Request: ${classified.reason}`)));
      case "reply":
        return undefined;
      case "notification": {
        const { method, params = {} } = classified.message;
        const { requestId, reason } = params;
        if (method === "notifications/cancelled" && isRequestId(requestId)) this.cancel(requestId, typeof reason === "string" ? reason : undefined);
        return undefined;
      }
      case "request":
        return this.#serve(classified.message, send);
    }
  }

  /** `notifications/cancelled`: ids of this era that it does not know are left alone. */
  cancel(id: RequestId, reason = "The caller cancelled the request."): void {
    this.#inFlight.get(id)?.caller.abort(new FailError(fail("cancelled", reason)));
  }

  /** Ends subscriptions, so that requests that would wait for ever come to their end. */
  endSubscriptions(): void {
    this.#parts.endpoint.endListens(this.#parts.id);
  }

  /** Cancels what is still running; it is answered with an error. */
  close(): void {
    this.endSubscriptions();
    for (const [id, { caller, outlet }] of this.#inFlight) {
      outlet.reply(JSON.stringify(rpcError(id, STOPPING, "The server is stopping.")), 503);
      caller.abort(new FailError(fail("cancelled", "The server is stopping.")));
    }
    this.#parts.endpoint.release(this.#parts.id);
  }

  async #serve(message: RpcRequest, send: (text: string) => void): Promise<void> {
    const { endpoint, id: connection, door, principal, mode } = this.#parts;
    const refuse = (reason: string): void => send(JSON.stringify(rpcError(message.id, RPC.invalidRequest, `Invalid Request: ${reason}`)));
    if (this.#inFlight.has(message.id)) return refuse("a request with this id is still running");
    if (this.#inFlight.size >= MAX_IN_FLIGHT) return refuse(`${MAX_IN_FLIGHT} requests are running already. Wait for answers first.`);
    const caller = new AbortController();
    const outlet = new PipeOutlet(send);
    this.#inFlight.set(message.id, { caller, outlet });
    await endpoint.handle(message, outlet, { door, principal, mode, connection, signal: caller.signal });
    this.#inFlight.delete(message.id);
  }
}

class PipeOutlet implements ModernOutlet {
  readonly #send: (text: string) => void;
  #isOver = false;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  reply(text: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#send(text);
  }

  note(text: string): void {
    if (!this.#isOver) this.#send(text);
  }
}

/** What the table of kinds says in JSON-RPC for a call that was cut short. */
const STOPPING = -32000;
