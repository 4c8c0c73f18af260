import type { Cancellation } from "../../core/calls/cancellation.ts";
import { FailError } from "../../core/errors.ts";
import { isJsonObject, objectMember, stringMember, withMember, type JsonObject } from "../../core/json/json.ts";
import type { Span, Tracing } from "../../core/ports/tracing.ts";
import type { Source } from "../../core/sources/records.ts";
import type { RequestId, RpcMessage, RpcRequest } from "../../wire/messages.ts";
import type { CloseOptions, OpenTransport, SendOptions, Transport, TransportHandlers } from "./transport.ts";

/** Maximum number of requests of one connection with an open span. */
const MAX_OPEN = 10_000;

/** Returns transports that record one client span for each request, and send its context in `_meta`. */
export function tracedTransports(open: OpenTransport, source: Source, tracing: Tracing): OpenTransport {
  return (caller) => new TracedTransport(open(caller), source, tracing);
}

class TracedTransport implements Transport {
  readonly #inner: Transport;
  readonly #source: Source;
  readonly #tracing: Tracing;
  readonly #open = new Map<RequestId, Span>();

  constructor(inner: Transport, source: Source, tracing: Tracing) {
    this.#inner = inner;
    this.#source = source;
    this.#tracing = tracing;
  }

  get perRequestStreams(): boolean {
    return this.#inner.perRequestStreams;
  }

  get mirrorsParams(): boolean {
    return this.#inner.mirrorsParams;
  }

  get sessionful(): boolean {
    return this.#inner.sessionful;
  }

  describe(): JsonObject {
    return this.#inner.describe();
  }

  open(handlers: TransportHandlers, signal?: Cancellation): Promise<void> {
    const { onLost } = handlers;
    const traced: TransportHandlers = {
      ...handlers,
      onMessage: (message, related) => {
        this.#received(message);
        handlers.onMessage(message, related);
      },
      onClose: (failure) => {
        this.#endAll(failure.kind);
        handlers.onClose(failure);
      },
      ...(onLost && {
        onLost: (id, failure) => {
          this.#take(id)?.end(failure.kind);
          onLost(id, failure);
        },
      }),
    };
    return this.#inner.open(traced, signal);
  }

  async send(message: RpcMessage, options?: SendOptions): Promise<void> {
    if (!("method" in message)) return this.#inner.send(message, options);
    if (!("id" in message)) {
      if (message.method === "notifications/cancelled")
        this.#take(message.params?.["requestId"] as RequestId)?.end("cancelled");
      return this.#inner.send(message, options);
    }
    const span = this.#start(message);
    if (!span) return this.#inner.send(message, options);
    try {
      await this.#inner.send({ ...message, params: withMeta(message.params, span.meta) }, options);
    } catch (error) {
      this.#take(message.id)?.end(error instanceof FailError ? error.failure.kind : "unavailable");
      throw error;
    }
    // On a stream per request, no reply can arrive after the request has resolved, so an open span ends as cancelled.
    if (this.#inner.perRequestStreams) this.#take(message.id)?.end("cancelled");
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  close(options?: CloseOptions): Promise<void> {
    this.#endAll("cancelled");
    return this.#inner.close(options);
  }

  #start({ id, method, params = {} }: RpcRequest): Span | undefined {
    const name = method === "tools/call" || method === "prompts/get" ? stringMember(params, "name") : undefined;
    const title = name === undefined ? method : `${method} ${name}`;
    const span = this.#tracing.start(title, "client", objectMember(params, "_meta") ?? {});
    if (!span) return undefined;
    span.set("method", method);
    span.set("requestId", typeof id === "bigint" ? String(id) : id);
    span.set("source", this.#source.id);
    span.set("sourceKind", this.#source.kind);
    if (method === "tools/call") span.set("operation", "execute_tool");
    if (name !== undefined) span.set(method === "tools/call" ? "tool" : "prompt", name);
    if (this.#open.size < MAX_OPEN) this.#open.set(id, span);
    // A span that no reply can end would stay open.
    else span.end("dropped");
    return span;
  }

  #received(message: unknown): void {
    if (this.#open.size === 0) return;
    if (Array.isArray(message)) return message.forEach((member) => this.#received(member));
    if (!isJsonObject(message) || "method" in message) return;
    const span = this.#take(message["id"] as RequestId);
    if (!span) return;
    const { error, result } = message;
    if (!isJsonObject(error))
      return span.end(isJsonObject(result) && result["isError"] === true ? "tool_error" : undefined);
    span.set("rpcCode", String(error["code"]));
    span.end(String(error["code"]));
  }

  #take(id: RequestId): Span | undefined {
    // A server may return the id as text.
    const key = this.#open.has(id) ? id : Number(id);
    const span = this.#open.get(key);
    this.#open.delete(key);
    return span;
  }

  #endAll(error: string): void {
    for (const span of this.#open.values()) span.end(error);
    this.#open.clear();
  }
}

function withMeta(params: JsonObject | undefined, context: JsonObject): JsonObject {
  return withMember(params ?? {}, "_meta", context);
}
