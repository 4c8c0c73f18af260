import { isUtf8 } from "node:buffer";
import { nextCallId } from "../../core/call-id.ts";
import { messageOf } from "../../core/errors.ts";
import type { HttpAnswer } from "../../http/answer.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listener.ts";
import { Refusal } from "../../http/refusal.ts";
import { sendEmpty, sendJson } from "../../http/send.ts";
import { classifyMessage, rpcError, RPC } from "../../wire/messages.ts";
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

  mount(listener: Mountable, paths: readonly string[] = JSON_RPC_PATHS): void {
    for (const path of paths) listener.route(["GET", "POST", "DELETE"], path, (exchange) => this.serve(exchange));
  }

  /** Answers what is still running with an error. */
  close(): void {
    for (const conversation of this.#open) conversation.close("The hub is closing.");
    this.#open.clear();
  }

  async serve(exchange: HttpExchange): Promise<void> {
    const { logger } = this.#parts;
    const { method, path, answer } = exchange;
    logger.debug(`HTTP IN: ${method} ${path}`);
    answer.onClosed(() => {
      if (answer.isBegun) logger.debug(`HTTP OUT (${answer.status}): ${method} ${path}`);
    });
    try {
      await this.#dispatch(exchange);
    } catch (error) {
      if (error instanceof Refusal || answer.isBegun) throw error;
      this.#fault(error, answer);
    }
  }

  #dispatch(exchange: HttpExchange): void | Promise<void> {
    if (exchange.method === "POST") return this.#post(exchange);
    const isMcp =
      exchange.method === "DELETE" || exchange.header("mcp-session-id") !== undefined || wantsStream(exchange);
    if (isMcp) return this.#parts.mcp.serve(exchange);
    const params = { uri: exchange.query.get("uri") ?? "" };
    return this.#answer([{ jsonrpc: "2.0", id: null, method: "resource/get", params }], false, exchange);
  }

  async #post(exchange: HttpExchange): Promise<void> {
    const { answer } = exchange;
    const body = await exchange.readBody();
    if (body.length === 0) return refuse(answer, RPC.invalidRequest, "Invalid Request: No data received");
    const parsed = parseBody(body, exchange.maxJsonDepth);
    if (!parsed.ok) return refuse(answer, parsed.code, parsed.message);
    const { value } = parsed;
    if (this.#parts.mcp.wants(value, exchange)) return this.#parts.mcp.take(value, exchange);
    if (!Array.isArray(value)) return this.#answer([value], false, exchange);
    if (value.length === 0) return refuse(answer, RPC.invalidRequest, "Invalid Request: Batch must not be empty");
    if (value.length > MAX_BATCH)
      return refuse(answer, RPC.invalidRequest, `Invalid Request: Batch must not exceed ${MAX_BATCH} messages`);
    return this.#answer(value, true, exchange);
  }

  async #answer(messages: readonly unknown[], isBatch: boolean, exchange: HttpExchange): Promise<void> {
    const { answer } = exchange;
    const conversation = this.#parts.open(exchange.principal);
    const replies = new CollectedReplies(answer);
    const mode = this.#parts.modeOf(exchange);
    const how = { outlet: replies, dialects: this.#parts.dialects, ...(mode ? { mode } : {}) };
    this.#open.add(conversation);
    const work = Promise.all(messages.map((message) => this.#receive(conversation, message, how))).finally(() => {
      this.#open.delete(conversation);
      conversation.close("The request is answered.");
    });
    if (messages.every(isNotification)) return sendEmpty(answer, 202);
    // A caller that went away wants no answer; what it asked for ends.
    answer.onClosed(() => conversation.close("The caller has gone."));
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

  #fault(error: unknown, answer: HttpAnswer): void {
    const id = nextCallId();
    const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
    this.#parts.logger.error("A request on HTTP failed by a fault of this program.", {
      call: id,
      error: messageOf(error),
      ...stack,
    });
    const words = `Internal server error: Something went wrong inside the hub. Its log says more under the id ${id}.`;
    sendJson(answer, 500, JSON.stringify(rpcError(null, RPC.internal, words)));
  }
}

function refuse(answer: HttpAnswer, code: number, message: string): void {
  sendJson(answer, 400, JSON.stringify(rpcError(null, code, message)));
}

function parseBody(body: Buffer, maxDepth: number): ParsedJson {
  return isUtf8(body)
    ? parseJson(body.toString("utf8"), maxDepth)
    : { ok: false, code: RPC.parse, message: "Parse error" };
}

function isNotification(message: unknown): boolean {
  return classifyMessage(message).type === "notification";
}

function wantsStream(exchange: HttpExchange): boolean {
  return exchange.header("accept")?.includes("text/event-stream") === true;
}
