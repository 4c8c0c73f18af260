import { stringifyExact } from "../../core/json/exact-json.ts";
import { bodyWithHeaderContext } from "../../core/trace-context.ts";
import { nextCallId } from "../../core/calls/call-id.ts";
import { internalFailureText, messageOf } from "../../core/errors.ts";
import type { HttpAnswer } from "../../http/answer/answer.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { assertJsonFromBrowsers } from "../../http/request/json-content.ts";
import type { JsonBody } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { assertOwnPage } from "../../http/request/own-page.ts";
import type { Handler } from "../../http/router.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { sendEmpty, sendJson } from "../../http/answer/send.ts";
import { classifyMessage, rpcError, RPC } from "../../wire/messages.ts";
import { CollectedReplies } from "./collected-replies.ts";
import { isDialectMethod } from "./json-rpc-dialect.ts";
import type { JsonRpcEndpointOptions } from "./options.ts";
import type { Dialect } from "../dialect.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { SessionlessConversation, Endpoint, McpFace } from "../endpoint.ts";
import { MCP_PATH } from "../paths.ts";
import { jsonRpcPlaces } from "./places.ts";
import { toolModeOfRequest } from "../tool-mode.ts";

/** Maximum number of messages in one batch. */
const MAX_BATCH = 100;

/** Returns true if a posted body is MCP at this path. */
type IsMcp = (body: unknown) => boolean;
export interface JsonRpcHttpParts {
  readonly logger: Logger;
  readonly mcp: McpFace;
  readonly dialects: readonly Dialect[];
}

/**
 * JSON-RPC on HTTP (G30 to G37). Each POST has one request or batch, and its HTTP status matches the error. `GET ?uri=`
 * reads a resource. Requests at the same address that need all of MCP are forwarded to the MCP endpoint. The creator of
 * the parts closes them.
 */
export class JsonRpcHttpEndpoint implements Endpoint {
  readonly #parts: JsonRpcHttpParts;
  readonly #options: JsonRpcEndpointOptions;
  readonly #open = new Set<SessionlessConversation>();

  constructor(parts: JsonRpcHttpParts, options: JsonRpcEndpointOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  mount(listener: Mountable): void {
    const { mcp } = this.#parts;
    const serve: Handler = (exchange) => this.#serve(exchange, (body) => mcp.wants(body, exchange));
    const serveBoth: Handler = (exchange) =>
      exchange.method === "POST"
        ? this.#serve(exchange, (body) => mcp.wants(body, exchange) || !isDialectBody(body))
        : mcp.serve(exchange);
    for (const place of jsonRpcPlaces(this.#options))
      listener.route(place, place.path === MCP_PATH ? serveBoth : serve);
  }

  giveUp(): void {
    this.close();
  }

  /** Answers running requests with an error. */
  close(): void {
    for (const conversation of this.#open) conversation.close("The hub is closing.");
    this.#open.clear();
  }

  async #serve(exchange: HttpExchange, isMcp: IsMcp): Promise<void> {
    const { logger } = this.#parts;
    const { method, path, answer } = exchange;
    logger.debug(`HTTP IN: ${method} ${path}`);
    answer.onClosed(() => {
      if (answer.isBegun) logger.debug(`HTTP OUT (${answer.status}): ${method} ${path}`);
    });
    try {
      await this.#dispatch(exchange, isMcp);
    } catch (error) {
      if (error instanceof Refusal || answer.isBegun) throw error;
      this.#fault(error, answer);
    }
  }

  #dispatch(exchange: HttpExchange, isMcp: IsMcp): void | Promise<void> {
    if (exchange.method === "POST") return this.#post(exchange, isMcp);
    const isStream =
      exchange.method === "DELETE" || exchange.header("mcp-session-id") !== undefined || wantsStream(exchange);
    if (isStream) return this.#parts.mcp.serve(exchange);
    assertOwnPage(exchange);
    const params = { uri: exchange.query.get("uri") ?? "" };
    return this.#answer([{ jsonrpc: "2.0", id: null, method: "resource/get", params }], false, exchange);
  }

  async #post(exchange: HttpExchange, isMcp: IsMcp): Promise<void> {
    const { answer } = exchange;
    const { mcp, dialects } = this.#parts;
    const body = await exchange.readBody();
    if (body.length === 0) return refuse(answer, RPC.invalidRequest, "Invalid Request: No data received");
    assertJsonFromBrowsers(exchange);
    const parsed = exchange.parseJson(body);
    if (!parsed.ok) return refuse(answer, ...wordsOf(parsed));
    const value = bodyWithHeaderContext(parsed.value, exchange);
    if (isMcp(value)) return mcp.take(value, exchange, dialects);
    if (!Array.isArray(value)) return this.#answer([value], false, exchange);
    if (value.length === 0) return refuse(answer, RPC.invalidRequest, "Invalid Request: Batch must not be empty");
    if (value.length > MAX_BATCH)
      return refuse(answer, RPC.invalidRequest, `Invalid Request: Batch must not exceed ${MAX_BATCH} messages`);
    return this.#answer(value, true, exchange);
  }

  async #answer(messages: readonly unknown[], isBatch: boolean, exchange: HttpExchange): Promise<void> {
    const { answer } = exchange;
    const conversation = this.#parts.mcp.converse(exchange.principal);
    const replies = new CollectedReplies(answer);
    const mode = toolModeOfRequest(exchange);
    const how = { outlet: replies, dialects: this.#parts.dialects, ...(mode ? { mode } : {}) };
    this.#open.add(conversation);
    const work = Promise.all(messages.map((message) => this.#receive(conversation, message, how))).finally(() => {
      this.#open.delete(conversation);
      conversation.close("The request is answered.");
    });
    if (messages.every(isNotification)) return sendEmpty(answer, 202);
    // A disconnected caller gets no response, and its requests are cancelled.
    answer.onClosed(() => conversation.close("The caller disconnected."));
    await work;
    replies.send(isBatch);
  }

  #receive(
    conversation: SessionlessConversation,
    message: unknown,
    how: Parameters<SessionlessConversation["receive"]>[1],
  ): Promise<void> {
    const classified = classifyMessage(message);
    if (classified.type !== "reply") return conversation.receive(message, how);
    // Without a session, the hub sends no requests to this caller, so the reply cannot belong to any.
    const words = this.#parts.dialects[0]?.describeInvalid(message) ?? "Invalid Request";
    how.outlet.reply(stringifyExact(rpcError(null, { code: RPC.invalidRequest, message: words })), {
      code: RPC.invalidRequest,
    });
    return Promise.resolve();
  }

  #fault(error: unknown, answer: HttpAnswer): void {
    const id = nextCallId();
    const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
    this.#parts.logger.error("A request on HTTP failed because of an internal error.", {
      call: id,
      error: messageOf(error),
      ...stack,
    });
    const message = `Internal server error: ${internalFailureText(id)}`;
    sendJson(answer, 500, stringifyExact(rpcError(null, { code: RPC.internal, message })));
  }
}

function refuse(answer: HttpAnswer, code: number, message: string): void {
  sendJson(answer, 400, stringifyExact(rpcError(null, { code, message })));
}

function wordsOf({ fault, words }: JsonBody & { readonly ok: false }): [code: number, message: string] {
  return fault === "bounds"
    ? [RPC.invalidRequest, `Invalid Request: the message ${words}`]
    : [RPC.parse, "Parse error"];
}

function isDialectBody(body: unknown): boolean {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return (
    messages.length > 0 &&
    messages.every(
      (message) => isJsonObject(message) && typeof message["method"] === "string" && isDialectMethod(message["method"]),
    )
  );
}

function isNotification(message: unknown): boolean {
  return classifyMessage(message).type === "notification";
}

function wantsStream(exchange: HttpExchange): boolean {
  return exchange.header("accept")?.includes("text/event-stream") === true;
}
