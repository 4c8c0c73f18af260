import type { Principal, ToolMode } from "../../../core/calls/call.ts";
import type { SessionRecord } from "../../../state/ports/session-records.ts";
import type { Dialect } from "../../dialect.ts";
import type { Outlet } from "./outlet.ts";

/** What whoever carries a session says when it begins. */
export interface SessionStart {
  /** The lasting connection's id; see `Client.connection`. Absent where nothing lasts. */
  readonly connection?: string;
  /** `mcp-http`, `mcp-sse`, `mcp-stdio`. */
  readonly endpoint: string;
  readonly principal: Principal;
  /** Where messages go that belong to no request. */
  readonly outlet: Outlet;
  /** Hears what is known of the session each time when that changes. Absent: it ends with its connection. */
  readonly onRecord?: (record: SessionRecord) => void;
}

/** What comes with one message. */
export interface MessageContext {
  readonly outlet: Outlet;
  /** The mode that this very message names by header or query; it wins over the session's. */
  readonly mode?: ToolMode | undefined;
  /** The sender with its rights as they are now; the same one that began the session. */
  readonly principal?: Principal | undefined;
  /** What else is spoken here, asked in this order for methods that MCP does not have. @default none */
  readonly dialects?: readonly Dialect[] | undefined;
}
