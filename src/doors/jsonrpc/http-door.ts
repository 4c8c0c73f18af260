import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { nextCallId } from "../../core/call-id.ts";
import { messageOf } from "../../core/errors.ts";
import { Refusal } from "../../http/refusal.ts";
import { sendEmpty, sendJson } from "../../http/send.ts";
import type { Listener } from "../../http/listener.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { classifyMessage, rpcError, RPC, type RequestId } from "../../wire/messages.ts";
import { parseJson, type ParsedJson } from "../../wire/parse-json.ts";
import { CollectedReplies } from "./collected-replies.ts";
import type { Conversation, JsonRpcHttpParts } from "./ports.ts";

/** Where the dialect is spoken on HTTP (G30). */
const JSON_RPC_PATHS: readonly string[] = ["/", "/jsonrpc"];

/** Messages of one batch. */
const MAX_BATCH = 100;

/**
 * JSON-RPC on HTTP (G30 to G37): one request or batch a POST, answered with a status that says what the error says;
 * `GET ?uri=` reads a resource. Whoever needs all of MCP at the same address gets it. Whoever made the parts closes
 * them.
 */
export class JsonRpcHttpDoor {
  readonly #parts: JsonRpcHttpParts;
  readonly #open = new Set<Conversation>();

  constructor(parts: JsonRpcHttpParts) {
    this.#parts = parts;
  }

  mount(listener: Listener, paths: readonly string[] = JSON_RPC_PATHS): void {
    for (const path of paths)
      listener.route(["GET", "POST", "DELETE"], path, (request, response, context) =>
        this.serve(request, response, context),
      );
  }

  /** Answers what is still running with an error. */
  close(): void {
    for (const conversation of this.#open) conversation.close("The hub is closing.");
    this.#open.clear();
  }

  async serve(request: IncomingMessage, response: ServerResponse, context: RequestContext): Promise<void> {
    const { logger } = this.#parts;
    logger.debug(`HTTP IN: ${request.method} ${context.path}`);
    response.once("finish", () => logger.debug(`HTTP OUT (${response.statusCode}): ${request.method} ${context.path}`));
    try {
      await this.#dispatch(request, response, context);
    } catch (error) {
      if (error instanceof Refusal || response.headersSent) throw error;
      this.#fault(error, response);
    }
  }

  #dispatch(request: IncomingMessage, response: ServerResponse, context: RequestContext): void | Promise<void> {
    if (request.method === "POST") return this.#post(request, response, context);
    const isMcp = request.method === "DELETE" || "mcp-session-id" in request.headers || wantsStream(request);
    if (isMcp) return this.#parts.mcp.serve(request, response, context);
    const params = { uri: context.query.get("uri") ?? "" };
    return this.#answer([{ jsonrpc: "2.0", id: null, method: "resource/get", params }], false, {
      request,
      response,
      context,
    });
  }

  async #post(request: IncomingMessage, response: ServerResponse, context: RequestContext): Promise<void> {
    const body = await context.readBody();
    if (body.length === 0) return refuse(response, RPC.invalidRequest, "Invalid Request: No data received");
    const parsed = parseBody(body, context.maxJsonDepth);
    if (!parsed.ok) return refuse(response, parsed.code, parsed.message);
    const { value } = parsed;
    if (this.#parts.mcp.wants(value, request)) return this.#parts.mcp.take(value, request, response, context);
    if (!Array.isArray(value)) return this.#answer([value], false, { request, response, context });
    if (value.length === 0) return refuse(response, RPC.invalidRequest, "Invalid Request: Batch must not be empty");
    if (value.length > MAX_BATCH)
      return refuse(response, RPC.invalidRequest, `Invalid Request: Batch must not exceed ${MAX_BATCH} messages`);
    return this.#answer(value, true, { request, response, context });
  }

  async #answer(messages: readonly unknown[], isBatch: boolean, exchange: Exchange): Promise<void> {
    const { request, response, context } = exchange;
    const conversation = this.#parts.open(context.principal);
    const replies = new CollectedReplies(response);
    const mode = this.#parts.modeOf(request, context.query);
    const how = { outlet: replies, dialects: this.#parts.dialects, ...(mode ? { mode } : {}) };
    this.#open.add(conversation);
    const work = Promise.all(messages.map((message) => this.#receive(conversation, message, how))).finally(() => {
      this.#open.delete(conversation);
      conversation.close("The request is answered.");
    });
    if (messages.every(isNotification)) return sendEmpty(response, 202);
    // A caller that went away wants no answer; what it asked for ends.
    response.once("close", () => conversation.close("The caller has gone."));
    await work;
    replies.send(isBatch);
  }

  #receive(conversation: Conversation, message: unknown, how: Parameters<Conversation["receive"]>[1]): Promise<void> {
    const classified = classifyMessage(message);
    if (classified.type !== "reply") return conversation.receive(message, how);
    // Nobody has asked this caller anything: without a session there is no way to.
    const words = this.#parts.dialects[0]?.describeInvalid(message) ?? "Invalid Request";
    how.outlet.reply(JSON.stringify(rpcError(null, RPC.invalidRequest, words)), { code: RPC.invalidRequest });
    return Promise.resolve();
  }

  #fault(error: unknown, response: ServerResponse): void {
    const id = nextCallId();
    const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
    this.#parts.logger.error("A request on HTTP failed by a fault of this program.", {
      call: id,
      error: messageOf(error),
      ...stack,
    });
    const words = `Internal server error: Something went wrong inside the hub. Its log says more under the id ${id}.`;
    sendJson(response, 500, JSON.stringify(rpcError(null, RPC.internal, words)));
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

function refuse(response: ServerResponse, code: number, message: string, id: RequestId | null = null): void {
  sendJson(response, 400, JSON.stringify(rpcError(id, code, message)));
}

function parseBody(body: Buffer, maxDepth: number): ParsedJson {
  return isUtf8(body)
    ? parseJson(body.toString("utf8"), maxDepth)
    : { ok: false, code: RPC.parse, message: "Parse error" };
}

function isNotification(message: unknown): boolean {
  return classifyMessage(message).type === "notification";
}

function wantsStream(request: IncomingMessage): boolean {
  return request.headers.accept?.includes("text/event-stream") === true;
}
