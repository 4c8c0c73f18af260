import type { Principal, ToolMode, ToolNameStyle } from "../../core/calls/call.ts";
import { bodyWithContext } from "../../core/trace-context.ts";
import type { RpcErrorObject } from "../../core/calls/outcome.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { assertJsonContent } from "../../http/request/json-content.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { sendEmpty } from "../../http/answer/send.ts";
import { classifyMessage, RPC, type RpcRequest } from "../../wire/messages.ts";
import { MODERN_REVISIONS } from "../../wire/modern/envelope.ts";
import type { Dialect } from "../dialect.ts";
import { eraOf, eraOfLegacyOnly } from "./era.ts";
import type { ServedEra } from "../../core/sources/served-era.ts";
import type { LegacyExchange } from "./legacy/exchange.ts";
import type { LegacyHttp } from "./legacy/http.ts";
import type { ModernEndpoint } from "./modern/endpoint.ts";
import type { RemoteCallServer } from "./remote-hubs.ts";
import { HttpOutlet } from "./modern/http-outlet.ts";
import { QuietCalls } from "./modern/quiet-calls.ts";
import { refuseBody, sendError } from "./json-errors.ts";
import { defaultModeFor } from "../tool-mode.ts";
import { withToolNames } from "../tool-names.ts";
import { readMcpHead, type McpHead } from "./http-head.ts";
import { MCP_PATH } from "../paths.ts";

export interface McpHttpParts {
  readonly modern: ModernEndpoint;
  /** Handlers of the legacy era. Absent: only the modern era is served. */
  readonly legacy?: Pick<LegacyHttp, "post" | "get" | "delete">;
  readonly defaultMode: ToolMode;
  /** Era for clients whose URL selects no era. @default "auto" */
  readonly era?: ServedEra;
  /** Form of tool names for clients that select no form. @default "mcp" */
  readonly toolNames?: ToolNameStyle;
  /** Calls that other hubs hold. Absent: there are no other hubs. */
  readonly remote?: RemoteCallServer | undefined;
}

type McpPost = Pick<LegacyExchange, "http" | "head" | "dialects">;
type LegacyPost = McpPost & Pick<LegacyExchange, "classified">;

/** MCP on HTTP, independent of the path. The creator of the parts closes them. */
export class McpHttpEndpoint {
  readonly #parts: McpHttpParts;
  readonly #quiet = new QuietCalls();
  #closing: AbortSignal | undefined;

  constructor(parts: McpHttpParts) {
    this.#parts = parts;
  }

  /** Mounts both eras at one path. */
  mount(listener: Mountable, path = MCP_PATH): void {
    listener.route({ methods: ["GET", "POST", "DELETE"], path }, this.serve);
  }

  /** Serves a request. A handler of routes, so it is bound to this object. */
  readonly serve = (http: HttpExchange): void | Promise<void> => {
    if (http.method === "POST") return this.#post(http);
    const { legacy } = this.#parts;
    if (!legacy) throw new Refusal(405, "Method not allowed.", { allow: "POST" });
    const exchange = this.#legacyExchange({ http, head: http.ofHead(readMcpHead) });
    return http.method === "GET" ? legacy.get(exchange) : legacy.delete(exchange);
  };

  /** Answers a posted body that has been parsed. `dialects` are the other dialects at this path. */
  take(body: unknown, http: HttpExchange, dialects?: readonly Dialect[]): void | Promise<void> {
    assertJsonContent(http);
    return this.#answer(body, { http, head: http.ofHead(readMcpHead), dialects });
  }

  #post(http: HttpExchange): void | Promise<void> {
    const post = { http, head: http.ofHead(readMcpHead) };
    if (!post.head.isJson) assertJsonContent(http);
    const body = http.readBody();
    // Not async, because the body of most requests is already available.
    return body instanceof Promise ? body.then((read) => this.#read(read, post)) : this.#read(body, post);
  }

  #read(body: Buffer, post: McpPost): void | Promise<void> {
    const { http, head } = post;
    const parsed = http.parseJson(body);
    if (!parsed.ok) return refuseBody(http.answer, parsed);
    return this.#answer(head.context ? bodyWithContext(parsed.value, head.context) : parsed.value, post);
  }

  #answer(body: unknown, post: McpPost): void | Promise<void> {
    const { http, head } = post;
    const served = this.#parts.legacy && (head.era ?? this.#parts.era);
    const era = served === "legacy" ? eraOfLegacyOnly(body, http) : eraOf(body, http);
    switch (era.type) {
      case "refused":
        return sendError(http.answer, era.id, era.error);
      case "modern-notification":
        // Over HTTP a caller cancels by closing the stream, so notifications have no effect.
        return sendEmpty(http.answer, 202);
      case "modern-request":
        return this.#modern(era.message, http, head);
      case "legacy":
        return this.#legacy(body, { ...post, classified: era.classified });
    }
  }

  #modern(message: RpcRequest, http: HttpExchange, head: McpHead): Promise<void> {
    const { accepted } = head;
    const { remote } = this.#parts;
    if (!accepted.stream && message.method === "subscriptions/listen")
      throw new Refusal(406, "Not Acceptable: Client must accept text/event-stream");
    if (!accepted.stream && !accepted.json)
      throw new Refusal(406, "Not Acceptable: Client must accept application/json or text/event-stream");
    if (message.method === "subscriptions/listen") this.#endListen(http);
    const passed = remote?.pass(message, http, (request) => this.#serveModern(request, http, head));
    return passed ?? this.#serveModern(message, http, head);
  }

  #serveModern(message: RpcRequest, http: HttpExchange, head: McpHead): Promise<void> {
    const { accepted, mode } = head;
    const outlet = new HttpOutlet(http, accepted, this.#quiet);
    return this.#parts.modern.handle(message, outlet, {
      endpoint: "mcp-http",
      principal: this.#callerOf(http, head),
      mode: mode ?? defaultModeFor(http.principal, this.#parts.defaultMode),
      signal: http.answer.signal,
      headers: http,
    });
  }

  #callerOf({ principal }: HttpExchange, { toolNames }: McpHead): Principal {
    return withToolNames(principal, toolNames ?? this.#parts.toolNames ?? "mcp");
  }

  #legacyExchange({ http, head, dialects, classified }: LegacyPost): LegacyExchange {
    return { http, head, principal: this.#callerOf(http, head), dialects, classified };
  }

  /**
   * Ends a `subscriptions/listen` request when the caller's token expires, and all of them when the listener closes,
   * because they would delay its end by the whole grace time.
   */
  #endListen(http: HttpExchange): void {
    const { closing } = http;
    http.endWithToken(() => http.answer.end());
    if (this.#closing === closing) return;
    this.#closing = closing;
    closing.addEventListener("abort", () => this.#parts.modern.endListens(), { once: true });
  }

  #legacy(body: unknown, post: LegacyPost): void | Promise<void> {
    const { legacy } = this.#parts;
    if (legacy) return legacy.post(this.#legacyExchange(post), body);
    const { http, classified = classifyMessage(body) } = post;
    if (classified.type === "notification") return sendEmpty(http.answer, 202);
    if (classified.type !== "request") return sendError(http.answer, null, ONE_AT_A_TIME);
    const requested = http.header("mcp-protocol-version");
    const data = { supported: MODERN_REVISIONS, ...(requested !== undefined && { requested }) };
    return sendError(http.answer, classified.message.id, { ...NO_REVISION, data });
  }
}

const ONE_AT_A_TIME: RpcErrorObject = {
  code: RPC.invalidRequest,
  message: "Bad Request: this endpoint takes one request at a time.",
};
const NO_REVISION: RpcErrorObject = {
  code: RPC.unsupportedProtocolVersion,
  message: "Unsupported protocol version: the request does not name one that this hub supports.",
};
