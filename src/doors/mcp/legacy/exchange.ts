import type { ToolMode } from "../../../core/call.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestContext } from "../../../http/request-context.ts";
import type { Dialect } from "../../dialect.ts";

/** One HTTP request to a legacy endpoint, after the listener's checks: Host, Origin, authentication, body size. */
export interface LegacyExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  /** The tool mode that this very request names by header or query (`toolModeOfRequest`). */
  readonly mode?: ToolMode;
  /** What else is spoken at this path. */
  readonly dialects?: readonly Dialect[];
}
