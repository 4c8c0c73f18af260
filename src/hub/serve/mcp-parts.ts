import { resolveLegacySessions } from "../../doors/mcp/legacy/options.ts";
import type { SessionDepsParts } from "../../doors/mcp/legacy/session-deps.ts";
import type { ToolNames } from "../../core/call.ts";
import type { ServedEra } from "../../core/served-era.ts";
import { ModernEndpoint } from "../../doors/mcp/modern/endpoint.ts";
import { resolveMcpDoor } from "../../doors/mcp/options.ts";
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
