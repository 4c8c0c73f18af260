import type { Principal } from "../../../core/calls/call.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import type { ClassifiedMessage } from "../../../wire/messages.ts";
import type { Dialect } from "../../dialect.ts";
import type { McpHead } from "../http-head.ts";

/** One HTTP request to a legacy endpoint after the checks of the listener: Host, Origin, authentication, body size. */
export interface LegacyExchange {
  readonly http: HttpExchange;
  /** Principal of the caller, with the form of tool names that this request selects. */
  readonly principal: Principal;
  /** Facts in the head of the request. */
  readonly head: McpHead;
  /** Other dialects at this path. */
  readonly dialects?: readonly Dialect[] | undefined;
  /** Result of `classifyMessage` for the posted message. Absent for a batch and for a body that was not read. */
  readonly classified?: ClassifiedMessage | undefined;
}
