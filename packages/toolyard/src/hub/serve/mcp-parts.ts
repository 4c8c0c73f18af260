import { resolveLegacySessions } from "../../endpoints/mcp/legacy/options.ts";
import type { SessionDepsParts } from "../../endpoints/mcp/legacy/session-deps.ts";
import type { ToolNames } from "../../core/calls/call.ts";
import type { ServedEra } from "../../core/sources/served-era.ts";
import { ModernEndpoint } from "../../endpoints/mcp/modern/endpoint.ts";
import { resolveMcpDoor } from "../../endpoints/mcp/options.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "./doors.ts";

/** Both eras of MCP, whatever carries them. */
export interface McpParts {
  readonly modern: ModernEndpoint;
  readonly session: SessionDepsParts;
  readonly era: ServedEra;
  /** For clients that name none. */
  readonly toolNames: ToolNames;
}

export function createMcpParts(hub: Hub, server: ServerConfig, hasTokens: boolean): McpParts {
  const { toolMode: defaultMode, modern: options, pageSize, era, toolNames } = resolveMcpDoor(server);
  const shared = {
    hub,
    logger: hub.logger,
    defaultMode,
    state: hub.state,
    ...(pageSize !== undefined && { pageSize }),
  };
  return {
    modern: new ModernEndpoint({ ...shared, options, hasTokens, toolNames }),
    era,
    toolNames,
    session: { ...shared, options: resolveLegacySessions(server.sessions) },
  };
}
