import type { Principal, ToolNameStyle } from "../../core/calls/call.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import type { Dialect } from "../dialect.ts";
import type { SessionlessConversation, McpFace } from "../endpoint.ts";
import type { ServedEra } from "../../core/sources/served-era.ts";
import type { FrameHead } from "../../http/relay/frames/request-heads.ts";
import { MESSAGES_PATH } from "../paths.ts";
import { refuseBody } from "./json-errors.ts";
import { McpHttpEndpoint } from "./http-endpoint.ts";
import { LateLegacy } from "./late-legacy.ts";
import type { SessionDepsParts } from "./legacy/session-deps.ts";
import type { ModernEndpoint } from "./modern/endpoint.ts";
import { mountSse, servePostedMessage } from "./sse-endpoint.ts";
import { needsWholeMcp } from "./whole-mcp.ts";

export interface McpEndpointParts {
  readonly modern: ModernEndpoint;
  readonly session: SessionDepsParts;
  readonly era: ServedEra;
  /** Form of tool names for clients that select no form. */
  readonly toolNames: ToolNameStyle;
  /** Loads the dialects that are tried after MCP. */
  readonly dialects: () => Promise<readonly Dialect[]>;
}

/** MCP on HTTP: `/mcp` for both eras, `/sse` and `/messages` for 2024-11-05. */
export class McpEndpoint implements McpFace {
  readonly #parts: McpEndpointParts;
  readonly #legacy: LateLegacy;
  readonly #http: McpHttpEndpoint;
  #ownsPath = true;

  constructor(parts: McpEndpointParts) {
    const { modern, session, era, toolNames } = parts;
    this.#parts = parts;
    this.#legacy = new LateLegacy(session);
    this.#http = new McpHttpEndpoint({
      remote: session.remote?.calls(modern),
      modern,
      legacy: this.#legacy,
      defaultMode: session.defaultMode,
      era,
      toolNames,
    });
  }

  cedePath(): void {
    this.#ownsPath = false;
  }

  mount(listener: Mountable): void {
    if (this.#ownsPath) this.#http.mount(listener);
    mountSse(listener, this.#legacy, this.#parts.toolNames);
    this.#parts.session.remote?.relay.mount(listener, (exchange, head) => this.#serveRelayed(exchange, head));
  }

  drain(): void {
    this.#legacy.drain();
  }

  giveUp(): void {
    this.#legacy.giveUp();
  }

  close(): void {
    this.#legacy.close();
    this.#parts.modern.close();
    this.#parts.session.remote?.relay.close();
  }

  /** Serves a request that another hub has passed to this one. */
  #serveRelayed(exchange: HttpExchange, { hasDialects, path }: FrameHead): void | Promise<void> {
    if (path === MESSAGES_PATH) return servePostedMessage(exchange, this.#legacy);
    const other = this.#parts.session.remote?.paths.find(path);
    if (other) return other(exchange);
    return hasDialects && exchange.method === "POST" ? this.#serveDialects(exchange) : this.#http.serve(exchange);
  }

  async #serveDialects(exchange: HttpExchange): Promise<void> {
    const [body, dialects] = await Promise.all([exchange.readBody(), this.#parts.dialects()]);
    const parsed = exchange.parseJson(body);
    return parsed.ok ? this.#http.take(parsed.value, exchange, dialects) : refuseBody(exchange.answer, parsed);
  }

  wants(body: unknown, exchange: HttpExchange): boolean {
    return needsWholeMcp(body, exchange);
  }

  take(body: unknown, exchange: HttpExchange, dialects?: readonly Dialect[]): void | Promise<void> {
    return this.#http.take(body, exchange, dialects);
  }

  serve(exchange: HttpExchange): void | Promise<void> {
    return this.#http.serve(exchange);
  }

  converse(principal: Principal): SessionlessConversation {
    return this.#legacy.converse(principal);
  }
}
