import type { Principal, ToolMode } from "../../../core/calls/call.ts";
import type { SessionRecord } from "../../../state/ports/session-records.ts";
import type { Dialect } from "../../dialect.ts";
import type { Outlet } from "./outlet.ts";

/** Values that the transport supplies at the start of a session. */
export interface SessionStart {
  /** Id of the lasting connection; see `Client.connection`. Absent if there is none. */
  readonly connection?: string;
  /** Name of the transport: `mcp-http`, `mcp-sse`, `mcp-stdio`. */
  readonly endpoint: string;
  readonly principal: Principal;
  /** Receiver of messages that belong to no request. */
  readonly outlet: Outlet;
  /** Record of a session that another hub held. Absent: the session starts with a handshake. */
  readonly restored?: SessionRecord;
  /** Called with the session's record each time it changes. Absent: the session ends with its connection. */
  readonly onRecord?: (record: SessionRecord) => void;
}

/** Context of one message. */
export interface MessageContext {
  readonly outlet: Outlet;
  /** Tool mode that this message selects by header or query. Overrides the session's mode. */
  readonly mode?: ToolMode | undefined;
  /** Sender with its current rights. It is the principal that started the session. */
  readonly principal?: Principal | undefined;
  /** Other dialects on this connection, tried in this order for methods that MCP does not define. @default none */
  readonly dialects?: readonly Dialect[] | undefined;
}
