import type { ToolMode } from "../../core/call.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import { assertJsonContent } from "../../http/json-content.ts";
import { Refusal } from "../../http/refusal.ts";
import { sendEmpty } from "../../http/send.ts";
import type { Listener } from "../../http/listener.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { classifyMessage, RPC, type RpcRequest } from "../../wire/messages.ts";
import { MODERN_REVISIONS } from "../../wire/modern/envelope.ts";
import type { HeaderLookup } from "../../wire/modern/headers.ts";
import type { Dialect } from "../dialect.ts";
import { eraOf } from "./era.ts";
import type { LegacyHttp } from "./legacy/http.ts";
import type { ModernEndpoint } from "./modern/endpoint.ts";
import { HttpOutlet } from "./modern/http-outlet.ts";
import { parseBody, sendError } from "./json-body.ts";
import { toolModeOfRequest } from "./tool-mode.ts";

export interface McpHttpParts {
  readonly modern: ModernEndpoint;
  /** Absent: only the modern era is served. */
  readonly legacy?: Pick<LegacyHttp, "post" | "get" | "delete">;
  readonly defaultMode: ToolMode;
}

export interface McpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  readonly dialects?: readonly Dialect[];
}

/** Mounts MCP on one path, both eras on the same. Whoever made the parts closes them. */
export function mountMcp(listener: Listener, parts: McpHttpParts, path = "/mcp"): void {
  const door = new McpHttpDoor(parts);
  listener.route(["GET", "POST", "DELETE"], path, (request, response, context) =>
    door.serve(request, response, context),
  );
}

/** MCP's answers to HTTP requests, whatever path they came by. */
export class McpHttpDoor {
  readonly #parts: McpHttpParts;
  #closing: AbortSignal | undefined;

  constructor(parts: McpHttpParts) {
    this.#parts = parts;
  }

  serve(request: IncomingMessage, response: ServerResponse, context: RequestContext): void | Promise<void> {
    if (request.method === "POST") return this.#post(request, response, context);
    const { legacy } = this.#parts;
    if (!legacy) throw new Refusal(405, "Method not allowed.", { allow: "POST" });
    const exchange = legacyExchange(request, response, context);
    return request.method === "GET" ? legacy.get(exchange) : legacy.delete(exchange);
  }

  async #post(request: IncomingMessage, response: ServerResponse, context: RequestContext): Promise<void> {
    assertJsonContent(request);
    const parsed = parseBody(await context.readBody(), context.maxJsonDepth);
    if (!parsed.ok) return sendError(response, null, parsed.code, parsed.message);
    return this.#answer(parsed.value, { request, response, context });
  }

  /** Answers a posted body that was read already; `dialects` are what else is spoken at this path. */
  take(body: unknown, exchange: McpExchange): void | Promise<void> {
    assertJsonContent(exchange.request);
    return this.#answer(body, exchange);
  }

  #answer(body: unknown, exchange: McpExchange): void | Promise<void> {
    const { request, response, context } = exchange;
    const era = eraOf(body, lookupIn(request));
    switch (era.type) {
      case "refused":
        return sendError(response, era.id, era.error.code, era.error.message, era.error.data);
      case "modern-notification":
        // Over HTTP a caller cancels by closing the stream, so no notification has anything to say.
        return sendEmpty(response, 202);
      case "modern-request":
        return this.#modern(era.message, response, context, request);
      case "legacy":
        return this.#legacy(body, exchange);
    }
  }

  async #modern(
    message: RpcRequest,
    response: ServerResponse,
    context: RequestContext,
    request: IncomingMessage,
  ): Promise<void> {
    this.#endListensOn(context.closing);
    const canStream = acceptsStream(request.headers.accept);
    if (!canStream && message.method === "subscriptions/listen")
      throw new Refusal(406, "Not Acceptable: Client must accept text/event-stream");
    const outlet = new HttpOutlet(response, context, canStream);
    const mode = toolModeOfRequest(request.headers, context.query) ?? this.#parts.defaultMode;
    const facts = {
      door: "mcp-http",
      principal: context.principal,
      mode,
      signal: outlet.signal,
      headerOf: lookupIn(request),
    };
    await this.#parts.modern.handle(message, outlet, facts);
  }

  /** Listens would hold the listener open for all of its grace time. */
  #endListensOn(closing: AbortSignal): void {
    if (this.#closing === closing) return;
    this.#closing = closing;
    closing.addEventListener("abort", () => this.#parts.modern.endListens(), { once: true });
  }

  #legacy(body: unknown, { request, response, context, dialects }: McpExchange): void | Promise<void> {
    const { legacy } = this.#parts;
    if (legacy)
      return legacy.post({ ...legacyExchange(request, response, context), ...(dialects ? { dialects } : {}) }, body);
    const classified = classifyMessage(body);
    if (classified.type === "notification") return sendEmpty(response, 202);
    if (classified.type !== "request")
      return sendError(response, null, RPC.invalidRequest, "Bad Request: this endpoint takes one request at a time.");
    const requested = request.headers["mcp-protocol-version"];
    const data = { supported: MODERN_REVISIONS, ...(typeof requested === "string" && { requested }) };
    return sendError(
      response,
      classified.message.id,
      RPC.unsupportedProtocolVersion,
      "Unsupported protocol version: the request does not name one that is spoken here.",
      data,
    );
  }
}

function legacyExchange(
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
): Parameters<LegacyHttp["get"]>[0] {
  const mode = toolModeOfRequest(request.headers, context.query);
  return { request, response, context, ...(mode && { mode }) };
}

function lookupIn(request: IncomingMessage): HeaderLookup {
  return (name) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
}

/** A caller that names nothing, or everything, takes a stream too. */
function acceptsStream(accept: string | undefined): boolean {
  return accept === undefined || /\*\/\*|text\/(\*|event-stream)/i.test(accept);
}
