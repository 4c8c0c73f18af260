import { stringifyExact } from "../../core/json/exact-json.ts";
import { CallMap } from "../../core/calls/call-map.ts";
import { Canceller } from "../../core/calls/cancellation.ts";
import type { Principal, ToolMode } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import { classifyMessage, isRequestId, rpcError, RPC, type RequestId, type RpcRequest } from "../../wire/messages.ts";
import type { ModernEndpoint } from "./modern/endpoint.ts";
import { progressGap } from "./progress-gap.ts";

export interface ModernPipeOptions {
  readonly endpoint: ModernEndpoint;
  readonly principal: Principal;
  /** Id of the pipe as a lasting connection. */
  readonly connection: string;
  /** Tool mode of all requests: a pipe has no header that could select another. */
  readonly mode: ToolMode;
  readonly maxInFlight: number;
  /** Writes one JSON text. */
  send(text: string): void;
}

/**
 * Modern era on a pipe. Requests run concurrently, and a notification cancels a request, because requests have no
 * separate streams.
 */
export class ModernPipe {
  readonly #options: ModernPipeOptions;
  readonly #inFlight = new CallMap<RequestId, Canceller>();

  constructor(options: ModernPipeOptions) {
    this.#options = options;
  }

  /** Handles one parsed message of the modern era. Resolves when nothing more will be sent for it. Never rejects. */
  async receive(message: unknown): Promise<void> {
    const classified = classifyMessage(message);
    switch (classified.type) {
      case "request":
        return this.#serve(classified.message);
      case "notification":
        return this.handleCancelled(message);
      case "invalid":
        return this.#refuse(classified.id, RPC.invalidRequest, `Invalid Request: ${classified.reason}`);
      case "reply":
    }
  }

  /** Handles `notifications/cancelled`, with or without an envelope. Ignores ids that do not belong to this era. */
  handleCancelled(message: unknown): void {
    if (!isJsonObject(message) || message["method"] !== "notifications/cancelled" || !isJsonObject(message["params"]))
      return;
    const { requestId, reason } = message["params"];
    if (!isRequestId(requestId)) return;
    const running = this.#inFlight.get(requestId);
    this.#inFlight.delete(requestId);
    running?.abort(
      new FailError(
        fail("cancelled", "The caller cancelled.", typeof reason === "string" ? { details: { reason } } : {}),
      ),
    );
  }

  /**
   * Ends listen requests and parked calls. They would never end by themselves, because the client sends nothing more.
   */
  endInput(): void {
    this.#options.endpoint.release(this.#options.connection);
  }

  /** Cancels the running requests and answers them with an error. */
  close(reason: string): void {
    const running = this.#inFlight.entries();
    this.#inFlight.clear();
    for (const [id, controller] of running) {
      controller.abort(new FailError(fail("cancelled", reason)));
      this.#refuse(id, RPC.internal, `${reason} The result of this request is unknown.`);
    }
  }

  async #serve(message: RpcRequest): Promise<void> {
    const { id } = message;
    const { endpoint, principal, connection, mode, maxInFlight, send } = this.#options;
    if (this.#inFlight.has(id))
      return this.#refuse(
        id,
        RPC.invalidRequest,
        `Invalid Request: a request with the id ${stringifyExact(id)} is still running.`,
      );
    if (this.#inFlight.size >= maxInFlight) {
      return this.#refuse(
        id,
        RPC.internal,
        `Too many concurrent requests: ${maxInFlight} are running. Wait until one of these is answered.`,
      );
    }
    const controller = new Canceller();
    this.#inFlight.set(id, controller);
    const facts = { endpoint: "mcp-stdio", principal, mode, signal: controller, connection };
    let reply: string | undefined;
    let progressAt: number | undefined;
    const note = (text: string): void => {
      if (text.includes('"notifications/progress"')) progressAt = performance.now();
      send(text);
    };
    await endpoint.handle(message, { reply: (text) => void (reply = text), note }, facts);
    await progressGap(progressAt);
    // Sends nothing if another request has reused the id after a cancellation, or if `close` has already answered this
    // request.
    if (this.#inFlight.get(id) !== controller) return;
    this.#inFlight.delete(id);
    if (reply !== undefined) send(reply);
  }

  #refuse(id: RequestId | null, code: number, message: string): void {
    this.#options.send(stringifyExact(rpcError(id, { code, message })));
  }
}
