import type { Principal } from "../../core/call.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listener.ts";
import type { Dialect } from "../dialect.ts";
import type { Conversation, McpFace, ReplyOutlet } from "../door.ts";
import { McpHttpDoor } from "./http-door.ts";
import { LegacyHttp } from "./legacy/http.ts";
import { LegacySession, type SessionDeps } from "./legacy/session.ts";
import { LegacySse } from "./legacy/sse.ts";
import type { ModernEndpoint } from "./modern/endpoint.ts";
import { mountSse } from "./sse-door.ts";
import { needsWholeMcp } from "./whole-mcp.ts";

export interface McpDoorParts {
  readonly modern: ModernEndpoint;
  readonly session: SessionDeps;
  /** False: another door serves `/mcp` and hands on what is MCP's. */
  readonly ownsPath: boolean;
}

/** MCP on HTTP, all of it: `/mcp` for both eras, `/sse` and `/messages` for 2024-11-05. */
export class McpDoor implements McpFace {
  readonly #parts: McpDoorParts;
  readonly #legacy: LegacyHttp;
  readonly #sse: LegacySse;
  readonly #http: McpHttpDoor;

  constructor(parts: McpDoorParts) {
    const { modern, session } = parts;
    this.#parts = parts;
    this.#legacy = new LegacyHttp(session);
    this.#sse = new LegacySse(session);
    this.#http = new McpHttpDoor({ modern, legacy: this.#legacy, defaultMode: session.defaultMode });
  }

  mount(listener: Mountable): void {
    if (this.#parts.ownsPath) this.#http.mount(listener);
    mountSse(listener, this.#sse);
  }

  giveUp(): void {
    this.#legacy.close();
  }

  close(): void {
    this.#legacy.close();
    this.#sse.close();
    this.#parts.modern.close();
    this.#parts.session.board.close();
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

  converse(principal: Principal): Conversation {
    return new LegacySession(this.#parts.session, { door: "jsonrpc", principal, outlet: NOBODY });
  }
}

/** Between its requests nobody listens to such a caller. */
const NOBODY: ReplyOutlet = Object.freeze({ reply: () => {}, note: () => {}, reachable: false, isShared: false });
