import type { Principal, ToolMode } from "../../../core/calls/call.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import type { ClassifiedMessage } from "../../../wire/messages.ts";
import type { Dialect } from "../../dialect.ts";

/** One HTTP request to a legacy endpoint, after the listener's checks: Host, Origin, authentication, body size. */
export interface LegacyExchange {
  readonly http: HttpExchange;
  /** The caller, with the tool names that this request chooses. */
  readonly principal: Principal;
  /** The tool mode that this request names by header or query (`toolModeOfRequest`). */
  readonly mode?: ToolMode | undefined;
  /** Other dialects at this path. */
  readonly dialects?: readonly Dialect[] | undefined;
  /** Result of `classifyMessage` for the posted message. Absent for a batch and for an unread body. */
  readonly classified?: ClassifiedMessage | undefined;
}
