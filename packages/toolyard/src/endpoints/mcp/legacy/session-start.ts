import type { Principal, ToolMode } from "../../../core/calls/call.ts";
import type { SessionRecord } from "../../../state/ports/session-records.ts";
import type { Dialect } from "../../dialect.ts";
import type { Outlet } from "./outlet.ts";

/** Values that the carrier of a session supplies at its start. */
export interface SessionStart {
  /** Id of the lasting connection; see `Client.connection`. Absent if there is none. */
  readonly connection?: string;
  /** `mcp-http`, `mcp-sse`, `mcp-stdio`. */
  readonly endpoint: string;
  readonly principal: Principal;
  /** Receiver of messages that belong to no request. */
  readonly outlet: Outlet;
  /** Receives the session's record each time it changes. Absent: the session ends with its connection. */
  readonly onRecord?: (record: SessionRecord) => void;
}

/** Context of one message. */
export interface MessageContext {
  readonly outlet: Outlet;
  /** The mode that this message names by header or query; it overrides the session's. */
  readonly mode?: ToolMode | undefined;
  /** The sender with its current rights; the same principal that started the session. */
  readonly principal?: Principal | undefined;
  /** Other dialects here, tried in this order for methods that MCP does not define. @default none */
  readonly dialects?: readonly Dialect[] | undefined;
}
