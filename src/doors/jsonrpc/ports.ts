import type { Principal, ToolMode } from "../../core/call.ts";
import type { FailKind } from "../../core/kinds.ts";
import type { Logger } from "../../core/ports.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Dialect } from "../dialect.ts";

/** Where the reply to one message goes. */
export interface ReplyOutlet {
  reply(text: string, error?: { readonly code: number; readonly kind?: FailKind }): void;
  note(text: string): void;
  readonly reachable: boolean;
  readonly isShared: boolean;
}

/** A caller that holds no session: its messages are answered, MCP's first, and nothing of it is kept. */
export interface Conversation {
  /** Resolves when nothing more will be sent to the outlet. Never rejects. */
  receive(
    message: unknown,
    how: { readonly outlet: ReplyOutlet; readonly mode?: ToolMode; readonly dialects: readonly Dialect[] },
  ): Promise<void>;
  /** Cancels what is running and answers it with an error. */
  close(reason: string): void;
}

/** The whole of MCP on HTTP: sessions, streams, the modern era. Its answers follow MCP's rules. */
export interface McpOnHttp {
  /** Whether a posted body needs it. */
  wants(body: unknown, exchange: HttpExchange): boolean;
  take(body: unknown, exchange: HttpExchange): void | Promise<void>;
  /** Requests without a body: streams, and ends of sessions. */
  serve(exchange: HttpExchange): void | Promise<void>;
}

export interface JsonRpcHttpParts {
  /** In the order in which they are asked, behind MCP. */
  readonly dialects: readonly Dialect[];
  readonly logger: Logger;
  readonly mcp: McpOnHttp;
  open(principal: Principal): Conversation;
  /** The tool mode that a request names. */
  modeOf(exchange: HttpExchange): ToolMode | undefined;
}
